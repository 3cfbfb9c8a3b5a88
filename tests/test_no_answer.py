"""A model that knows no answer says so in many ways; what merely has such words is an answer."""

from __future__ import annotations

from pathlib import Path

import pytest

import ibid
from ibid.answering.no_answer import says_no_answer
from ibid.answering.prompt import TEMPLATES
from ibid.openers import open_library
from ibid.records import AnswerStatus
from ibid.settings import load_settings
from ibid.testing.embedders import HashingEmbedder
from ibid.testing.generators import ScriptedGenerator

SAID = [
    "I don't know.",
    "I do not know the answer.",
    "I don't know based on the sources provided.",
    "The sources do not contain the answer.",
    "The provided context does not mention the opening hours.",
    "Based on the given sources, I cannot determine when the bridge was built.",
    "Sorry, I don't know.",
    "Unfortunately, the documents don't say who built it.",
    "There is no information about this in the context.",
    "I'm sorry, but I don't know. The context does not contain the answer.",
    "None of the sources mention a price.",
    "NO ANSWER IN THE SOURCES.",
    "**I don't know**",
    "The answer is not in the sources.",
    "Das weiß ich nicht.",
    "Die Quellen enthalten keine Antwort auf diese Frage.",
    "Ich weiß es nicht.",
    "Je ne sais pas.",
    "Les sources ne contiennent pas la réponse.",
    "No lo sé.",
    "Las fuentes no mencionan el precio.",
    "我不知道。",
    "来源中没有提到价格。",
    "わかりません。",
    "資料には答えがありません。",
    "The context doesn't provide enough information to answer the question.",
    "I could not find this in the sources.",
    "Not mentioned in the sources.",
]
ANSWERS = [
    "I don't know [1].",
    "The lamp is lit at dusk [1].",
    "I don't know the year, but the source says it was spring [1].",
    "The sources do not give a date; the tower is older than the harbour [2].",
    "The policy does not mention receipts [1].",
    "Documents do not need a signature [1].",
    "I don't know. The lamp is lit at dusk [1].",
    "The keeper said he did not know [1].",
    "The sources contain only cats [1].",
    "Members who don't know the code ask at the desk [1].",
    "The context is provided by the caller [1].",
    "The documents contain the answer [1].",
    "The sources mention 1871 [1].",
    "The passage covers ferries [1].",
    "The information is given at the desk [1].",
    "I can answer that: it is 12 [1].",
    "Nicht jeder weiß es [1].",
    "Die Quellen nennen 1871 [1].",
    "Las fuentes mencionan el precio [1].",
    "来源提到价格[1]。",
    "The text covers three topics.",
    "No pets are allowed [1].",
    "There is no fee [1].",
    "It is not required by the school [1].",
]


@pytest.mark.parametrize("text", SAID)
def test_what_models_say_where_they_know_no_answer(text: str) -> None:
    assert says_no_answer(text)


@pytest.mark.parametrize("text", ANSWERS)
def test_an_answer_that_has_such_words(text: str) -> None:
    assert not says_no_answer(text)


def test_nothing_said_is_not_a_refusal() -> None:
    assert not says_no_answer("")


@pytest.mark.parametrize("template", sorted(TEMPLATES))
def test_every_template_abstains_by_its_own_words(tmp_path: Path, template: str) -> None:
    generator = ScriptedGenerator(["I don't know.", "The keeper said: I do not know [1]."])
    settings = load_settings({"ask.template": template, "ask.abstain": 1})
    with open_library(
        tmp_path / "library", embedder=HashingEmbedder(), generator=generator, settings=settings
    ) as library:
        library.ingest(ibid.Document(id="a.md", text="The keeper said: I do not know."))
        assert library.ask("What did the keeper say?").status is AnswerStatus.ABSTAINED
        assert library.ask("What did the keeper say?").status is AnswerStatus.ANSWERED


def test_a_source_that_says_so_itself_is_quoted(tmp_path: Path) -> None:
    """ "I don't know." is an answer where the cited source has these very words."""
    generator = ScriptedGenerator(["I don't know [1]."])
    settings = load_settings({"ask.abstain": 1})
    with open_library(
        tmp_path / "library", embedder=HashingEmbedder(), generator=generator, settings=settings
    ) as library:
        library.ingest(ibid.Document(id="a.md", text="I don't know."))
        assert library.ask("What did the keeper say?").status is AnswerStatus.ANSWERED
