"""Contexts written by a model: searched with the passage, never quoted, never asked for twice."""

from __future__ import annotations

from pathlib import Path

import pytest

import ibid
from ibid.errors import BadSetting
from ibid.flows.contextual import CONTEXT_PIECES, Contextualizer, build_prompt, estimate_tokens
from ibid.flows.options import IngestOptions
from ibid.library import Library
from ibid.openers import open_library
from ibid.records import Prompt
from ibid.settings import load_settings
from ibid.testing.embedders import HashingEmbedder
from ibid.testing.generators import ScriptedGenerator

TEXT = "It rose by a tenth.\n\nNobody had expected that."


def write_context(prompt: Prompt) -> str:
    return "From the yearly report, on the price of walnuts."


def open_with_contexts(place: Path, generator: ScriptedGenerator) -> Library:
    settings = load_settings({"ingest.contexts": True}, environ={}, user_dir=place)
    return open_library(
        place / "library", embedder=HashingEmbedder(), generator=generator, settings=settings
    )


def test_a_passage_is_found_by_its_context_and_quoted_without(tmp_path: Path) -> None:
    generator = ScriptedGenerator(write_context)
    with open_with_contexts(tmp_path, generator) as library:
        library.ingest(ibid.Document(id="a", text=TEXT))
        (hit,) = library.search("walnuts", mode="lexical")
        assert hit.passage.text == TEXT[hit.passage.span]
        assert "walnuts" not in hit.passage.text
        assert hit.passage.context == write_context(generator.prompts[0])
        assert hit.passage.indexed_text.startswith(hit.passage.context)


def test_a_known_context_is_not_asked_for_again(tmp_path: Path) -> None:
    generator = ScriptedGenerator(write_context)
    with open_with_contexts(tmp_path, generator) as library:
        library.ingest(ibid.Document(id="a", text=TEXT))
        asked = len(generator.prompts)
        assert asked == 1
        library.ingest(ibid.Document(id="b", text=TEXT))
        library.remove("a")
        library.ingest(ibid.Document(id="a", text=TEXT))
        assert len(generator.prompts) == asked
        library.update(ibid.Document(id="a", text=TEXT + " Nor wanted it."))
        assert len(generator.prompts) == asked + 1


def test_switching_contexts_on_makes_the_passages_anew(tmp_path: Path) -> None:
    with open_library(tmp_path / "library", embedder=HashingEmbedder()) as library:
        library.ingest(ibid.Document(id="a", text=TEXT))
    generator = ScriptedGenerator(write_context)
    with open_with_contexts(tmp_path, generator) as library:
        assert library.update(ibid.Document(id="a", text=TEXT)).updated == ("a",)
        assert library.update(ibid.Document(id="a", text=TEXT)).unchanged == 1


def test_a_long_context_is_cut_to_its_room() -> None:
    embedder = HashingEmbedder()
    writer = Contextualizer(ScriptedGenerator(lambda _: "word " * 500), embedder.tokenizer)
    passage = ibid.Passage("p", "a", 0, 0, len(TEXT), TEXT)
    text = writer._write(ibid.Document(id="a", text=TEXT), passage)
    assert len(embedder.tokenizer.spans([text])[0]) == CONTEXT_PIECES


def test_the_request_holds_the_passage_and_what_surrounds_it_byte_for_byte() -> None:
    text = "{braces} 100% " * 2_000
    passage = ibid.Passage("p", "a", 0, 14_000, 14_140, text[14_000:14_140])
    prompt = build_prompt(ibid.Document(id="a", text=text, title="T"), passage)
    assert passage.text in prompt.messages[-1].content
    assert len(prompt.messages[-1].content) < 10_000


def test_the_extractive_generator_writes_no_contexts(tmp_path: Path) -> None:
    settings = load_settings({"ingest.contexts": True}, environ={}, user_dir=tmp_path)
    with pytest.raises(BadSetting, match="needs a language model"):
        open_library(tmp_path / "library", embedder=HashingEmbedder(), settings=settings)


def test_the_estimate_grows_with_the_text() -> None:
    # 8,000 characters are 11 passages; each sends its excerpt and the instructions.
    assert estimate_tokens(8_000) > 11 * 6_000 // 4
    assert estimate_tokens(80_000) > 9 * estimate_tokens(8_000)
    assert IngestOptions().contextualizer is None


def test_a_dry_run_tells_about_how_many_tokens_contexts_take(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a.txt").write_text(TEXT * 100)
    with open_with_contexts(tmp_path, ScriptedGenerator(write_context)) as library:
        report = library.sync(tmp_path / "folder", dry_run=True)
        assert report.context_tokens == estimate_tokens(len(TEXT) * 100)
        assert library.sync(tmp_path / "folder").context_tokens == 0
