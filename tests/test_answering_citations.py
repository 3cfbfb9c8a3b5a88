"""Markers, claims, and a stream that never shows half a marker."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibid.answering.citations import check_citations, parse_claims
from ibid.answering.markers import hold_back_markers


def read(answer: str, sources: int = 3) -> list[tuple[str, tuple[int, ...]]]:
    shown, claims = parse_claims(answer, sources)
    assert shown == answer
    assert all(answer[claim.start : claim.end] == claim.text for claim in claims)
    return [(claim.text, claim.markers) for claim in claims]


def test_numbers_beyond_the_sources_are_invalid() -> None:
    assert check_citations("Only on Mondays [2][7].", 3) == {
        "cited": [2, 7],
        "invalid": [7],
        "uncited": False,
    }
    assert check_citations("Only on Mondays.", 3) == {"cited": [], "invalid": [], "uncited": True}


@pytest.mark.parametrize(
    ("marker", "numbers"),
    [
        ("[1]", (1,)),
        ("[2][1]", (2, 1)),
        ("[1, 3]", (1, 3)),
        ("[1-3]", (1, 2, 3)),
        ("[1–2; 3]", (1, 2, 3)),
        ("【2】", (2,)),
        ("[1] [1]", (1,)),
        ("[^2]", (2,)),
        ("[Source 2]", (2,)),
        ("[source 1, source 3]", (1, 3)),
        ("[Quelle 3]", (3,)),
        ("(Source 2)", (2,)),
        ("［1］", (1,)),
        ("[１]", (1,)),
        ("【2†source】", (2,)),
        ("【来源2】", (2,)),
        ("[1、3]", (1, 3)),
    ],
)
@pytest.mark.parametrize("form", ["The gate opens at dawn {}.", "The gate opens at dawn. {}"])
def test_every_form_before_and_after_the_stop(
    marker: str, numbers: tuple[int, ...], form: str
) -> None:
    ((text, markers),) = read(form.replace("{}", marker))
    assert text.rstrip(".") == "The gate opens at dawn"
    assert markers == numbers


@pytest.mark.parametrize(
    "answer",
    [
        "Since [2023] the gate is shut.",
        "Use arr[1] here, then rows[0].",
        "Type `see [1]` to see it.",
        "Run this:\n```\nprint(a [1])\n```\n",
        'The sign says "closed [1] today" in red.',
        "The sign says „zu [1] heute“ in red.",
        "It is [1](https://example.org) there.",
        "Nothing is [3-1] or [0].",
        "The server said [404] twice.",
        "[^1]: A note at the foot.",
        "In (2) years the gate opens.",
        "Version (12) is the last (42).",
        "Call f (1, 2) here.",
    ],
)
def test_what_only_looks_like_a_marker(answer: str) -> None:
    assert check_citations(answer, 3)["uncited"]


def test_a_marker_covers_what_stands_before_it() -> None:
    assert read("Entry costs 3 euros [1] and parking costs 5 [2]. Dogs stay out.[3] Cats too.") == [
        ("Entry costs 3 euros", (1,)),
        ("and parking costs 5", (2,)),
        ("Dogs stay out.", (3,)),
        ("Cats too.", ()),
    ]
    assert read("Entry is free [1], not for groups.")[1] == ("not for groups.", (1,))
    assert read("According to [2], entry is free.") == [("entry is free.", (2,))]


def test_lists_tables_headings_and_lead_ins() -> None:
    answer = (
        "## Prices\nThese are the prices:\n- [1] Adults 9 euros\n- Children 4 euros [2, 3]\n\n"
        "| Day | Opens |\n| --- | --- |\n| Monday | 10:00 [1] |\n"
    )
    assert read(answer) == [
        ("Adults 9 euros", (1,)),
        ("Children 4 euros", (2, 3)),
        ("Monday | 10:00", (1,)),
    ]


def test_scripts_without_spaces() -> None:
    assert read("博物馆九点开门[1]。周一闭馆[2]。") == [
        ("博物馆九点开门", (1,)),
        ("周一闭馆", (2,)),
    ]


@pytest.mark.parametrize(
    "marker", ["[12]", "[1, 3]", "[^1]", "[Source 2]", "(source 1)", "【2†source】", "［1］"]
)
def test_a_marker_is_shown_whole_wherever_the_stream_is_cut(marker: str) -> None:
    text = f"The gate opens {marker} at dawn."
    for cut in range(1, len(text)):
        shown = list(hold_back_markers([text[:cut], text[cut:]]))
        assert "".join(shown) == text
        assert any(marker in piece for piece in shown)


def test_a_round_bracket_is_a_marker_before_a_stop_where_no_square_one_is() -> None:
    assert check_citations("Opens at dawn (2). Shut at dusk (1).", 3)["cited"] == [1, 2]
    assert check_citations("Opens at dawn (2) [1].", 3)["cited"] == [1]


@given(st.lists(st.text(alphabet="ab [],-13【】.\n"), max_size=12))
def test_any_chunking_streams_whole_markers(pieces: list[str]) -> None:
    text = "".join(pieces)
    shown = list(hold_back_markers(iter(pieces)))
    assert "".join(shown) == text
    edges = {len("".join(shown[: count + 1])) for count in range(len(shown))}
    for start, end in _brackets(text):
        assert edges.isdisjoint(range(start + 1, end))


def _brackets(text: str) -> list[tuple[int, int]]:
    pairs = []
    for start, opening in enumerate(text):
        end = text.find({"[": "]", "【": "】"}.get(opening, "\0"), start)
        if opening in "[【" and end > 0 and set(text[start + 1 : end]) <= set("13,- "):
            pairs.append((start, end + 1))
    return pairs


@given(st.text(alphabet="ab. []12,-\n|“”`#:*", max_size=60))
def test_claims_lie_in_order_in_the_answer(answer: str) -> None:
    _, claims = parse_claims(answer, 3)
    done = 0
    for claim in claims:
        assert done <= claim.start < claim.end
        assert answer[claim.start : claim.end] == claim.text
        done = claim.end
