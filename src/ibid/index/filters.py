"""The filter language: an expression is parsed to a small tree, and here is what the tree means.

    any        = all ("or" all)*
    all        = one ("and" one)*
    one        = "not" one | "(" any ")" | comparison
    comparison = field ("=" | "!=" | "<" | "<=" | ">" | ">=") value
               | field ["not"] "in" "(" value ("," value)* ")"
               | field ["not"] "like" text
               | field "is" ["not"] "null"

Fields are id, title, source, media_type, modified, version, archived, tag.NAME and metadata.NAME
(`tag."cost center"`). Texts stand in single or double quotes, where a backslash takes the meaning
from a quote, a backslash, `%` or `_`. Keywords may be written in capitals.

A comparison is true or false, never unknown: with a value that is missing it is false, and so `not`
of it is true. `!=` asks for a value that is there and is not equal. A list holds when any element
does, and is unequal when none is equal. `like` sees capitals; `%` stands for any characters, `_`
for one. Dates are UTC unless they say otherwise; one without a time is the whole day, so that
`modified <= 2025-01-01` includes that day. Tags and metadata hold texts and numbers: a date is
compared with them as the text that it is, and true and false are also the numbers 1 and 0.
"""

from __future__ import annotations

import difflib
import json
import math
import operator
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal, TypeAlias, assert_never

from ibid.errors import BadQuery
from ibid.records import JSON, DocumentInfo

MAX_CHARACTERS: Final = 10_000
MAX_COMPARISONS: Final = 200
MAX_DEPTH: Final = 50
"""Limits of one expression: far above any use, far below what an engine's own parser takes."""

DAY_SECONDS: Final = 86_400.0

Kind: TypeAlias = Literal["text", "number", "time", "flag", "attribute"]
Order: TypeAlias = Literal["<", "<=", ">", ">="]
Value: TypeAlias = str | float
"""Times are seconds since 1970 in UTC; `archived` is 1 or 0."""

COLUMNS: Final[dict[str, Kind]] = {
    "id": "text",
    "title": "text",
    "source": "text",
    "media_type": "text",
    "modified": "time",
    "version": "number",
    "archived": "flag",
}
"""The fields that every document has, by what they hold."""


# -- the tree -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Field:
    """What is compared: a column such as `title`, or an attribute such as `tag.department`."""

    name: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class OneOf:
    """The field equals one of the values."""

    field: Field
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Ordered:
    """The field lies on this side of the value; texts are ordered by code point."""

    field: Field
    order: Order
    value: Value


@dataclass(frozen=True, slots=True)
class Like:
    r"""The field has the form of the pattern: `%`, `_`, and either or `\` after a backslash."""

    field: Field
    pattern: str


@dataclass(frozen=True, slots=True)
class IsNull:
    """The field has no value."""

    field: Field


@dataclass(frozen=True, slots=True)
class Not:
    """The operand is false."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class All:
    """Every operand is true."""

    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Any:
    """At least one operand is true."""

    operands: tuple[Expression, ...]


Expression: TypeAlias = OneOf | Ordered | Like | IsNull | Not | All | Any


# -- what it means ------------------------------------------------------------------------------

_ORDERS: Final[dict[Order, Callable[[Value, Value], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def matches(expression: Expression, info: DocumentInfo) -> bool:
    """Whether a document passes: the meaning that every engine's own filter must have."""
    match expression:
        case Any(operands):
            return any(matches(operand, info) for operand in operands)
        case All(operands):
            return all(matches(operand, info) for operand in operands)
        case Not(operand):
            return not matches(operand, info)
        case IsNull(field):
            return not any(True for _ in _field_values(field, info))
        case OneOf(field, values):
            return any(held in values for held in _field_values(field, info))
        case Ordered(field, order, value):
            held_values = _field_values(field, info)
            return any(
                _ORDERS[order](held, value) for held in held_values if type(held) is type(value)
            )
        case Like(field, pattern):
            form = translate_like(pattern, many=".*", one=".", quote=re.escape)
            held_texts = (held for held in _field_values(field, info) if isinstance(held, str))
            return any(re.fullmatch(form, held, re.DOTALL) is not None for held in held_texts)
        case _:
            assert_never(expression)


def _field_values(field: Field, info: DocumentInfo) -> Iterator[Value]:
    """What a document holds in a field: nothing, one value, or those of an attribute."""
    if field.kind == "attribute":
        group, _, name = field.name.partition(".")
        held = info.tags if group == "tag" else info.metadata
        for text, number in attribute_values(held.get(name)):
            yield text
            if number is not None:
                yield number
        return
    value = info.modified_at if field.name == "modified" else getattr(info, field.name)
    if isinstance(value, datetime):
        yield to_seconds(value)
    elif value is not None:
        yield value if isinstance(value, str) else float(value)


def attribute_values(value: JSON) -> Iterator[tuple[str, float | None]]:
    """What a tag or a piece of metadata is compared by: as text, and as a number if it is one.

    A list is its elements, an object its JSON, null nothing.
    """
    if isinstance(value, list):
        for element in value:
            yield from attribute_values(element)
    elif isinstance(value, str):
        yield value, None
    elif isinstance(value, bool | int | float):
        text = json.dumps(value)
        yield text, float(value) if math.isfinite(float(text)) else None
    elif value is not None:
        yield json.dumps(value, ensure_ascii=False, sort_keys=True), None


def to_seconds(moment: datetime) -> float:
    """Seconds since 1970; a time without a zone is UTC."""
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


_LIKE_PIECE: Final = re.compile(r"\\.|[%_]|[^\\%_]+", re.DOTALL)


def translate_like(pattern: str, *, many: str, one: str, quote: Callable[[str], str]) -> str:
    """A pattern of `like` in another notation: its two wild cards, and its literal text quoted."""
    wild_cards = {"%": many, "_": one}
    return _LIKE_PIECE.sub(
        lambda piece: wild_cards.get(piece[0]) or quote(piece[0].removeprefix("\\")), pattern
    )


# -- from text to tree ----------------------------------------------------------------------------


def parse_filter(expression: str) -> Expression:
    """The tree of a filter expression.

    Raises BadQuery with the column, from 1, and what was expected there.
    """
    if len(expression) > MAX_CHARACTERS:
        raise BadQuery(
            f"a filter of {len(expression):,} characters",
            hint=f"it may have {MAX_CHARACTERS:,}; use a tag instead of a long list",
        )
    parser = _Parser(expression)
    tree = parser.read_any()
    parser.expect_end()
    return tree


_QUOTED: Final = r""" "(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*' """
_TOKEN: Final = re.compile(
    rf"""
      (?P<text>   {_QUOTED} )
    | (?P<date>   \d{{4}}-\d\d-\d\d (?: [Tt] [\d:.]+ (?: [Zz] | [+-][\d:]+ )? )? (?! \w ) )
    | (?P<number> [+-]? (?: \d+ (?: \.\d* )? | \.\d+ ) (?: [eE] [+-]?\d+ )? (?! [\w.] ) )
    | (?P<word>   [^\W\d][\w-]* (?: \. (?: [\w-]+ | {_QUOTED} ) )* )
    | (?P<mark>   [<>!]= | [=<>(),] )
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_NAME_PART: Final = re.compile(rf"{_QUOTED} | [\w-]+", re.VERBOSE | re.DOTALL)
_SPACE: Final = re.compile(r"\s*")
_KEYWORDS: Final = dict.fromkeys(("and", "or", "not", "in", "like", "is", "null"), "keyword")
_WORDS: Final = _KEYWORDS | {"true": "flag", "false": "flag"}
_WINDOW: Final = 60
"""Characters of a long expression that a message shows on either side of the error."""


@dataclass(frozen=True, slots=True)
class _Token:
    """`text` is as it was written, and for a keyword, true or false in small letters."""

    kind: str
    text: str
    start: int


@dataclass(frozen=True, slots=True)
class _Period:
    """A day, from `start` until `end`, or one moment, which is both."""

    start: float
    end: float


_EXPECTED: Final[dict[Kind, str]] = {
    "text": 'a text such as "hr"',
    "number": "a number such as 3",
    "time": "a date such as 2025-01-01 or 2025-01-01T10:00:00Z",
    "flag": "true or false",
    "attribute": 'a value such as "hr", 3, true or 2025-01-01',
}
_COMPARISONS: Final = "=, !=, <, <=, >, >=, in, like or is"


class _Parser:
    """Reads one expression by recursive descent; one token is always looked at ahead."""

    def __init__(self, expression: str) -> None:
        self._expression = expression
        self._depth = 0
        self._comparisons = 0
        self._token = _Token("end", "", 0)
        self._advance()

    # each method from here on reads one rule of the grammar

    def read_any(self) -> Expression:
        operands = [self._read_all()]
        while self._take("or"):
            operands.append(self._read_all())
        return operands[0] if len(operands) == 1 else Any(tuple(operands))

    def _read_all(self) -> Expression:
        operands = [self._read_one()]
        while self._take("and"):
            operands.append(self._read_one())
        return operands[0] if len(operands) == 1 else All(tuple(operands))

    def _read_one(self) -> Expression:
        opening = self._token
        if opening.text not in ("not", "("):
            return self._read_comparison()
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self._error(opening, f"at most {MAX_DEPTH} levels of parentheses and not")
        self._advance()
        if opening.text == "not":
            tree: Expression = Not(self._read_one())
        else:
            tree = self.read_any()
            self._expect(")")
        self._depth -= 1
        return tree

    def _read_comparison(self) -> Expression:
        field = self._read_field()
        self._count_comparison()
        readers = {"in": self._read_in, "like": self._read_like, "is": self._read_is}
        sign = self._advance()
        if sign.text == "not" and self._token.text in ("in", "like"):
            return Not(readers[self._advance().text](field))
        if sign.text in readers:
            return readers[sign.text](field)
        if sign.kind != "mark" or sign.text in "(),":
            raise self._error(sign, _COMPARISONS)
        value = self._token
        if value.kind == "flag" and sign.text not in ("=", "!="):
            raise self._error(value, f"a value that can be ordered after {sign.text}")
        return _compare(field, sign.text, self._read_value(field))

    def _read_in(self, field: Field) -> Expression:
        self._expect("(")
        values = [self._read_value(field)]
        while self._take(","):
            if field.kind == "time":
                self._count_comparison()
            values.append(self._read_value(field))
        self._expect(")")
        return _equal_one(field, values)

    def _read_like(self, field: Field) -> Expression:
        token = self._advance()
        if field.kind not in ("text", "attribute"):
            raise self._error(token, f"no like for {field.name}, which is {_EXPECTED[field.kind]}")
        if token.kind != "text":
            raise self._error(token, 'a pattern such as "guides/%"')
        self._unquote(token)
        return Like(field, re.sub(r"\\(['\"])", r"\1", token.text[1:-1]))

    def _read_is(self, field: Field) -> Expression:
        negated = self._take("not")
        self._expect("null")
        return Not(IsNull(field)) if negated else IsNull(field)

    def _read_field(self) -> Field:
        token = self._advance()
        if token.kind != "word":
            raise self._error(token, "a field such as title or tag.department")
        parts = [part for part in _NAME_PART.findall(token.text)]
        name = parts[0].lower()
        if name in ("tag", "metadata"):
            if len(parts) == 1:
                raise self._error(token, f"a name after {name}, such as {name}.department")
            key = ".".join(part if part[0] not in "\"'" else _unescape(part) for part in parts[1:])
            return Field(f"{name}.{key}", "attribute")
        if len(parts) == 1 and name in COLUMNS:
            return Field(name, COLUMNS[name])
        names = [*COLUMNS, f"tag.{token.text}", f"metadata.{token.text}"]
        near = difflib.get_close_matches(name, COLUMNS, n=1)
        raise self._error(token, f"one of {', '.join(near or names)}")

    def _read_value(self, field: Field) -> Value | _Period:
        token = self._advance()
        found: Value | _Period | None = None
        match field.kind, token.kind:
            case "text" | "attribute", "text":
                found = self._unquote(token)
            case "number" | "attribute", "number":
                found = float(token.text)
            case "attribute", "date" | "flag":
                found = token.text
            case "flag", "flag":
                found = float(token.text == "true")
            case "time", "date":
                found = _read_period(token.text)
            case "time", "text":
                found = _read_period(self._unquote(token))
        if found is None or found in (math.inf, -math.inf):
            raise self._error(token, f"{_EXPECTED[field.kind]} for {field.name}")
        return found
