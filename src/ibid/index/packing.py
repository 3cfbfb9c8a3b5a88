"""Passages that wait to be written, as text and back: the same in every engine that stages them."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from typing import Any

from ibid.protocols import IndexedPassage, Role
from ibid.records import Passage


def pack_passages(passages: Sequence[IndexedPassage]) -> str:
    """Passages that are ready to be written, as JSON."""
    return json.dumps(
        [dataclasses.asdict(indexed) for indexed in passages],
        ensure_ascii=False,
        default=bytes.hex,
    )


def unpack_passages(stored: str) -> list[IndexedPassage]:
    """The passages that were packed."""
    return [_load_passage(**values) for values in json.loads(stored)]


def _load_passage(
    passage: dict[str, Any], terms: str, text_hash: str, entities: dict[str, int]
) -> IndexedPassage:
    passage["headings"] = tuple(passage["headings"])
    passage["context_key"] = bytes.fromhex(passage["context_key"])
    return IndexedPassage(
        Passage(**passage),
        terms,
        bytes.fromhex(text_hash),
        {int(entity): Role(role) for entity, role in entities.items()},
    )
