"""Lengths of time as people write them."""

from __future__ import annotations

import re
from typing import Final

import click

DAYS: Final = {"h": 1 / 24, "d": 1.0, "w": 7.0, "m": 30.4375, "y": 365.25}
"""Days of a unit; a month is a twelfth of a year."""

_DURATION: Final = re.compile(r"(\d+(?:\.\d+)?)\s*([hdwmy])")


def read_half_life(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> float | None:
    """The days of a length of time such as 12h, 180d, 26w, 6m or 1.5y; None for none."""
    if value is None:
        return None
    found = _DURATION.fullmatch(value.strip().lower())
    if found is None or float(found[1]) == 0:
        raise click.BadParameter("give a length of time such as 12h, 180d, 26w, 6m or 1y")
    return float(found[1]) * DAYS[found[2]]
