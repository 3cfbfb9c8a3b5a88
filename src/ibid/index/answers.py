"""Kept answers, the same in every engine: as JSON and back, and what is left of a withheld one."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from enum import Enum
from typing import Any, Final, TypeVar

from ibid.records import (
    OWNER,
    Answer,
    AnswerStatus,
    Citation,
    Claim,
    Contribution,
    DocumentInfo,
    Hit,
    Move,
    Passage,
    Principals,
    Request,
    Verdict,
)

T = TypeVar("T")


def withhold(answer: Answer) -> Answer:
    """What is left of an answer whose sources may not be seen: that it was asked, and when."""
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
    )


def list_drawn(answer: Answer) -> set[str]:
    """The ids of the documents of this library that an answer's words may come from."""
    hits = (*answer.sources, *answer.found)
    return {hit.document_id for hit in hits if hit.library is None}


def pack_answer(answer: Answer) -> str:
    """An answer as JSON, without its trace, which belongs to whoever asked.

    What was found is left out where all of it was sent: it is the sources then. So are the texts
    of passages, which the library holds; `fill_texts` puts them back.
    """
    sent = answer.found == answer.sources
    kept = dataclasses.replace(
        answer,
        trace=(),
        sources=_strip_texts(answer.sources),
        found=() if sent else _strip_texts(answer.found),
    )
    return _dump({**_to_plain(kept), "sent": sent})


def _strip_texts(hits: Iterable[Hit]) -> tuple[Hit, ...]:
    """The hits of this library without the texts of their passages."""
    return tuple(_set_text(hit, "") if hit.library is None else hit for hit in hits)


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
    return _dump(_to_plain(principals))


def _dump(plain: object) -> str:
    """JSON that any database takes: half a character pair becomes the escape that JSON has."""
    written = json.dumps(plain, ensure_ascii=False)
    return written.encode("utf-8", "backslashreplace").decode("utf-8")


def _to_plain(value: object) -> Any:
    """A record as JSON values; who may see a document is today's, and is not kept."""
    if isinstance(value, DocumentInfo):
        value = dataclasses.replace(value, allow=None)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: _to_plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {name: _to_plain(one) for name, one in value.items()}
    if isinstance(value, tuple | list):
        return [_to_plain(one) for one in value]
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, bytes):
        return value.hex()
    return value.isoformat() if isinstance(value, datetime) else value


def unpack_answer(stored: str) -> Answer:
    """The answer that was packed; what this ibid does not know of it is left out."""
    plain = json.loads(stored)
    answer = _unpack(Answer, plain)
    return dataclasses.replace(answer, found=answer.sources) if plain["sent"] else answer


def _unpack(kind: type[T], plain: Mapping[str, Any]) -> T:
    """A record from its values by name: those of its fields that have one, as their kind is."""
    readers = _READERS.get(kind, {})
    known = {field.name for field in dataclasses.fields(kind)}  # type: ignore[arg-type]  # records
    return kind(
        **{
            name: readers.get(name, _read_plain)(value)
            for name, value in plain.items()
            if name in known
        }
    )


def _read_plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _read_time(value: Any) -> datetime | None:
    return None if value is None else datetime.fromisoformat(value)


def _read_principals(value: Any) -> Principals:
    return OWNER if value == OWNER.value else frozenset(value)


def _one(kind: type[T]) -> Callable[[Any], T]:
    return lambda plain: _unpack(kind, plain)


def _many(kind: type[T]) -> Callable[[Any], tuple[T, ...]]:
    return lambda plain: tuple(_unpack(kind, one) for one in plain)


def _named(kind: type[T]) -> Callable[[Any], dict[str, T]]:
    return lambda plain: {name: _unpack(kind, one) for name, one in plain.items()}


_READERS: Final[Mapping[type, Mapping[str, Callable[[Any], Any]]]] = {
    Answer: {
        "request": _one(Request),
        "status": AnswerStatus,
        "citations": _many(Citation),
        "sources": _many(Hit),
        "found": _many(Hit),
    },
    Request: {"principals": _read_principals},
    Citation: {"claim": _one(Claim), "verdict": Verdict, "modified_at": _read_time},
    Hit: {
        "passage": _one(Passage),
        "document": _one(DocumentInfo),
        "contributions": _named(Contribution),
        "moves": _many(Move),
    },
    Passage: {"context_key": bytes.fromhex},
    DocumentInfo: {"modified_at": _read_time},
}
"""How the fields are read that are more than plain values, by the record they belong to."""
