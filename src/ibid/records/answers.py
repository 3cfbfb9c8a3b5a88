"""An answer with its proof: the prompt, what was written, its claims and their citations."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import Literal

from ibid.record import record
from ibid.records.blocks import Box
from ibid.records.documents import JSON, Principals
from ibid.records.questions import Hit, SearchMode, TraceStep


@record
class Message:
    """One message of a chat: who says it and what."""

    role: Literal["system", "user", "assistant"]
    content: str


@record
class Reading:
    """What was measured of a question and its sources before anything is written.

    `rarity` is that of the question's terms in the library; `likeness` the cosine of a question, or
    a part of it, and a sentence of the sources, by the texts of the two, as far as it was measured.
    `asked` is the question as it was put, where a follow-up was made standalone.
    """

    rarity: Mapping[str, float] = field(default_factory=dict)
    likeness: Mapping[tuple[str, str], float] = field(default_factory=dict)
    asked: str | None = None


@record
class Prompt:
    """What a generator is given: the messages, and the parts that they were made of.

    `sources` are numbered from 1 in their order. A language model reads `messages`; a generator
    without one reads `question`, `sources` and the `reading` of them. `template` hashes the wording
    around them; `language` is the one that question and sources are analysed in. `history` holds
    the questions and answers before, by turns. With `whole`, the sources are all that the asker may
    see, in a lasting order. `schema` is the JSON schema of the answer where it is to be JSON and no
    prose.
    """

    messages: tuple[Message, ...]
    question: str
    sources: tuple[Hit, ...]
    template: str
    language: str | None = None
    history: tuple[str, ...] = ()
    whole: bool = False
    schema: Mapping[str, JSON] | None = None
    reading: Reading = field(default_factory=Reading)


@record
class Delta:
    """A piece of a generated text as it arrives.

    The last ones may carry the token counts, and a `warning` such as that the text was cut.
    """

    text: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    warning: str = ""


@record
class Claim:
    """A statement of an answer, without its markers: `answer[start:end] == text`.

    `markers` are the source numbers cited for it, in order, each once.
    """

    text: str
    start: int
    end: int
    markers: tuple[int, ...]


class Verdict(enum.StrEnum):
    """What checking one citation found."""

    SUPPORTED = "supported"
    SUPPORTED_ELSEWHERE = "supported-elsewhere"
    UNSUPPORTED = "unsupported"
    NO_SUCH_SOURCE = "no-such-source"
    UNCITED = "uncited"


@record
class Citation:
    """One marker of one claim, checked: `document.text[start:end] == quote` unless it is None.

    `reason` says what differs (unsupported) or which source holds it (supported-elsewhere).
    `modified_at` is the time of the document as it was read, `library` the one that it is of, where
    several were asked.
    """

    marker: int | None
    claim: Claim
    verdict: Verdict
    reason: str | None = None
    document_id: str | None = None
    passage_id: str | None = None
    title: str | None = None
    headings: tuple[str, ...] = ()
    page: int | None = None
    place: str | None = None
    start: int | None = None
    end: int | None = None
    quote: str | None = None
    url: str | None = None
    modified_at: datetime | None = None
    library: str | None = None


class AnswerStatus(enum.StrEnum):
    """How a question ended; abstaining is a result, not an error."""

    ANSWERED = "answered"
    ABSTAINED = "abstained"
    WITHHELD = "withheld"


@record
class Request:
    """What was asked for beside the question: enough to ask it again.

    With `whole`, all that the asker could see was sent, and not what a search found.
    """

    filter: str | None
    principals: Principals
    mode: SearchMode
    k: int
    history: tuple[str, ...] = ()
    whole: bool = False
    include_archived: bool = False


@record
class NearDocument:
    """A document that lies near a question which it does not answer."""

    document_id: str
    title: str | None
    library: str | None = None


@record
class Answer:
    """An answer with its proof: every claim cited, every citation checked, all of it repeatable.

    `nearest` is what an abstention offers to read instead, out of what the caller may see.

    `trace` holds the steps that led to it, those of its search first. It belongs to whoever asked:
    an answer that is kept is kept without it. `found` are the hits of the search, whether they were
    sent or not; `draft` is what the generator wrote, before it was read and checked. `standalone`
    is a follow-up as it was searched for.
    """

    id: str
    question: str
    request: Request
    status: AnswerStatus
    text: str
    citations: tuple[Citation, ...]
    sources: tuple[Hit, ...]
    version: int
    embedder: str
    generator: str
    settings_hash: str
    prompt_hash: str
    warnings: tuple[str, ...]
    timings_ms: Mapping[str, float]
    tokens: Mapping[str, int]
    trace: tuple[TraceStep, ...] = ()
    found: tuple[Hit, ...] = ()
    draft: str = ""
    nearest: tuple[NearDocument, ...] = ()
    standalone: str | None = None


@record
class Feedback:
    """What was said of an answer: whether it was good, and why."""

    good: bool
    comment: str = ""
    given_at: datetime | None = None


@record
class KeptAnswer:
    """An answer in the library's log, as far as the caller may see it today.

    `key` stands for all that an answer depends on: an equal one asks the same again (empty: never).
    `options` are those of answering, by name. `feedback` is in the order it was given.
    """

    answer: Answer
    asked_at: datetime
    key: str = ""
    options: Mapping[str, JSON] = field(default_factory=dict)
    feedback: tuple[Feedback, ...] = ()


@record
class CitedPlace:
    """A quote where it stands: the text around it in its document, at the answer's version.

    `boxes` are those of the blocks that it is in, where the format has them; `source` is the URI
    of the document.
    """

    citation: Citation
    before: str
    quote: str
    after: str
    boxes: tuple[Box, ...]
    source: str | None
    version: int
