"""Abstaining: what speaks for an answer, the estimate made of it, and the words in its place."""

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ibid
from command_line import HANDBOOK
from ibid.answering.abstain import (
    BY_MEANING,
    BY_TERMS,
    Evidence,
    estimate_no_answer,
    find_nearest,
    measure_evidence,
)
from ibid.answering.abstention import MOST_TERMS, WORDINGS, find_key_terms, write_abstention
from ibid.answering.candidates import find_candidates
from ibid.answering.no_answer import says_no_answer
from ibid.answering.questions import ask_terms, list_askings, split_question
from ibid.records import AnswerStatus, DocumentInfo, Hit, NearDocument, Passage
from ibid.settings import load_settings
from ibid.testing.embedders import HashingEmbedder

SHARES = st.floats(0, 1)


def make_hit(text: str, id: str = "boats.md", title: str | None = "Boats") -> Hit:
    info = DocumentInfo(id, title, None, "text/plain", 1, None, False, None, {}, {}, 1, len(text))
    return Hit(1, 1.0, Passage("p", id, 0, 0, len(text), text), info, {})


# -- the estimate ---------------------------------------------------------------------------------


def test_the_estimate_is_the_logistic_function_of_the_weighted_evidence() -> None:
    evidence = Evidence(covered=0.5, spoken=0.25, passage=0.6, sentence=0.4)
    odds = 7.90 - 3.16 * 0.5 - 0.94 * 0.25 - 3.69 * 0.6 - 5.56 * 0.4
    assert estimate_no_answer(evidence) == pytest.approx(1 / (1 + math.exp(-odds)))
    by_terms = estimate_no_answer(Evidence(covered=0.5, spoken=0.25))
    assert by_terms == pytest.approx(1 / (1 + math.exp(-(3.05 - 3.76 * 0.5 - 2.89 * 0.25))))


@given(SHARES, SHARES, SHARES, SHARES, st.floats(0.01, 1))
def test_more_evidence_never_makes_an_answer_less_likely(
    covered: float, spoken: float, passage: float, sentence: float, more: float
) -> None:
    base = (covered, spoken, passage, sentence)
    before = estimate_no_answer(Evidence(*base))
    assert 0 < before < 1
    for place in range(4):
        raised = Evidence(*(min(v + more * (at == place), 1) for at, v in enumerate(base)))
        assert estimate_no_answer(raised) <= before


def test_no_evidence_is_no_answer_and_full_evidence_is_one() -> None:
    for weights, nothing, everything in (
        (BY_MEANING, Evidence(0, 0, 0, 0), Evidence(1, 1, 1, 1)),
        (BY_TERMS, Evidence(0, 0), Evidence(1, 1)),
    ):
        assert weights.bias > 0
        assert estimate_no_answer(nothing) > 0.95
        assert estimate_no_answer(everything) < 0.05


def test_evidence_weighs_rare_words_more() -> None:
    hit = make_hit("The ferry to Hvenlund leaves at noon.")
    rarity = dict.fromkeys(ask_terms("When does the Hvenlund ferry leave?", "en"), 1.0)
    rare = next(term for term in rarity if term.startswith("hvenlund"))
    shares = []
    for weight in (1.0, 6.0):
        question = "When does the Hvenlund ferry sink?"
        weighed = {**rarity, rare: weight, "sink": 1.0}
        found = find_candidates(question, [hit], language="en", rarity=weighed)
        shares.append(measure_evidence(question, found, [0.5]).spoken)
    assert shares == [pytest.approx(2 / 3), pytest.approx(7 / 8)]


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("Who built the pier, and when?", ["Who built the pier", "when?"]),
        ("Was kostet es und wie lange dauert es?", ["Was kostet es", "wie lange dauert es?"]),
        ("How deep is it? Where is it?", ["How deep is it", "Where is it?"]),
        ("Are salt and sand delivered?", ["Are salt and sand delivered?"]),
    ],
)
def test_a_question_is_cut_where_another_one_begins(question: str, parts: list[str]) -> None:
    assert split_question(question) == parts


def test_only_parts_that_stand_alone_are_weighed() -> None:
    assert list_askings("Who built the pier, and when?", "en") == [
        "Who built the pier, and when?",
        "Who built the pier",
    ]


def test_words_that_only_ask_are_no_terms() -> None:
    assert ask_terms("How many boats does it mean?", "en") == {"boat"}
    assert ask_terms("How many?", "en") == {"mani"}
    assert ask_terms("公司的年假有几天？", "zh") == {"公司", "年假"}


# -- whole questions ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ibid.Library:
    library = ibid.open(tmp_path_factory.mktemp("handbook") / "library")
    library.sync(HANDBOOK)
    return library


@pytest.mark.parametrize(
    "question",
    [
        "How long is parental leave?",
        "What does error E-2107 mean?",
        "Are parking fines paid?",
        "Which plan has phone support?",
        "Do I need a doctor's note?",
        "When does the Wi-Fi password change?",
        "How many seats does the Forest plan have and what does it cost?",
        "E-3001",
    ],
)
def test_what_the_handbook_tells_is_answered(library: ibid.Library, question: str) -> None:
    answer = library.ask(question)
    assert answer.status is AnswerStatus.ANSWERED
    assert answer.nearest == ()


@pytest.mark.parametrize(
    "question",
    [
        "Which airline does the company own?",
        "What does band B pay?",
        "How many employees work at Fernhill?",
        "What does error E-9999 mean?",
        "What is the notice period for resignation?",
        "Where is the parking garage?",
    ],
)
def test_what_the_handbook_does_not_tell_is_not(library: ibid.Library, question: str) -> None:
    answer = library.ask(question)
    assert (answer.status, answer.citations, answer.sources) == (AnswerStatus.ABSTAINED, (), ())
    assert answer.text.startswith(WORDINGS["en"].nothing)
    assert len(answer.warnings) == 1


def test_no_generator_is_called_for_nothing(tmp_path: Path) -> None:
    asked: list[str] = []

    def write(prompt: str) -> str:
        asked.append(prompt)
        return "It is [1]."

    with ibid.open(tmp_path / "library", generator=write) as library:
        library.sync(HANDBOOK)
        assert library.ask("Who painted the Mona Lisa?").status is AnswerStatus.ABSTAINED
        assert asked == []
        assert library.ask("How long is parental leave?").status is AnswerStatus.ANSWERED
        assert len(asked) == 1


def test_the_nearest_documents_are_those_that_the_caller_may_see(library: ibid.Library) -> None:
    question = "Which consultants compared the pay bands of Peru and Chile?"
    members = library.ask(question, principals={"group:people"})
    assert NearDocument("hr/pay-bands.md", "Pay bands") in members.nearest
    assert "Pay bands (hr/pay-bands.md)" in members.text
    public = library.ask(question)
    assert "pay-bands" not in repr(public)
    assert library.ask("Who painted the Mona Lisa?").nearest == ()


def test_what_is_near_is_offered_when_a_model_finds_no_answer(tmp_path: Path) -> None:
    with ibid.open(tmp_path / "library", generator=lambda _: "NO ANSWER IN THE SOURCES") as library:
        library.sync(HANDBOOK)
        answer = library.ask("How long is parental leave?")
        assert answer.status is AnswerStatus.ABSTAINED
        assert answer.nearest[0].document_id == "leave.md"
        assert "Looked for: parental leave." in answer.text


@pytest.mark.parametrize(("abstain", "answered"), [("0", False), ("1", True)])
def test_the_threshold_is_a_setting(tmp_path: Path, abstain: str, answered: bool) -> None:
    settings = load_settings({"ask.abstain": float(abstain)})
    question = "How long is parental leave?" if not answered else "Who painted the Mona Lisa?"
    with ibid.open(tmp_path / "library", settings=settings) as library:
        assert library.ask(question).warnings == ("nothing was found",)
        library.sync(HANDBOOK)
        assert (library.ask(question).status is AnswerStatus.ANSWERED) == answered


def test_the_meaning_counts_only_where_its_scale_is_known(tmp_path: Path) -> None:
    """Another embedder's cosines say something else: then the terms alone decide."""
    with ibid.open(tmp_path / "library", embedder=HashingEmbedder()) as library:
        library.sync(HANDBOOK)
        assert library.ask("How long is parental leave?").status is AnswerStatus.ANSWERED
        answer = library.ask("Which wizard painted dragons?")
        assert answer.status is AnswerStatus.ABSTAINED
        assert "cosine" not in answer.warnings[0]


def test_a_search_by_words_embeds_nothing(library: ibid.Library) -> None:
    answer = library.ask("Which wizard painted dragons at the desk?", mode="lexical")
    assert answer.status is AnswerStatus.ABSTAINED
    assert "none of them speaks of wizard, painted, dragons" in answer.warnings[0]


# -- the words ------------------------------------------------------------------------------------


def test_at_least_fifteen_languages_say_it_in_their_own_words() -> None:
    assert len(WORDINGS) >= 15
    assert len({wording.nothing for wording in WORDINGS.values()}) == len(WORDINGS)
    for wording in WORDINGS.values():
        assert wording.looked_for.count("{}") == wording.nearest.count("{}") == 1


@pytest.mark.parametrize(
    ("question", "language", "terms"),
    [
        ("How long is parental leave on Mars?", "en", ["parental leave", "Mars"]),
        ("Wie hoch ist die Kaution für Fahrräder?", "de", ["Kaution", "Fahrräder"]),
        ("育児休暇はどのくらいですか？", "ja", ["育児休暇"]),
        ("公司的年假有几天？", "zh", ["公司", "年假"]),
        ("휴가는 며칠입니까?", "ko", ["휴가는 며칠입니까"]),
        ("What does E-2107 mean?", "en", ["E-2107"]),
        ("Mars? Mars!", "en", ["Mars"]),
        ("?", "en", []),
    ],
)
def test_key_terms_are_the_questions_own_words(
    question: str, language: str, terms: list[str]
) -> None:
    assert find_key_terms(question, language) == terms


@given(st.text(max_size=80), st.sampled_from([None, *WORDINGS]))
def test_key_terms_stand_in_the_question(question: str, language: str | None) -> None:
    terms = find_key_terms(question, language)
    assert len(terms) <= MOST_TERMS
    assert all(term in question for term in terms)
    text = write_abstention(question, language=language)
    assert text.splitlines()[0].startswith(WORDINGS[language or "en"].nothing)


def test_an_abstention_is_said_whole() -> None:
    nearest = [NearDocument("leave.md", "Leave"), NearDocument("b.txt", None)]
    assert write_abstention("How long is leave on Mars?", nearest, language="en") == (
        "The documents hold no answer to this question. Looked for: leave, Mars. "
        "Nearest documents: Leave (leave.md), b.txt."
    )
    assert write_abstention("火星の休暇は？", nearest[:1], language="ja") == (
        "文書にはこの質問への答えがありません。探した語：火星、休暇。"
        "最も近い文書：Leave (leave.md)。"
    )
    assert write_abstention("?", language="xx") == WORDINGS["en"].nothing
    assert write_abstention("?", language="nb") == WORDINGS["no"].nothing


def test_a_title_makes_no_link_and_no_second_line() -> None:
    title = "Read\nme ![x](http://evil.example)<b>\u202e\u200b"
    text = write_abstention("?", [NearDocument("a.md", title)], language="en")
    assert "\n" not in text
    assert "](" not in text
    assert not {"<", "\u202e", "\u200b"} & set(text)


def test_the_language_is_that_of_the_question(library: ibid.Library) -> None:
    answer = library.ask("Welche Fluggesellschaft gehört dem Unternehmen eigentlich?")
    assert answer.text.startswith(WORDINGS["de"].nothing)


def test_near_by_words_or_by_meaning() -> None:
    hits = [make_hit("x", f"d{n}.md", None) for n in range(5)]
    near = find_nearest(hits, [0.6, 0.1, 0.1, 0.5, 0.9], [0.1, 0.5, 0.2, 0.0, 0.0])
    assert [one.document_id for one in near] == ["d0.md", "d1.md", "d3.md"]
    assert find_nearest(hits[:2], [0.1, 0.6]) == (NearDocument("d1.md", None),)


def test_a_model_says_no_answer_in_the_words_it_was_given() -> None:
    assert says_no_answer("**No answer in the sources.**\n")
    assert not says_no_answer("There is no answer in the sources [1].")
