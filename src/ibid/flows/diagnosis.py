"""The words of a diagnosis: what is looked for, each stage with how it went, what to change."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ibid.records import OWNER, DocumentInfo, Hit, Passage, Principals

STAGES: Final = (
    "read",
    "chunk",
    "index",
    "access",
    "filter",
    "lexical",
    "dense",
    "fuse",
    "rerank",
    "select",
    "prompt",
    "answer",
    "cite",
)
"""The stages in the order in which a text passes them."""


@dataclass(frozen=True, slots=True)
class Stage:
    """How a text came through one stage; `rank` is where it stood, None where that says nothing.

    `advice` says what would change it; it is empty where the text came through.
    """

    stage: str
    ok: bool
    detail: str
    advice: str = ""
    rank: int | None = None


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A question with the stages that an expected text passed, up to the one that lost it."""

    question: str
    expected: str
    stages: tuple[Stage, ...]

    @property
    def failed(self) -> Stage | None:
        """The first stage that lost the text, None where it was cited."""
        return next((stage for stage in self.stages if not stage.ok), None)

    @property
    def first_failure(self) -> str | None:
        """The name of that stage."""
        return None if self.failed is None else self.failed.stage

    @property
    def advice(self) -> str:
        """What would change it."""
        return "" if self.failed is None else self.failed.advice


@dataclass(frozen=True, slots=True)
class Expected:
    """What should be found: a text, white space and case aside, or all of a document by its id."""

    text: str | None = None
    document_id: str | None = None

    def __str__(self) -> str:
        return self.text if self.text is not None else f"document {self.document_id}"

    def find(self, text: str, document_id: str) -> list[tuple[int, int]]:
        """Where a document's text holds it, as ranges of the text; none where it doesn't."""
        if self.text is None:
            return [(0, len(text))] if document_id == self.document_id else []
        words = self.text.split()
        if not words:
            return []
        pattern = re.compile(r"\s+".join(map(re.escape, words)), re.IGNORECASE)
        return [match.span() for match in pattern.finditer(text)]


@dataclass(frozen=True, slots=True)
class Target:
    """A place where the text stands: its document, its range, and the passages that bear it.

    `whole` says whether each of these holds all of it, or whether it is divided between them. For
    a document every passage is one that will do.
    """

    info: DocumentInfo
    start: int
    end: int
    passages: tuple[Passage, ...]
    whole: bool
    any_part: bool = False

    def is_shown_by(self, hit: Hit) -> bool:
        """Whether a hit shows it: as one of its passages, or within a wider one."""
        if hit.document_id != self.info.id:
            return False
        if any(hit.passage.id == passage.id for passage in self.passages):
            return True
        if self.any_part:
            return True
        return hit.passage.start <= self.start and self.end <= hit.passage.end

    def overlaps(self, start: int, end: int) -> bool:
        """Whether a range of its document touches it."""
        return start < self.end and self.start < end

    def __str__(self) -> str:
        first, last = self.passages[0], self.passages[-1]
        return f"{self.info.id} {first.start}-{last.end}"


def find_shown(targets: Iterable[Target], hits: Iterable[Hit]) -> Hit | None:
    """The first hit that shows one of the targets."""
    sought = list(targets)
    return next((hit for hit in hits if any(t.is_shown_by(hit) for t in sought)), None)


def meet(asker: Principals, caller: Principals) -> Principals:
    """What both hold; the owner holds all."""
    if asker is OWNER:
        return caller
    if caller is OWNER:
        return asker
    assert isinstance(asker, frozenset)
    assert isinstance(caller, frozenset)
    return asker & caller


def name_some(names: Sequence[str], most: int = 3) -> str:
    """The first few names, with the number of the others."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
