"""Records as plain JSON values and back, for what is stored and what crosses a pipe."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from datetime import datetime
from enum import Enum
from typing import Any, Final, TypeVar

from ibid.records import (
    OWNER,
    Answer,
    AnswerStatus,
    Blocks,
    Citation,
    Claim,
    Contribution,
    Document,
    DocumentInfo,
    Failed,
    Hit,
    Incomplete,
    IngestReport,
    Move,
    Moved,
    NearDocument,
    Passage,
    PassageCounts,
    Principals,
    Request,
    Skipped,
    Verdict,
)

T = TypeVar("T")


def to_plain(value: object) -> Any:
    """A record, and all that it holds, as JSON values."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: to_plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {name: to_plain(one) for name, one in value.items()}
    if isinstance(value, tuple | list | Blocks):
        return [to_plain(one) for one in value]
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, bytes):
        return value.hex()
    return value.isoformat() if isinstance(value, datetime) else value


def from_plain(kind: type[T], plain: Mapping[str, Any]) -> T:
    """A record from its values by name; a value that this ibid does not know is left out."""
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
    return lambda plain: from_plain(kind, plain)


def _many(kind: type[T]) -> Callable[[Any], tuple[T, ...]]:
    return lambda plain: tuple(from_plain(kind, one) for one in plain)


def _named(kind: type[T]) -> Callable[[Any], dict[str, T]]:
    return lambda plain: {name: from_plain(kind, one) for name, one in plain.items()}


_READERS: Final[Mapping[type, Mapping[str, Callable[[Any], Any]]]] = {
    Answer: {
        "request": _one(Request),
        "status": AnswerStatus,
        "citations": _many(Citation),
        "sources": _many(Hit),
        "found": _many(Hit),
        "nearest": _many(NearDocument),
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
    Document: {
        "blocks": Blocks,
        "allow": lambda names: None if names is None else frozenset(names),
        "modified_at": _read_time,
    },
    IngestReport: {
        "moved": _many(Moved),
        "skipped": _many(Skipped),
        "failed": _many(Failed),
        "incomplete": _many(Incomplete),
        "passages": _one(PassageCounts),
    },
}
"""How the fields are read that are more than plain values, by the record they belong to."""
