"""Which documents have had their day, and who is told of it."""

from __future__ import annotations

from datetime import UTC, datetime

import ibid
from ibid.ranking.groups import group_alike

POLICY = (
    "Every employee may work from home on two days of the week. The days are agreed with the team "
    "in advance and written into the calendar. Whoever works from home can be reached by phone "
    "from nine to four and takes part in the meetings of the team. Costs of heating and power are "
    "not refunded, a chair and a screen are lent on request."
)


def add(library: ibid.Library, id: str, text: str, year: int | None, **traits: object) -> None:
    modified_at = None if year is None else datetime(year, 1, 2, tzinfo=UTC)
    library.ingest(ibid.Document(id, text, modified_at=modified_at, **traits))  # type: ignore[arg-type]  # given by name


def reasons(
    library: ibid.Library, *caller: str, days: float = 20_000
) -> dict[str, tuple[str, ...]]:
    held = ibid.OWNER if caller == ("*",) else set(caller)
    return {one.info.id: one.reasons for one in library.stale(days, held).documents}


def test_old_documents_are_told(library: ibid.Library) -> None:
    add(library, "old", "Herons wade.", 2001)
    add(library, "new", "Plovers run.", 2026)
    add(library, "undated", "Curlews call.", None)
    assert reasons(library, days=365) == {"old": ("not modified since 2001-01-02",)}
    library.set("old", archived=True)
    assert reasons(library, days=365) == {}


def test_a_newer_document_that_says_the_same_supersedes(library: ibid.Library) -> None:
    add(library, "2019.md", POLICY.replace("two days", "one day"), 2019)
    add(library, "2025.md", POLICY, 2025)
    add(library, "other.md", " ".join(reversed(POLICY.split())), 2018)
    assert reasons(library) == {"2019.md": ("superseded by 2025.md",)}
    assert library.stale(20_000).groups == (("2019.md", "2025.md"),)


def test_a_document_that_the_caller_may_not_see_supersedes_none(library: ibid.Library) -> None:
    add(library, "2019.md", POLICY, 2019)
    add(library, "secret.md", POLICY, 2025, allow=frozenset({"group:hr"}))
    assert reasons(library) == {}
    assert library.stale(20_000).groups == ()
    assert reasons(library, "group:hr") == {"2019.md": ("superseded by secret.md",)}


def test_what_no_answer_was_drawn_from_is_told_to_the_owner_alone(library: ibid.Library) -> None:
    add(library, "leave.md", "Parental leave lasts sixteen weeks.", 2026)
    add(library, "heron.md", "The heron wades in shallow water.", 2026)
    assert reasons(library, "*") == {}
    library.ask("How long does parental leave last?", k=1)
    assert reasons(library, "*") == {"heron.md": ("no kept answer was drawn from it",)}
    assert reasons(library) == {}


def test_groups_are_linked_pair_by_pair() -> None:
    words = [f"word{number}" for number in range(120)]
    texts = {name: " ".join(words[start:] + words[:start]) for name, start in (("a", 0), ("b", 40))}
    texts["c"] = " ".join(words[:100])
    texts["d"] = " ".join(f"other{number}" for number in range(120))
    texts["stub"] = texts["stub2"] = "Nothing here yet."
    assert group_alike(texts.items(), 0.7) == [["a", "b", "c"]]
    assert group_alike(texts.items(), 0.99) == []
