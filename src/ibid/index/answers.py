"""Kept answers, the same in every engine: as JSON and back, and what is left of a withheld one."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable
from datetime import UTC, datetime

from ibid.plain import from_plain, to_plain
from ibid.records import Answer, AnswerStatus, Feedback, Hit, KeptAnswer, Principals


def withhold(answer: Answer) -> Answer:
    """What is left of an answer whose sources may not be seen: what was asked, and how."""
    return dataclasses.replace(
        answer,
        status=AnswerStatus.WITHHELD,
        text="",
        citations=(),
        sources=(),
        warnings=(),
        request=dataclasses.replace(answer.request, history=()),
        trace=(),
        found=(),
        draft="",
        standalone=None,
        nearest=(),
    )


def erase(answer: Answer) -> Answer:
    """What is left of an answer that was drawn from a purged document: when, by whom and how."""
    bare = withhold(answer)
    request = dataclasses.replace(bare.request, filter=None)
    return dataclasses.replace(bare, question="", request=request)


def list_drawn(answer: Answer) -> set[str]:
    """The ids of the documents of this library that an answer's words may come from."""
    hits = (*answer.sources, *answer.found)
    found = {hit.document_id for hit in hits if hit.library is None}
    return found | {near.document_id for near in answer.nearest}


def pack_answer(answer: Answer) -> str:
    """An answer as JSON, without its trace, which belongs to whoever asked.

    What was found is left out where all of it was sent: it is the sources then. So are the texts
    of passages, which the library holds; `fill_texts` puts them back.
    """
    sent = answer.found == answer.sources
    kept = dataclasses.replace(
        answer,
        trace=(),
        sources=_strip_hits(answer.sources),
        found=() if sent else _strip_hits(answer.found),
    )
    return _dump({**to_plain(kept), "sent": sent})


def _strip_hits(hits: Iterable[Hit]) -> tuple[Hit, ...]:
    """The hits without who may see them, which is today's; those of this library without texts."""
    return tuple(
        _set_text(hit, "") if hit.library is None else hit for hit in map(_hide_access, hits)
    )


def _hide_access(hit: Hit) -> Hit:
    return dataclasses.replace(hit, document=dataclasses.replace(hit.document, allow=None))


def fill_texts(answer: Answer, read_text: Callable[[str, int], str]) -> Answer:
    """An answer that was packed, with its passages' texts from those of its documents.

    `read_text` gives the text of a document, by id and version. A source that was found is the
    same hit in both.
    """
    texts = {id: read_text(id, answer.version) for id in list_drawn(answer)}

    def fill(hits: Iterable[Hit]) -> tuple[Hit, ...]:
        return tuple(
            _set_text(hit, texts[hit.document_id][hit.passage.span]) if hit.library is None else hit
            for hit in hits
        )

    return dataclasses.replace(answer, sources=fill(answer.sources), found=fill(answer.found))


def _set_text(hit: Hit, text: str) -> Hit:
    return dataclasses.replace(hit, passage=dataclasses.replace(hit.passage, text=text))


def pack_principals(principals: Principals) -> str:
    """One text for one set of principals."""
    return _dump(to_plain(principals))


def _dump(plain: object) -> str:
    """JSON that any database takes: half a character pair becomes the escape that JSON has."""
    written = json.dumps(plain, ensure_ascii=False)
    return written.encode("utf-8", "backslashreplace").decode("utf-8")


def unpack_answer(stored: str) -> Answer:
    """The answer that was packed; what this ibid does not know of it is left out."""
    plain = json.loads(stored)
    answer = from_plain(Answer, plain)
    return dataclasses.replace(answer, found=answer.sources) if plain["sent"] else answer


def read_kept(
    columns: Iterable[object],
    feedback: tuple[Feedback, ...],
    read_text: Callable[[str, int], str] | None,
) -> KeptAnswer:
    """The answer of a row; without the texts of its documents it is withheld."""
    asked_at, key, options, body = columns
    answer = unpack_answer(str(body))
    return KeptAnswer(
        answer=withhold(answer) if read_text is None else fill_texts(answer, read_text),
        asked_at=datetime.fromtimestamp(float(str(asked_at)), UTC),
        key="" if read_text is None else str(key),
        options=json.loads(str(options)),
        feedback=feedback,
    )
