"""The filter language as it is promised: names, dates and errors, and any text at all."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import ibid
from conftest import open_hashing
from ibid.errors import BadQuery
from ibid.index.filters import parse_filter
from ibid.records import JSON

ODD_NAMES: Final = (
    "department",
    "cost center",
    "og.site_name",
    "a.b c.d",
    'say "hi"',
    "it's",
    "back\\slash",
    "50%_off",
    "null",
    "and",
    "Überstunden",
    "日本",
    "cafe\u0301",
    "2024",
    "",
)

PIECES: Final = (
    *(
        "id",
        "title",
        "modified",
        "archived",
        "version",
        "tag.x",
        'tag."y z"',
        "metadata.a.b",
        "tag",
    ),
    *("=", "!=", "<", "<=", ">", ">=", "(", ")", ",", "and", "or", "not", "in", "like", "is"),
    *(
        "null",
        "true",
        '"hr"',
        "'it'",
        "3",
        "-1.5e3",
        "2025-01-01",
        "2025-01-01T10:00:00Z",
        '"',
        ".",
    ),
)


def quote(name: str, mark: str = '"') -> str:
    return mark + re.sub(r"([\\\"'])", r"\\\1", name) + mark


def find(library: ibid.Library, expression: str) -> list[str]:
    return [info.id for info in library.documents(ibid.OWNER, filter=expression)]


def test_the_example_of_the_contract(library: ibid.Library) -> None:
    def put(id: str, department: JSON, when: datetime, media_type: str = "text/html") -> None:
        library.ingest(
            ibid.Document(
                id,
                f"A text of {id}.",
                tags={"department": department},
                modified_at=when,
                media_type=media_type,
            )
        )

    new, old = datetime(2025, 1, 1, tzinfo=UTC), datetime(2024, 12, 31, 23, 59, 59, tzinfo=UTC)
    put("guides/a", "hr", new)
    put("guides/b", ["it", "hr"], new)
    put("guides/c", "hr", old)
    put("guides/d", "it", new)
    put("guides/e", "hr", new, "text/markdown")
    put("Guides/f", "hr", new)
    expression = (
        'tag.department = "hr" and modified >= 2025-01-01 and not media_type in ("text/markdown")'
        ' and id like "guides/%"'
    )
    assert find(library, expression) == ["guides/a", "guides/b"]
    assert find(library, f"NOT ({expression})") == ["guides/c", "guides/d", "guides/e", "Guides/f"]


@pytest.mark.parametrize("name", ODD_NAMES)
def test_a_tag_of_any_name_is_found_by_it(library: ibid.Library, name: str) -> None:
    library.ingest(ibid.Document("with", "One text.", tags={name: "x"}, metadata={name: 7}))
    library.ingest(ibid.Document("without", "Another text.", tags={name + "!": "x"}))
    for mark in "\"'":
        assert find(library, f"tag.{quote(name, mark)} = 'x'") == ["with"]
        assert find(library, f"metadata.{quote(name, mark)} in (6, 7)") == ["with"]
        assert find(library, f"tag.{quote(name, mark)} is null") == ["without"]


def test_a_name_with_dots_may_be_quoted_whole_or_in_parts() -> None:
    whole = parse_filter('tag."a.b c.d" is null')
    assert parse_filter('tag.a."b c".d is null') == whole
    assert parse_filter('TAG.a."b c.d" IS NULL') == whole
    assert parse_filter('tag.A."b c.d" is null') != whole


@pytest.mark.parametrize(
    ("zone", "passes"),
    [("", True), ("Z", True), ("+00:00", True), ("+02:00", True), ("-00:01", False)],
)
def test_times_are_utc_unless_they_say_otherwise(
    tmp_path: Path, zone: str, passes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Pacific/Auckland")
    with open_hashing(tmp_path / "library") as library:
        when = datetime(2025, 1, 1, 10, tzinfo=UTC)
        library.ingest(ibid.Document("a", "A text.", modified_at=when))
        assert find(library, f"modified >= 2025-01-01T10:00:00{zone}") == ["a"] * passes
        assert find(library, "modified = 2025-01-01") == ["a"]
        assert find(library, "modified != 2025-01-01") == []


@pytest.mark.parametrize(
    ("text", "column"),
    [
        (r'tag."a\nb" = 1', 7),
        (r'id = "a" and metadata.x."\t" is null', 26),
        ('tag."x = 1', 4),
        ('tag.x = "y', 9),
        ("tag.x like 5", 12),
        ("tag. = 1", 4),
        ("\n title = 3", 11),
        ("日本 = 3", 1),
        ("title = '日本' und", 14),
    ],
)
def test_errors_point_at_the_column(text: str, column: int) -> None:
    with pytest.raises(BadQuery, match=rf"column {column}: expected ") as refused:
        parse_filter(text)
    assert "write for example" in str(refused.value.hint)


@given(st.text(max_size=40) | st.lists(st.sampled_from(PIECES), max_size=12).map(" ".join))
@example("tag.x = 1" + "0" * 400)
@example("modified = 0001-01-01T00:00:00+14:00")
@example("modified = 9999-12-31")
def test_any_text_is_a_filter_or_says_where_it_is_none(text: str) -> None:
    try:
        tree = parse_filter(text)
    except BadQuery as refused:
        (column,) = re.findall(r"column (\d+): expected ", refused.message)
        assert 1 <= int(column) <= len(text) + 1
    else:
        assert tree == parse_filter(f"({text})")
