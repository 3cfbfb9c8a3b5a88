"""The filter language: its grammar, its meaning, and its SQL held against that meaning."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibid.errors import BadQuery
from ibid.index.embedded.filter_sql import compile_filter
from ibid.index.filter_tree import (
    Every,
    Field,
    IsNull,
    Like,
    Not,
    OneOf,
    Ordered,
    Some,
    attribute_values,
    matches,
    to_seconds,
)
from ibid.index.filters import MAX_LEVELS, MAX_VALUES, parse_filter
from ibid.records import JSON, DocumentInfo

TITLE = Field("title", "text")
DEPARTMENT = Field("tag.department", "attribute")
MODIFIED = Field("modified", "time")
NEW_YEAR = datetime(2025, 1, 1, tzinfo=UTC)


def make_info(**changes: Any) -> DocumentInfo:
    values: dict[str, Any] = {
        "id": "guides/a.md",
        "title": "Leave policy",
        "source": None,
        "media_type": "text/markdown",
        "version": 3,
        "modified_at": datetime(2025, 1, 1, 15, 30, tzinfo=UTC),
        "archived": False,
        "allow": None,
        "tags": {"department": "hr", "year": 2024, "open": True, "teams": ["red", "blue"]},
        "metadata": {"author": "Ann", "cost center": "A 1", "reviewed": "2024-12-31"},
        "passages": 1,
        "characters": 10,
    }
    return DocumentInfo(**(values | changes))


# -- grammar


def test_and_binds_tighter_than_or_and_not_tightest() -> None:
    a, b, c = (OneOf(TITLE, (name,)) for name in "abc")
    text = 'title = "a" or not title = "b" and title = "c"'
    assert parse_filter(text) == Some((a, Every((Not(b), c))))
    assert parse_filter('(title = "a" or title = "b") AND title="c"') == Every((Some((a, b)), c))


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("title is null", IsNull(TITLE)),
        ("Title IS NOT NULL", Not(IsNull(TITLE))),
        ("title in ('a', 'b')", OneOf(TITLE, ("a", "b"))),
        ("title not in ('a')", Not(OneOf(TITLE, ("a",)))),
        ("not title in ('a')", Not(OneOf(TITLE, ("a",)))),
        ("title != 'a'", Every((Not(IsNull(TITLE)), Not(OneOf(TITLE, ("a",)))))),
        (r"title = 'it\'s \\ 5\%'", OneOf(TITLE, ("it's \\ 5%",))),
        (r"title like '5\% of \'_\\%'", Like(TITLE, r"5\% of '_\\%")),
        ("tag.department<-1.5e3", Ordered(DEPARTMENT, "<", -1500.0)),
        ("tag.department = true", OneOf(DEPARTMENT, ("true",))),
        ("tag.department >= 2025-01-01", Ordered(DEPARTMENT, ">=", "2025-01-01")),
        ('tag."cost center" is null', IsNull(Field("tag.cost center", "attribute"))),
        ("metadata.og.site-name is null", IsNull(Field("metadata.og.site-name", "attribute"))),
        ("tag.straße is null", IsNull(Field("tag.straße", "attribute"))),
        ("archived = TRUE", OneOf(Field("archived", "flag"), (1.0,))),
        ("version > 3", Ordered(Field("version", "number"), ">", 3.0)),
    ],
)
def test_forms(text: str, tree: object) -> None:
    assert parse_filter(text) == tree


def test_a_date_is_a_day_and_a_time_is_a_moment() -> None:
    start = NEW_YEAR.timestamp()
    end = start + 24 * 3600
    day = Every((Ordered(MODIFIED, ">=", start), Ordered(MODIFIED, "<", end)))
    assert parse_filter("modified = 2025-01-01") == day
    assert parse_filter("modified < 2025-01-01") == Ordered(MODIFIED, "<", start)
    assert parse_filter("modified <= '2025-01-01'") == Ordered(MODIFIED, "<", end)
    assert parse_filter("modified > 2025-01-01") == Ordered(MODIFIED, ">=", end)
    assert parse_filter("modified >= 2025-01-01") == Ordered(MODIFIED, ">=", start)
    for moment in ("2025-01-01T02:00:00+02:00", "2025-01-01T00:00:00Z", "2025-01-01t00:00"):
        assert parse_filter(f"modified <= {moment}") == Ordered(MODIFIED, "<=", start)


@pytest.mark.parametrize(
    ("text", "column", "expected"),
    [
        ("", 1, "a field such as title"),
        ("tag.x = and y", 9, "a value such as"),
        ("tag.x = hr", 9, "a value such as"),
        ("titel = 'x'", 1, "a field such as title, found titel"),
        ("colour = 'x'", 1, "a field: id, title"),
        ("tag = 'x'", 1, "tag.NAME"),
        ("title 'x'", 7, "=, !=, <"),
        ("title = 'x", 9, "a closing quote"),
        ("title = 'x' title = 'y'", 13, "and, or, or the end"),
        ("(title = 'x'", 13, "), found the end"),
        ("title in 'x'", 10, "("),
        ("title in ()", 11, "a text such as"),
        ("title = 3", 9, "a text such as"),
        ("version = 'x'", 11, "a number"),
        ("version = 1e999", 11, "a number"),
        ("archived = 1", 12, "true or false"),
        ("archived < true", 10, "= or !="),
        ("modified > 2025-02-30", 12, "a date such as"),
        ("modified > 'soon'", 12, "a date such as"),
        ("modified like '2025%'", 15, "no like after modified"),
        ("title like 3", 12, "a pattern"),
        (r"title = 'a\n'", 11, "after a backslash"),
        ("title is 'x'", 10, "null"),
        ("title = 'x' & id = 'y'", 13, "a field, sign or value"),
        ("title = 'a\0b'", 9, "a field, sign or value"),
        ("title = '\udce9'", 9, "a field, sign or value"),
        ("not " * (MAX_LEVELS + 1) + "title is null", 4 * MAX_LEVELS + 1, "at most 50 levels"),
        (f"version in ({'1,' * MAX_VALUES}1)", 13 + 2 * MAX_VALUES, "at most 500 values"),
    ],
)
def test_a_bad_expression_says_where_and_what_was_expected(
    text: str, column: int, expected: str
) -> None:
    with pytest.raises(BadQuery) as caught:
        parse_filter(text)
    assert f"column {column}: expected " in caught.value.message
    assert expected in caught.value.message


def test_a_long_expression_is_refused_and_a_message_shows_a_part() -> None:
    with pytest.raises(BadQuery, match="10,001 characters"):
        parse_filter("x" * 10_001)
    with pytest.raises(BadQuery) as caught:
        parse_filter("title in (" + ", ".join(["'x'"] * 300))
    assert len(caught.value.message) < 300


# -- meaning


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("id = 'guides/a.md'", True),
        ("id like 'guides/%'", True),
        ("id like 'Guides/%'", False),
        ("id like 'guides/_.md'", True),
        ("id like 'guides'", False),
        (r"id like 'guides/\_.md'", False),
        ("source = 'x'", False),
        ("not source = 'x'", True),
        ("source != 'x'", False),
        ("source is null", True),
        ("title != 'x'", True),
        ("archived = false", True),
        ("version >= 3 and version < 3.5", True),
        ("modified = 2025-01-01", True),
        ("modified <= 2025-01-01", True),
        ("modified > 2025-01-01", False),
        ("modified != 2025-01-01", False),
        ("modified in (2024-12-31, 2025-01-01)", True),
        ("modified >= 2025-01-01T16:30:00+01:00", True),
        ("modified > 2025-01-01T15:30:00Z", False),
        ("modified in (2024-12-31, 2025-01-01T15:30:00Z)", True),
        ("tag.department = 'hr'", True),
        ("tag.Department = 'hr'", False),
        ("tag.department != 'it'", True),
        ("tag.missing != 'it'", False),
        ("not tag.missing = 'it'", True),
        ("tag.missing is null", True),
        ("tag.year = 2024", True),
        ("tag.year = '2024'", True),
        ("tag.year in ('x', 2024)", True),
        ("tag.year < 10000", True),
        ("tag.year < '10000'", False),
        ("tag.open = true", True),
        ("tag.open = 1", True),
        ("tag.teams = 'blue'", True),
        ("tag.teams != 'blue'", False),
        ("tag.teams != 'green'", True),
        ("tag.teams like 'r%'", True),
        ("metadata.\"cost center\" = 'A 1'", True),
        ("metadata.reviewed < 2025-01-01", True),
    ],
)
def test_meaning(text: str, expected: bool) -> None:
    assert matches(parse_filter(text), make_info()) is expected


def test_the_values_of_an_attribute() -> None:
    value: JSON = ["a", 2, 2.5, True, None, {"k": "v"}, [3], 10**400]
    assert list(attribute_values(value)) == [
        ("a", None),
        ("2", 2.0),
        ("2.5", 2.5),
        ("true", 1.0),
        ('{"k": "v"}', None),
        ("3", 3.0),
        ("1" + "0" * 400, None),
    ]


def test_a_time_without_a_zone_is_utc() -> None:
    moment = datetime(2025, 1, 1, 12)
    assert to_seconds(moment) == to_seconds(moment.replace(tzinfo=UTC))
    cairo = timezone(timedelta(hours=2))
    assert to_seconds(moment.replace(tzinfo=cairo)) == to_seconds(moment) - 7200


# -- SQL


TABLES = """
CREATE TABLE revisions (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, version INTEGER NOT NULL, title TEXT,
    source_uri TEXT, media_type TEXT NOT NULL, modified_at REAL, archived INTEGER NOT NULL
);
CREATE TABLE attributes (revision INTEGER NOT NULL, name TEXT NOT NULL, text TEXT, number REAL);
CREATE INDEX attributes_by_text ON attributes (name, text, revision);
CREATE INDEX attributes_by_number ON attributes (name, number, revision);
"""


@pytest.fixture(scope="module")
def revisions() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    connection.executescript(TABLES)
    return connection


def insert_revision(connection: sqlite3.Connection, id: int, info: DocumentInfo) -> None:
    seconds = None if info.modified_at is None else to_seconds(info.modified_at)
    columns = (info.id, info.version, info.title, info.source, info.media_type, seconds)
    connection.execute(
        "INSERT INTO revisions VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (id, *columns, info.archived)
    )
    for kind, held in (("tag", info.tags), ("metadata", info.metadata)):
        for name, value in held.items():
            for text, number in attribute_values(value):
                row = (id, f"{kind}.{name}", text, number)
                connection.execute("INSERT INTO attributes VALUES (?, ?, ?, ?)", row)


def find_revisions(connection: sqlite3.Connection, text: str) -> list[int]:
    condition, parameters = compile_filter(parse_filter(text))
    found = connection.execute(
        f"SELECT r.id FROM revisions r WHERE {condition} ORDER BY r.id", parameters
    )
    return [id for (id,) in found]


# Few letters, so that values meet; among them all that has a meaning in LIKE, GLOB or a quotation.
WORDS = st.text(alphabet="aAé%_*?[]\\'\"^-", max_size=3)
NUMBERS = st.sampled_from([-1, 0, 1, 2.5, 10])
MOMENTS = st.sampled_from([NEW_YEAR + timedelta(hours=hours) for hours in (-25, -1, 0, 5, 24)])
SCALARS = st.one_of(WORDS, NUMBERS, st.booleans(), st.none())
HELD = st.dictionaries(st.sampled_from(["x", "y z"]), st.one_of(SCALARS, st.lists(SCALARS)))
INFOS = st.builds(
    make_info,
    id=WORDS,
    title=st.none() | WORDS,
    source=st.none() | WORDS,
    version=st.integers(0, 3),
    modified_at=st.none() | MOMENTS,
    archived=st.booleans(),
    tags=HELD,
    metadata=HELD,
)


def quote(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


SIGNS = st.sampled_from(["=", "!=", "<", "<=", ">", ">="])
TEXTS = st.sampled_from(["id", "title", "source", "media_type"])
ATTRIBUTES = st.sampled_from(["tag.x", 'tag."y z"', "metadata.x", "metadata.none"])
DATES = MOMENTS.map(datetime.isoformat) | st.sampled_from(["2025-01-01", "2024-12-31"])
QUOTED = WORDS.map(quote)
ANY_VALUE = QUOTED | NUMBERS.map(str) | DATES


def compare(fields: st.SearchStrategy[str], values: st.SearchStrategy[str]) -> Any:
    one = st.tuples(fields, SIGNS, values).map(" ".join)
    lists = st.lists(values, min_size=1, max_size=3).map(", ".join)
    some = st.tuples(fields, lists).map(lambda pair: f"{pair[0]} in ({pair[1]})")
    return one | some | fields.map(lambda field: f"{field} is null")


COMPARISONS = st.one_of(
    compare(TEXTS, QUOTED),
    compare(ATTRIBUTES, ANY_VALUE),
    compare(st.just("modified"), DATES),
    compare(st.just("version"), NUMBERS.map(str)),
    st.tuples(ATTRIBUTES | st.just("archived"), st.sampled_from(["= true", "!= false"])).map(
        " ".join
    ),
    st.tuples(TEXTS | ATTRIBUTES, QUOTED).map(" like ".join),
)
EXPRESSIONS = st.recursive(
    COMPARISONS,
    lambda inner: st.one_of(
        inner.map(lambda one: f"not {one}"),
        st.tuples(inner, inner).map(lambda two: f"({two[0]} or {two[1]})"),
        st.tuples(inner, inner).map(lambda two: f"({two[0]} and {two[1]})"),
    ),
    max_leaves=5,
)


@given(infos=st.lists(INFOS, min_size=1, max_size=4), text=EXPRESSIONS)
def test_sql_means_what_the_tree_means(
    revisions: sqlite3.Connection, infos: list[DocumentInfo], text: str
) -> None:
    for id, info in enumerate(infos):
        insert_revision(revisions, id, info)
    try:
        found = find_revisions(revisions, text)
    finally:
        revisions.rollback()
    tree = parse_filter(text)
    assert found == [id for id, info in enumerate(infos) if matches(tree, info)]


def test_attributes_are_looked_up_in_their_index(revisions: sqlite3.Connection) -> None:
    for text, index in (
        ("tag.x = 'a'", "attributes_by_text (name=? AND text=?)"),
        ("tag.x >= 3", "attributes_by_number (name=? AND number>?)"),
    ):
        condition, parameters = compile_filter(parse_filter(text))
        plan = revisions.execute(
            f"EXPLAIN QUERY PLAN SELECT r.id FROM revisions r WHERE {condition}", parameters
        ).fetchall()
        assert any(f"COVERING INDEX {index}" in step[-1] for step in plan)
        assert any("SEARCH r USING INTEGER PRIMARY KEY" in step[-1] for step in plan)


@pytest.mark.parametrize(
    "text",
    [
        " or ".join(["modified = 2025-01-01"] * 400),
        f"modified in ({', '.join(['2025-01-01'] * MAX_VALUES)})",
        "(" * MAX_LEVELS + " and ".join(["title is null"] * 400) + ")" * MAX_LEVELS,
        "not " * MAX_LEVELS + "tag.x = 1",
    ],
)
def test_the_largest_filters_are_within_what_sqlite_takes(
    revisions: sqlite3.Connection, text: str
) -> None:
    assert find_revisions(revisions, text) == []
