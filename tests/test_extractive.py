"""The generator without a model: which sentences it takes, how it joins them, what it quotes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ibid
from command_line import HANDBOOK
from ibid.answering.candidates import CANDIDATES, find_candidates
from ibid.answering.extractive import MOST_ITEMS, MOST_SENTENCES, ExtractiveGenerator
from ibid.answering.kinds import asks_for_list, find_kinds
from ibid.answering.likeness import measure_likeness
from ibid.answering.prompt import build_prompt
from ibid.records import AnswerStatus, DocumentInfo, Hit, Passage, Reading, Verdict
from ibid.settings import load_settings
from ibid.testing.embedders import HashingEmbedder

if TYPE_CHECKING:
    from ibid.protocols.models import Vectors

HARBOUR = """\
The harbour of Selmo was dug in 1904 by Ada Brink. It lies in Nordvik, at the mouth of the Ume.

It was dug because the old pier had sunk. The harbour takes 40 boats.

Boats that come for the night need:

- a mooring card
- a lamp at the bow
- two ropes

| Length | Fee a night |
| ------ | ----------- |
| under 8 metres | 12 crowns |
| 8 to 14 metres | 20 crowns |
"""


def make_hit(text: str, number: int = 1, headings: tuple[str, ...] = ()) -> Hit:
    passage = Passage(f"p{number}", f"d{number}", 0, 0, len(text), text, headings=headings)
    info = DocumentInfo(
        f"d{number}", "Port", None, "text/plain", 1, None, False, None, {}, {}, 1, len(text)
    )
    return Hit(number, 1.0, passage, info, {})


def answer(question: str, *texts: str, language: str | None = "en") -> str:
    hits = [make_hit(text, number) for number, text in enumerate(texts or (HARBOUR,), 1)]
    prompt = build_prompt(question, hits, language=language)
    return "".join(delta.text for delta in ExtractiveGenerator().generate(prompt))


# -- what is asked for ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "kinds"),
    [
        ("How many boats fit?", ["quantity"]),
        ("Wie lange dauert die Fahrt?", ["quantity"]),
        ("Combien de bateaux ?", ["quantity"]),
        ("¿Cuántos barcos caben?", ["quantity"]),
        ("港口有多少船？", ["quantity"]),
        ("When was it dug?", ["date"]),
        ("¿Cuándo se abrió?", ["date"]),
        ("港はいつ開きましたか？", ["date"]),
        ("Who dug it?", ["person"]),
        ("Wer hat ihn gegraben?", ["person"]),
        ("Where does it lie?", ["place"]),
        ("Où se trouve le port ?", ["place"]),
        ("Warum wurde er gegraben?", ["reason"]),
        ("How do I moor?", ["manner"]),
        ("What is a mooring card?", ["definition"]),
        ("Are boats allowed?", []),
    ],
)
def test_questions_ask_for_a_kind_of_thing(question: str, kinds: list[str]) -> None:
    assert [kind.name for kind in find_kinds(question)] == kinds


def test_some_questions_ask_for_a_list() -> None:
    assert asks_for_list("What are the rules for the night?")
    assert asks_for_list("List all fees.")
    assert not asks_for_list("Who dug the harbour?")


# -- which sentences ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who dug the harbour?", "The harbour of Selmo was dug in 1904 by Ada Brink [1]."),
        ("How many boats does the harbour take?", "The harbour takes 40 boats [1]."),
        (
            "Why was the harbour dug?",
            "The harbour of Selmo was dug in 1904 by Ada Brink [1]. "
            "It was dug because the old pier had sunk [1].",
        ),
        ("What is the fee for a length under 8 metres?", "under 8 metres | 12 crowns [1]"),
    ],
)
def test_a_fact_is_one_sentence_and_what_it_points_back_to(question: str, expected: str) -> None:
    assert answer(question) == expected


def test_a_list_is_given_whole_and_in_its_order() -> None:
    expected = ["a mooring card [1]", "a lamp at the bow [1]", "two ropes [1]"]
    assert answer("What are the things boats need for the night?").splitlines() == expected


def test_a_line_that_leads_into_a_list_is_no_answer_without_it() -> None:
    assert answer("Boats that come for the night need what?").splitlines()[-1] == "two ropes [1]"


def test_a_question_in_two_parts_gets_both() -> None:
    text = answer("Who dug the harbour and how many boats does it take?")
    assert "by Ada Brink [1]" in text
    assert "40 boats [1]" in text
    bare = answer("Who dug the harbour of Selmo, and when?")
    assert "in 1904 by Ada Brink [1]" in bare


def test_titles_headers_and_questions_are_no_answers() -> None:
    text = "Fees for boats\n\nWhat do boats pay?\n\nA boat pays 12 crowns a night."
    assert answer("What do boats pay?", text) == "A boat pays 12 crowns a night [1]."
    assert "Length | Fee" not in answer("What is the length and the fee a night?")
    assert answer("What fees are there?", "Fees for boats") == "Fees for boats [1]"


def test_a_heading_speaks_for_what_stands_below_it() -> None:
    hits = [
        make_hit("The light is red. Call the keeper.", 1, ("Lamps", "Code L-7")),
        make_hit("The light is green. Do nothing.", 2, ("Lamps", "Code L-8")),
    ]
    generator = ExtractiveGenerator(HashingEmbedder())
    prompt = build_prompt("What does code L-8 mean?", hits, language="en")
    text = "".join(delta.text for delta in generator.generate(prompt))
    assert "green" in text
    assert "red" not in text


def test_the_first_row_of_a_divided_table_knows_its_header() -> None:
    hit = make_hit("| Ume | 40 boats |\n| Ryd | 12 boats |\n")
    lead = "| Harbour | Room |\n| ------- | ---- |"
    hit = replace(hit, passage=replace(hit.passage, lead=lead))
    question = "How much room has the harbour Ume?"
    found = find_candidates(question, [hit], language="en")
    assert {one.text for one in found} == {
        "Harbour Ume, Room 40 boats",
        "Harbour Ryd, Room 12 boats",
    }
    assert all(hit.passage.text[one.unit.start : one.unit.end] == one.unit.text for one in found)
    prompt = build_prompt(question, [hit], language="en")
    shown = "".join(delta.text for delta in ExtractiveGenerator().generate(prompt))
    assert shown == "Ume | 40 boats [1]"


@pytest.mark.parametrize(
    ("language", "question", "text", "expected"),
    [
        ("de", "Wie lange dauert die Überfahrt?",
         "Die Fähre fährt täglich. Die Überfahrt dauert 35 Minuten.",
         "Die Überfahrt dauert 35 Minuten [1]."),
        ("fr", "Quand le phare a-t-il été construit ?",
         "Le phare est rouge. Le phare a été construit en 1871.",
         "Le phare a été construit en 1871 [1]."),
        ("es", "¿Cuántos barcos caben en el puerto?",
         "El puerto es antiguo. En el puerto caben 40 barcos.",
         "En el puerto caben 40 barcos [1]."),
        ("zh", "渡轮需要多长时间？", "渡轮每天都开。渡轮需要35分钟。", "渡轮需要35分钟 [1]。"),
        ("ja", "渡船の時間はどのくらいですか？", "渡船は毎日出ます。渡船の時間は35分です。",
         "渡船の時間は35分です [1]。"),
    ],
)  # fmt: skip
def test_other_languages(language: str, question: str, text: str, expected: str) -> None:
    assert answer(question, text, language=language) == expected


# -- how much ------------------------------------------------------------------------------------


@given(st.lists(st.sampled_from(["boat", "lamp", "rope", "card", "pier"]), min_size=1, max_size=40))
def test_an_answer_stays_short(words: list[str]) -> None:
    text = " ".join(f"The {word} number {at} is at the pier." for at, word in enumerate(words))
    shown = answer("What is at the pier?", text)
    assert 1 <= shown.count("[1]") <= MOST_SENTENCES
    items = "Things at the pier:\n\n" + "\n".join(f"- {w} {at}" for at, w in enumerate(words))
    assert 1 <= answer("List all things at the pier.", items).count("[1]") <= MOST_ITEMS


class CountingEmbedder(HashingEmbedder):
    """Counts the texts that it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.passages = 0

    def embed(self, texts: Sequence[str], *, kind: Literal["passage", "query"]) -> Vectors:
        self.passages += len(texts) if kind == "passage" else 0
        return super().embed(texts, kind=kind)


def test_no_more_than_the_likeliest_sentences_are_embedded_and_each_once() -> None:
    embedder = CountingEmbedder()
    text = " ".join(f"The boat number {at} is at the pier." for at in range(50))
    question = "Which boat is at the pier?"
    found = {question: find_candidates(question, [make_hit(text)], language="en")}
    likeness = measure_likeness(found, embedder)
    assert embedder.passages == len(likeness) == CANDIDATES
    assert measure_likeness(found, embedder, likeness) == likeness
    assert embedder.passages == CANDIDATES


def test_what_was_measured_before_abstaining_is_not_measured_again() -> None:
    embedder = CountingEmbedder()
    hits = [make_hit(HARBOUR)]
    question = "Who dug the harbour?"
    found = {question: find_candidates(question, hits, language="en")}
    reading = Reading({}, measure_likeness(found, embedder))
    measured = embedder.passages
    prompt = replace(build_prompt(question, hits, language="en"), reading=reading)
    assert "Ada Brink" in "".join(d.text for d in ExtractiveGenerator(embedder).generate(prompt))
    assert embedder.passages == measured > 0


# -- quotes ---------------------------------------------------------------------------------------

MIXED = {
    "port.md": f"# Port\n\n{HARBOUR}",
    "faehre.md": "# Fähre\n\nSie fährt täglich. Die Überfahrt dauert 35 Minuten. 🚢 Auch Hunde.",
    "duchuan.md": "# 渡轮\n\n渡轮每天都开。渡轮需要35分钟。狗可以上船。",
    "tosen.md": "# 渡船\n\n渡船は毎日出ます。渡船の時間は35分です。",
    "notes.txt": "Wrapped lines that go on\nfor a while say that the keeper is Ole Dahl.\n\n"
    "arr[0] is the first [1] of all. See [2] too.\n",
}  # fmt: skip

QUESTIONS = (
    "Who dug the harbour of Selmo, and when?",
    "Why was the harbour dug?",
    "What are the things boats need for the night?",
    "What is the fee for a boat under 8 metres?",
    "Wie lange dauert die Überfahrt?",
    "Hunde?",
    "渡轮需要多长时间？",
    "渡船の時間はどのくらいですか？",
    "Who is the keeper?",
    "Which is the first of all?",
    "How long is parental leave?",
    "What does error E-2107 mean?",
    "Which plan has phone support?",
    "When does the workshop close on Saturday?",
    "How do I renew my certificate?",
    "Are parking fines paid?",
)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ibid.Library]:
    folder = tmp_path_factory.mktemp("mixed")
    settings = load_settings({"ask.abstain": 1.0})
    with ibid.open(folder / "library", settings=settings) as library:
        library.sync(HANDBOOK)
        library.ingest(
            ibid.Document(id=id, text=text, media_type="text/markdown")
            for id, text in MIXED.items()
        )
        yield library


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_quote_is_the_documents_own_characters(library: ibid.Library, question: str) -> None:
    answer = library.ask(question, principals=ibid.OWNER)
    assert answer.status is AnswerStatus.ANSWERED
    assert answer.citations
    for citation in answer.citations:
        assert citation.document_id is not None
        document = library.document(citation.document_id, ibid.OWNER)
        assert document.text[citation.start : citation.end] == citation.quote
        assert citation.claim.text == answer.text[citation.claim.start : citation.claim.end]
        assert citation.verdict is Verdict.SUPPORTED
