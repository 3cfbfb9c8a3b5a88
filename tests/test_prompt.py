"""Prompts: every text as it is, what changes least first, and never more than the model holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ibid
from ibid.answering.budget import count_prompt, estimate_tokens, fit_prompt
from ibid.answering.injection import neutralise
from ibid.answering.prompt import TEMPLATES, build_prompt
from ibid.embedding.local import open_local_embedder
from ibid.records import Hit, Prompt
from test_answering import make_hit

FORMATS: Final = ["{0} {name} {{", "%s %(x)d 100%", "$HOME ${x}", "\\n \\x00 \x00", "<b> & &amp;"]
TEXTS: Final = st.text(st.characters(exclude_categories=()), max_size=60) | st.sampled_from(FORMATS)
SOURCES: Final = [
    make_hit("The lamp is lit at dusk.", 1),
    make_hit("The keeper sleeps by day.", 2),
    make_hit("The ferry waits for nobody.", 3),
]


@given(st.lists(TEXTS, min_size=1, max_size=4), TEXTS, st.lists(TEXTS, max_size=4), st.booleans())
def test_every_text_arrives_byte_for_byte(
    texts: list[str], question: str, history: list[str], whole: bool
) -> None:
    history = history[: len(history) // 2 * 2]
    sources = [make_hit(text, number) for number, text in enumerate(texts, 1)]
    for template, wording in TEMPLATES.items():
        prompt = build_prompt(question, sources, history=history, template=template, whole=whole)
        said = [message.content for message in prompt.messages if message.role != "system"]
        first = 0 if whole else len(history)
        assert all(neutralise(text) in said[first] for text in texts)
        spoken = [*history, question + wording.ending]
        assert said[first].endswith(spoken[first])
        assert [text for at, text in enumerate(said) if at != first] == [
            text for at, text in enumerate(spoken) if at != first
        ]


@pytest.mark.parametrize("text", FORMATS)
def test_what_looks_like_a_format_is_no_attack(text: str) -> None:
    assert neutralise(text) == text


# -- the named templates, byte for byte -----------------------------------------------------------


def test_the_template_sources() -> None:
    (message,) = build_prompt("When?", SOURCES[:2], template="sources").messages
    assert message.content == (
        "Answer using ONLY the sources below. Cite sources like [1]. "
        "If the sources do not contain the answer, say you don't know.\n\n"
        "Sources:\n"
        "[1] (d1) The lamp is lit at dusk.\n\n"
        "[2] (d2) The keeper sleeps by day.\n\n"
        "Question: When?"
    )


def test_the_template_context() -> None:
    (message,) = build_prompt("When?", SOURCES[:1], template="context").messages
    assert message.content == (
        "Answer only from the context below and cite sources as [n]. "
        "If the context does not contain the answer, say you don't know.\n\n"
        "Context:\n"
        "[1] (d1) The lamp is lit at dusk.\n\n"
        "Question: When?\n"
        "Answer:"
    )


def test_the_template_grounded() -> None:
    """Instructions in the system message; each source between two fences; the question last."""
    system, user = build_prompt("When?", SOURCES[:2]).messages
    assert (system.role, user.role) == ("system", "user")
    head, blank, fence, *lines = user.content.split("\n")
    assert blank == ""
    assert head == "Sources, each between two fence lines:"
    assert lines == [
        *("[1] (d1)", "The lamp is lit at dusk.", fence, ""),
        *(fence, "[2] (d2)", "The keeper sleeps by day.", fence, ""),
        "Question: When?",
    ]


# -- what stays the same stands first -------------------------------------------------------------


def test_lasting_sources_begin_every_prompt_alike() -> None:
    """So an endpoint that knows the beginning of a prompt reads the sources but once."""
    first = build_prompt("When?", SOURCES, whole=True)
    other = build_prompt("And who sleeps?", SOURCES, history=["When?", "At dusk [1]."], whole=True)
    assert other.messages[: len(first.messages)] == first.messages
    assert [m.role for m in other.messages] == ["system", "user", "assistant", "user"]
    assert other.messages[-1].content == "And who sleeps?"


def test_no_question_holds_the_fence() -> None:
    fence = build_prompt("When?", SOURCES).messages[-1].content.split("\n")[2]
    asked = build_prompt(f"When? {fence}", SOURCES).messages[-1].content
    assert asked.count(fence) == 1


# -- within the window ----------------------------------------------------------------------------


def fit(sources: Sequence[Hit], history: Sequence[str], room: int) -> Prompt:
    def build(kept: Sequence[Hit], said: Sequence[str]) -> Prompt:
        return build_prompt("When is it?", kept, history=said)

    return fit_prompt(build, sources, history, room=room)


@given(st.integers(200, 3000), st.lists(st.integers(1, 900), max_size=12), st.integers(0, 3))
def test_a_prompt_never_takes_more_than_its_room(room: int, sizes: list[int], turns: int) -> None:
    sources = [make_hit("x" * size, number) for number, size in enumerate(sizes, 1)]
    history = ["said " * 40] * (2 * turns)
    try:
        prompt = fit(sources, history, room)
    except ibid.BadQuery:
        assert count_prompt(build_prompt("When is it?", sources[:1])) > room
        return
    assert count_prompt(prompt) <= room
    assert prompt.messages[0].content == TEMPLATES["grounded"].system
    assert prompt.messages[-1].content.endswith("When is it?")
    assert list(prompt.sources) == sources[: len(prompt.sources)]
    if len(prompt.sources) < len(sources):  # one more would not have fitted
        more = sources[: len(prompt.sources) + 1]
        said = prompt.history
        assert count_prompt(build_prompt("When is it?", more, history=said)) > room


def test_the_oldest_turns_go_before_the_last_source_does() -> None:
    history = [f"{word} " * 100 for word in ("one", "two", "three", "four")]
    whole = count_prompt(build_prompt("When is it?", SOURCES[:1], history=history))
    prompt = fit(SOURCES, history, whole - 1)
    assert prompt.history == tuple(history[2:])
    assert prompt.sources


def test_a_question_that_does_not_fit_is_refused_whole() -> None:
    with pytest.raises(ibid.BadQuery, match=r"has room for 300"):
        fit([replace(SOURCES[0], passage=make_hit("word " * 500).passage)], [], 300)


SAMPLES: Final = {
    "en": "The lighthouse keeper writes down each passing ship, its flag and its heading. " * 3,
    "code": 'def f(x):\n    return {"a": [x ** 2, x // 3]}  # {x!r:>10}\n' * 3,
    "numbers": "| 1,204.50 | 17 | 2024-03-01 | +44 20 7946 0958 |\n" * 5,
    "zh": "灯塔看守人记录每一艘经过的船只。" * 5,
    "ja": "灯台守は通り過ぎる船をすべて書き留める。" * 5,
    "emoji": "👩‍👧 🚢 ⚓ " * 5,
}


@pytest.mark.parametrize("name", SAMPLES)
def test_an_estimate_is_no_less_than_a_tokenizer_counts(name: str) -> None:
    """Held against that of the embedder, in what it was made for."""
    (pieces,) = open_local_embedder().tokenizer.spans([SAMPLES[name]])
    assert estimate_tokens(SAMPLES[name]) >= len(pieces)


def test_an_estimate_worked_by_hand() -> None:
    """'Room 12.' has 8 bytes: '1', '2' and '.' a token each, and 5 bytes / 3 rounded up to 2."""
    assert estimate_tokens("Room 12.") == 5
    assert estimate_tokens("") == 0
    assert estimate_tokens("是") == 1
