"""The fakes do what their conformance suites ask for."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ibid.errors import ModelTimeout
from ibid.protocols import Embedder, Generator
from ibid.records import Prompt
from ibid.testing.embedder_suite import EmbedderSuite
from ibid.testing.embedders import HashingEmbedder
from ibid.testing.generator_suite import GeneratorSuite, Speaker, make_prompt
from ibid.testing.generators import ScriptedGenerator

CONFORMANCE = Path(
    os.environ.get("IBID_CONFORMANCE", Path(__file__).parents[2] / "shared" / "conformance")
)


class TestHashingEmbedder(EmbedderSuite):
    @pytest.fixture(params=[(512, 3), (64, 2)])
    def embedder(self, request: pytest.FixtureRequest) -> Embedder:
        return HashingEmbedder(*request.param)


class TestScriptedGenerator(GeneratorSuite):
    @pytest.fixture
    def speak(self) -> Speaker:
        def start(pieces: list[str]) -> Generator:
            return ScriptedGenerator([pieces, pieces])

        return start


def test_trigrams_fall_into_their_columns() -> None:
    (vector,) = HashingEmbedder().embed(["ABCabc"], kind="query")
    # The CRC-32 of "abc" is 352441c2; it comes twice, "bca" and "cab" once each.
    assert np.argmax(vector) == 0x352441C2 % 512
    assert sorted(vector[vector > 0]) == pytest.approx([6**-0.5, 6**-0.5, 2 * 6**-0.5])


def test_short_texts_have_no_direction() -> None:
    assert not HashingEmbedder().embed(["ab", ""], kind="passage").any()
    assert (HashingEmbedder().name, HashingEmbedder(64, 2).name) == ("hash3", "hash2-64")


@pytest.mark.parametrize("number", [1, 2])
def test_the_printed_rankings_come_out(number: int) -> None:
    path = CONFORMANCE / "worked_examples.json"
    if not path.is_file():
        pytest.skip(f"no worked examples at {path}: set IBID_CONFORMANCE")
    examples = {each["id"]: each for each in json.loads(path.read_text("utf-8"))["examples"]}
    example = examples[f"hybrid-miniature-{number}"]
    ids, texts = zip(*example["input"]["documents"].items(), strict=True)
    embedder = HashingEmbedder()
    (query,) = embedder.embed([example["input"]["query"]], kind="query")
    order = np.argsort(-(embedder.embed(texts, kind="passage") @ query), kind="stable")
    assert [ids[row] for row in order[:3]] == example["expected"]["dense_top3"]


def test_a_script_is_followed_and_remembered() -> None:
    generator = ScriptedGenerator(["yes", ["n", "o", ModelTimeout("late")], ModelTimeout("down")])
    assert [delta.text for delta in generator.generate(make_prompt("one?"))] == ["yes"]
    heard: list[str] = []
    with pytest.raises(ModelTimeout, match="late"):
        heard.extend(delta.text for delta in generator.generate(make_prompt("two?")))
    assert heard == ["n", "o"]
    with pytest.raises(ModelTimeout, match="down"):
        next(generator.generate(make_prompt("three?")))
    with pytest.raises(AssertionError, match="no reply left for 'four"):
        next(generator.generate(make_prompt("four?")))
    assert [prompt.question[:3] for prompt in generator.prompts] == ["one", "two", "thr", "fou"]


def test_a_script_can_be_a_function() -> None:
    answer: Callable[[Prompt], str] = lambda prompt: prompt.question.upper()  # noqa: E731
    generator = ScriptedGenerator(answer)
    assert next(generator.generate(make_prompt("why?"))).text == "WHY?"
    stream = ScriptedGenerator([["a", "b"]])
    pieces = stream.generate(make_prompt())
    next(pieces)
    pieces.close()  # type: ignore[attr-defined]  # it is a generator
    assert stream.closed == 1
