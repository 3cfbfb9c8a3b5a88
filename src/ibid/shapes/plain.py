"""The shapes that the others are made of: errors, principals, times."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final, TypeAlias

from ibid.errors import IbidError
from ibid.records import OWNER, Principals

SCHEMA_VERSION: Final = 1

Shape: TypeAlias = dict[str, Any]


def shape_error(error: IbidError) -> Shape:
    """An error with what to do next."""
    return {"error": {"type": type(error).__name__, "message": error.message, "hint": error.hint}}


def shape_principals(principals: Principals) -> list[str]:
    """The principals in order; the owner is `*`."""
    return [OWNER.value] if principals is OWNER else sorted(principals)


def shape_time(moment: datetime | None) -> str | None:
    """A time in UTC, as RFC 3339 writes it."""
    return None if moment is None else moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
