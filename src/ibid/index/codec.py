"""How records lie in columns: JSON with sorted keys, blocks as lists, times as seconds."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from ibid.records import JSON, Block, Blocks


def dump_json(value: object) -> str:
    """JSON with sorted keys, so that equal values are equal texts."""
    if isinstance(value, Mapping):
        value = dict(value)
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def load_json(stored: str) -> dict[str, JSON]:
    """The JSON object that was stored."""
    found: dict[str, JSON] = json.loads(stored)
    return found


def read_allow(value: object) -> frozenset[str] | None:
    """The principals of a stored list, None for a public document."""
    return None if value is None else frozenset(json.loads(str(value)))


def read_time(value: object) -> datetime | None:
    """A stored time, in UTC."""
    return None if value is None else datetime.fromtimestamp(float(str(value)), UTC)


def dump_blocks(blocks: Sequence[Block]) -> str:
    """The blocks as JSON without spaces."""
    return json.dumps(Blocks.of(blocks).rows, ensure_ascii=False, separators=(",", ":"))


def load_blocks(stored: str) -> Blocks:
    """The blocks that were stored."""
    return Blocks(json.loads(stored))
