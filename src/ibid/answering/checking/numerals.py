"""Numbers as they are written: figures, number words of six languages, Han numerals."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

_POINT_LANGUAGES: Final = frozenset({"en", "zh", "ja", "th", "ko", "he"})
"""Languages that write 1.5 with a point and part thousands with commas."""

FIGURES: Final = (
    r"\d{1,3}(?:[,.'’]\d{3})+(?:[.,]\d+)?(?!\d)"
    r"|\d{1,3}(?:[\u0020\u00a0\u202f]\d{3})+(?:[.,]\d+)?(?!\d)|\d+(?:[.,]\d+)*"
)
_FIGURES: Final = re.compile(rf"(?<![\w.,])(?:{FIGURES})|(?<=[^\W\d_a-zA-Z])(?:{FIGURES})")
_MINUS: Final = re.compile(
    r"(?:(?<!\d[\s\u00a0])(?<![\w)])[-−–]|\b(?:minus|negative)\s|(?<!ou\s)(?<!au\s)\bmoins\s"
    r"|(?<!al\s)(?<!lo\s)(?<!o\s)\bmenos\s|零下|[负負]|マイナス|氷点下)\Z",
    re.IGNORECASE,
)
"""What makes the number behind it negative; a dash between two figures does not."""

_WORD: Final = re.compile(r"[^\W\d_]+")
_HALF_SCALES: Final = {
    "million": 1e6, "millón": 1e6, "billion": 1e9, "milliarde": 1e9, "milliard": 1e9, "dozen": 12.0,
    "dutzend": 12.0, "douzaine": 12.0, "docena": 12.0,
}  # fmt: skip
_HALF_OF: Final = re.compile(
    rf"\b(?:half an?|(?:eine|einer|ein) halbe[sn]?|un demi|une demi|medi[oa])[\s-]"
    rf"(?P<scale>{'|'.join(_HALF_SCALES)})\b",
    re.IGNORECASE,
)
"""Half a million; a German billion is another number, and is rare by halves."""

_ONE: Final = re.compile(
    r"\b(?:at least|at most|more than|less than|up to|only|exactly|mindestens|höchstens|maximal|nur"
    r"|genau|mehr als|weniger als|au moins|au plus|plus d['’]|al menos|como máximo|más de)\s*\Z",
    re.IGNORECASE,
)
"""What makes a number of "one", which else is an article."""

_BETWEEN: Final = re.compile(r"[\s-]+(?:(?:and|et|y|und)\s+)?|-(?:et|and)-")
_HAN_NUMERAL: Final = re.compile(
    "[一二三四五六七八九十百千万亿億零〇两兩]+(?:点[一二三四五六七八九〇零]+)?"
)
_HAN_VALUES: Final = {sign: value for value, sign in enumerate("零一二三四五六七八九")} | {
    "〇": 0,
    "两": 2,
    "兩": 2,
}
_HAN_SCALES: Final = {"十": 10, "百": 100, "千": 1_000}
_HAN_MYRIADS: Final = {"万": 10_000, "亿": 100_000_000, "億": 100_000_000}

_SCALES: Final[Mapping[str, Mapping[str, float]]] = {
    "en": {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12},
    "de": {
        "hundert": 1e2, "tausend": 1e3, "million": 1e6, "millionen": 1e6, "mio": 1e6,
        "milliarde": 1e9, "milliarden": 1e9, "mrd": 1e9, "billionen": 1e12,
    },
    "fr": {
        "cent": 1e2, "cents": 1e2, "mille": 1e3, "million": 1e6, "millions": 1e6,
        "milliard": 1e9, "milliards": 1e9,
    },
    "es": {"cien": 1e2, "ciento": 1e2, "mil": 1e3, "millón": 1e6, "millones": 1e6},
}  # fmt: skip
_ABOUT: Final[Mapping[str, Mapping[str, float]]] = {
    "fr": {
        "dizaine": 10, "vingtaine": 20, "trentaine": 30, "quarantaine": 40, "cinquantaine": 50,
        "soixantaine": 60, "centaine": 100, "millier": 1_000,
    },
    "es": {"decena": 10, "veintena": 20, "treintena": 30, "centenar": 100, "millar": 1_000},
}  # fmt: skip
"""Words for a round number of things, more or less."""

_DOZENS: Final = {"en": "dozen", "de": "dutzend", "fr": "douzaine", "es": "docena"}

_UNITS_TO_NINETEEN: Final = {
    "en": """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
        fifteen sixteen seventeen eighteen nineteen""",
    "de": """null ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn
        fünfzehn sechzehn siebzehn achtzehn neunzehn""",
    "fr": """zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze
        quinze seize""",
    "es": """cero un dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince
        dieciséis diecisiete dieciocho diecinueve veinte veintiuno veintidós veintitrés
        veinticuatro veinticinco veintiséis veintisiete veintiocho veintinueve""",
}
_TENS: Final = {
    "en": "twenty thirty forty fifty sixty seventy eighty ninety",
    "de": "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig",
    "fr": "vingt trente quarante cinquante soixante septante octante nonante",
    "es": "veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa",
}
_HUNDREDS: Final = {
    "es": """doscientos trescientos cuatrocientos quinientos seiscientos setecientos ochocientos
        novecientos""",
}


@dataclass(frozen=True, slots=True)
class Numeral:
    """A number and where it stands; `worded` when it is written in letters."""

    value: float
    start: int
    end: int
    worded: bool


def read_numerals(text: str, language: str | None) -> list[Numeral]:
    """The numbers of a text in their order, none overlapping another.

    "one", "a" and their like are left out, and single Han numerals are given as they stand: who
    reads on must see whether a unit follows. Thousands and decimals are read as the language
    writes them.
    """
    figures = [
        Numeral(read_figures(match[0], language), *match.span(), False)
        for match in _FIGURES.finditer(text)
    ]
    worded = [*_read_halves(text), *_read_words(text, language or "en")]
    found = _scale_figures(text, figures, _drop_covered(worded))
    if not text.isascii():
        found += (
            Numeral(_read_han(match[0]), *match.span(), True)
            for match in _HAN_NUMERAL.finditer(text)
        )
    signed = (_add_sign(text, numeral) for numeral in found)
    return sorted(signed, key=lambda numeral: numeral.start)


def _read_halves(text: str) -> Iterator[Numeral]:
    for match in _HALF_OF.finditer(text):
        scale = _HALF_SCALES[match["scale"].lower()]
        yield Numeral(scale / 2, *match.span(), True)


def _drop_covered(numerals: list[Numeral]) -> list[Numeral]:
    """The numerals without those inside one that came before them."""
    kept: list[Numeral] = []
    for numeral in numerals:
        if all(numeral.end <= one.start or numeral.start >= one.end for one in kept):
            kept.append(numeral)
    return kept


def _add_sign(text: str, numeral: Numeral) -> Numeral:
    """The numeral with the minus that stands in front of it."""
    minus = _MINUS.search(text, max(0, numeral.start - 10), numeral.start)
    return replace(numeral, value=-numeral.value, start=minus.start()) if minus else numeral


def _scale_figures(text: str, figures: list[Numeral], worded: list[Numeral]) -> list[Numeral]:
    """Both, with "1.2" and "million" beside each other made one number."""
    scales = {numeral.start: numeral for numeral in worded if numeral.value >= 100}
    scaled, used = [], set()
    for numeral in figures:
        gap = re.compile(r"\s?").match(text, numeral.end)
        scale = scales.get(gap.end()) if gap else None
        if scale is not None:
            used.add(scale.start)
            value = round(numeral.value * scale.value, 6)
            numeral = Numeral(value, numeral.start, scale.end, False)
        scaled.append(numeral)
    return scaled + [numeral for numeral in worded if numeral.start not in used]


def read_figures(text: str, language: str | None) -> float:
    """The value of figures: "1.200,5" is 1200.5 where points part thousands, else 1.2005."""
    bare = re.sub(r"[\u0020\u00a0\u202f'’]", "", text)
    if language is not None and language not in _POINT_LANGUAGES:
        points = bare.count(",") == 0 and not re.fullmatch(r"\d{1,3}(?:\.\d{3})+", bare)
        bare = bare if points else bare.replace(".", "").replace(",", ".")
    else:
        commas = re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", bare)
        bare = bare.replace(",", "" if commas else ".")
    whole, _, fraction = bare.partition(".")
    return float(f"{whole}.{fraction.replace('.', '')}") if fraction else float(whole)


def _read_words(text: str, language: str) -> Iterator[Numeral]:
    values = _number_words(language)
    words = [match for match in _WORD.finditer(text.lower()) if match[0] in values]
    while words:
        group = [words.pop(0)]
        total, current = _add_word(0.0, 0.0, values[group[0][0]]) or (0.0, 0.0)
        while words and _BETWEEN.fullmatch(text, group[-1].end(), words[0].start()):
            added = _add_word(total, current, values[words[0][0]])
            if added is None:
                break
            total, current = added
            group.append(words.pop(0))
        if total + current != 1 or _ONE.search(text, 0, group[0].start()):
            yield Numeral(total + current, group[0].start(), group[-1].end(), True)


def _add_word(total: float, current: float, value: float) -> tuple[float, float] | None:
    """The number so far with one more word; None where the word begins another number."""
    if value >= 1_000:
        return (total + (current or 1) * value, 0.0) if current < 1_000 else None
    if value == 100:
        return (total, (current or 1) * 100) if current < 100 else None
    if current == 4 and value == 20:  # quatre-vingt
        return total, 80.0
    rest = current % 100
    fits = rest == 0 or (rest % 10 == 0 and rest >= 20 and value < 10)
    french = rest in (60, 80) and value < 20
    return (total, current + value) if fits or french else None


@lru_cache
def _number_words(language: str) -> Mapping[str, float]:
    if language not in _TENS:
        language = "en"
    words = {w: float(n) for n, w in enumerate(_UNITS_TO_NINETEEN[language].split())}
    tens = {w: 10.0 * n for n, w in enumerate(_TENS[language].split(), 2)}
    words |= tens | {w: 100.0 * n for n, w in enumerate(_HUNDREDS.get(language, "").split(), 2)}
    if language == "de":
        ones = {w: n for w, n in words.items() if 0 < n < 10}
        words |= {f"{one}und{ten}": n + m for ten, n in tens.items() for one, m in ones.items()}
        words |= {
            f"{one}{name}{rest}": n * scale + m
            for one, n in {"": 1.0, **ones}.items()
            for name, scale in (("hundert", 100.0), ("tausend", 1_000.0))
            for rest, m in {"": 0.0, **words}.items()
        }
    if language == "es":
        words |= {f"{w[:-2]}as": n for w, n in words.items() if w.endswith("cientos") or n == 500}
    if language == "fr":
        words["vingts"] = 20.0
    return {**words, **_SCALES[language], _DOZENS[language]: 12.0, **_ABOUT.get(language, {})}


def _read_han(text: str) -> float:
    """The value of Han numerals: 二百三十 is 230, 二〇二四 is 2024, 两点五 is 2.5."""
    whole, _, fraction = text.partition("点")
    if len(whole) > 1 and all(sign in _HAN_VALUES for sign in whole):
        value = float("".join(str(_HAN_VALUES[sign]) for sign in whole))
    else:
        value = _read_han_scales(whole)
    return value + sum(_HAN_VALUES[sign] * 10.0**-n for n, sign in enumerate(fraction, 1))


def _read_han_scales(text: str) -> float:
    total = section = digit = 0.0
    for sign in text:
        if sign in _HAN_MYRIADS:
            total += (section + digit or 1) * _HAN_MYRIADS[sign]
            section = digit = 0.0
        elif sign in _HAN_SCALES:
            section += (digit or 1) * _HAN_SCALES[sign]
            digit = 0.0
        else:
            digit = float(_HAN_VALUES[sign])
    return total + section + digit
