"""How a spreadsheet shows its numbers: dates, percentages and currencies as a person reads them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from typing import Final

BUILT_IN: Final = {
    0: "General",
    1: "0",
    2: "0.00",
    3: "#,##0",
    4: "#,##0.00",
    5: '"$"#,##0',
    6: '"$"#,##0',
    7: '"$"#,##0.00',
    8: '"$"#,##0.00',
    9: "0%",
    10: "0.00%",
    11: "0.00E+00",
    12: "# ?/?",
    13: "# ??/??",
    14: "yyyy-mm-dd",
    15: "d-mmm-yy",
    16: "d-mmm",
    17: "mmm-yy",
    18: "h:mm",
    19: "h:mm:ss",
    20: "h:mm",
    21: "h:mm:ss",
    22: "yyyy-mm-dd h:mm",
    37: "#,##0",
    38: "#,##0",
    39: "#,##0.00",
    40: "#,##0.00",
    41: "#,##0",
    42: '"$"#,##0',
    43: "#,##0.00",
    44: '"$"#,##0.00',
    45: "mm:ss",
    46: "[h]:mm:ss",
    47: "mm:ss",
    48: "##0.0E+0",
    49: "@",
    **dict.fromkeys((*range(27, 37), *range(50, 59)), "yyyy-mm-dd"),
}
"""The codes of the number formats that files name by their numbers alone."""

_EPOCH: Final = datetime(1899, 12, 30)
_EPOCH_1904: Final = datetime(1904, 1, 1)
_FALSE_LEAP_DAY: Final = 60  # 1900-02-29, which spreadsheets count and the calendar doesn't
_MAX_SERIAL: Final = 2_958_466  # the first day of the year 10000
_EXACT: Final = 1e15  # from here on a float doesn't hold every whole number
_MAX_DECIMALS: Final = 10  # beyond these the last one isn't worth rounding by hand
_NO_NUMBER: Final = -1  # decimals of a format that shows words in the place of the number
_DAY_SECONDS: Final = 86_400

_TOKEN: Final = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|[_*].|\[\$(?P<currency>[^\]-]*)[^\]]*\]'
    r"|\[(?P<elapsed>[hms]+)\]|\[[^\]]*\]|(?P<digits>[0#?][0#?,]*(?:\.[0#?]*)?,*|\.[0#?]+)"
    r"|(?P<general>General)|(?P<noon>AM/PM|A/P)|(?P<scientific>E[+-])|(?P<date>[ymdhs]+(?:\.0+)?)|(?P<literal>.)",
    re.I | re.S,
)
_SECTIONS: Final = re.compile(r'((?:"[^"]*"|\\.|\[[^\]]*\]|[^;])*);?', re.S)


@dataclass(frozen=True, slots=True)
class _Number:
    """How one section of a format writes numbers; `decimals` None is as many as there are."""

    prefix: str = ""
    suffix: str = ""
    decimals: int | None = None
    digits: int = 1
    grouped: bool = False
    scale: float = 1.0


@dataclass(frozen=True, slots=True)
class _Moment:
    """Which parts of a moment a format shows: letters out of "ymdhs", or a time that has passed."""

    parts: frozenset[str]
    elapsed: bool = False


def is_date_format(code: str) -> bool:
    """True for a format that shows a number as a date or a time."""
    return isinstance(_read_format(code)[0], _Moment)


def format_value(value: float, code: str, *, from_1904: bool = False) -> str:
    """The number as a format shows it; dates are written as in ISO 8601, whatever their format."""
    sections = _read_format(code)
    first = sections[0]
    if isinstance(first, _Moment):
        return _format_moment(value, first, from_1904)
    if value < 0 and len(sections) > 1 and isinstance(sections[1], _Number):
        return _format_number(-value, sections[1])
    if value == 0 and len(sections) > 2 and isinstance(sections[2], _Number):
        first = sections[2]
    return _format_number(value, first)


def format_plain(value: float) -> str:
    """The number without a format: whole numbers without a point, the others to 15 digits."""
    if abs(value) < _EXACT and value == int(value):
        return str(int(value))
    return f"{value:.15g}"


def format_date(value: date | datetime | time | timedelta) -> str:
    """A date or a time in ISO form, without what is zero in it."""
    if isinstance(value, timedelta):
        return _format_elapsed(value.total_seconds())
    if isinstance(value, datetime):
        if value.time() == time():
            return value.date().isoformat()
        return value.isoformat(sep=" ", timespec="seconds" if value.second else "minutes")
    if isinstance(value, time):
        return value.isoformat(timespec="seconds" if value.second else "minutes")
    return value.isoformat()


@lru_cache(maxsize=1024)
def _read_format(code: str) -> tuple[_Number | _Moment, ...]:
    """The sections of a format: for positive numbers, negative ones and zero."""
    sections = [match[1] for match in _SECTIONS.finditer(code[:500])][:3]
    return tuple(_read_section(section) for section in sections)


def _read_section(code: str) -> _Number | _Moment:
    if code.strip().lower() in ("", "general", "@"):
        return _Number()
    tokens = [(m.lastgroup, m[m.lastgroup]) for m in _TOKEN.finditer(code) if m.lastgroup]
    kinds = [kind for kind, _ in tokens]
    if "elapsed" in kinds or "date" in kinds:
        shown = "".join(text.lower() for kind, text in tokens if kind in ("date", "elapsed"))
        return _read_moment(shown, elapsed="elapsed" in kinds)
    places = [index for index, kind in enumerate(kinds) if kind in ("digits", "general")]
    if not places:
        return _Number(prefix=_join(tokens), decimals=_NO_NUMBER)
    if len(places) > 1 or "scientific" in kinds:
        # Fractions, powers of ten, telephone numbers: the plain number says the same.
        return _Number()
    at = places[0]
    prefix, suffix = _join(tokens[:at]), _join(tokens[at + 1 :])
    if kinds[at] == "general":
        return _Number(prefix, suffix)
    return _read_number(prefix, tokens[at][1], suffix)


def _join(tokens: Sequence[tuple[str | None, str]]) -> str:
    return "".join(text for _, text in tokens)


def _read_moment(shown: str, *, elapsed: bool) -> _Moment:
    parts = frozenset(shown) & frozenset("ymdhs")
    if parts & frozenset("hs") and not parts & frozenset("yd") and "m" in parts:
        parts -= frozenset("m")
    return _Moment(parts, elapsed)


def _read_number(prefix: str, digits: str, suffix: str) -> _Number:
    whole, _, fraction = digits.rstrip(",").partition(".")
    scale = 1000.0 ** -(len(digits) - len(digits.rstrip(",")))
    if "%" in prefix + suffix:
        scale *= 100
    return _Number(
        prefix=prefix,
        suffix=suffix,
        decimals=len(fraction),
        digits=whole.count("0"),
        grouped="," in whole,
        scale=scale,
    )


def _format_number(value: float, format: _Number) -> str:
    if format.decimals is None:
        return f"{format.prefix}{format_plain(value)}{format.suffix}".strip()
    if format.decimals == _NO_NUMBER:
        return format.prefix.strip() or format_plain(value)
    value *= format.scale
    sign = "-" if value < 0 else ""
    comma = "," if format.grouped else ""
    written = f"{_round(abs(value), format.decimals):{comma}.{format.decimals}f}"
    whole, point, fraction = written.partition(".")
    written = f"{whole.zfill(format.digits)}{point}{fraction}"
    return f"{sign}{format.prefix}{written}{format.suffix}".strip()


def _round(value: float, decimals: int) -> Decimal | float:
    """The value with halves rounded up, as a spreadsheet does."""
    if not value < _EXACT or decimals > _MAX_DECIMALS:
        return value
    step = Decimal(1).scaleb(-decimals)
    return Decimal(f"{value:.15g}").quantize(step, ROUND_HALF_UP)


def _format_moment(value: float, format: _Moment, from_1904: bool) -> str:
    if format.elapsed and not format.parts & frozenset("yd"):
        if abs(value) < _MAX_SERIAL:
            return _format_elapsed(value * _DAY_SECONDS)
        return format_plain(value)
    if not 0 <= value < _MAX_SERIAL:
        return format_plain(value)
    if not from_1904 and value < _FALSE_LEAP_DAY:
        value += 1
    epoch = _EPOCH_1904 if from_1904 else _EPOCH
    try:
        moment = epoch + timedelta(seconds=round(value * _DAY_SECONDS))
    except OverflowError:
        return format_plain(value)
    shown: list[str] = []
    if format.parts & frozenset("ymd"):
        shown.append(_format_day(moment, format.parts))
    if format.parts & frozenset("hs"):
        shown.append(f"{moment:%H:%M:%S}" if "s" in format.parts else f"{moment:%H:%M}")
    return " ".join(shown)


def _format_day(moment: datetime, parts: frozenset[str]) -> str:
    if "d" in parts or "h" in parts:
        return f"{moment:%Y-%m-%d}"
    return f"{moment:%Y-%m}" if "m" in parts else f"{moment:%Y}"


def _format_elapsed(seconds: float) -> str:
    minutes, second = divmod(round(abs(seconds)), 60)
    hours, minute = divmod(minutes, 60)
    return f"{'-' if seconds < 0 else ''}{hours}:{minute:02}:{second:02}"
