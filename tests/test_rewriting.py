"""Questions rewritten: follow-ups, parts and synonyms by rule, the rest by a model that a script
plays; the original stays in the mix, and what fails leaves it as it is."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ibid
from ibid.errors import MalformedOutput, ModelUnavailable
from ibid.flows.options import REWRITES_WEIGHT, RewriteOptions
from ibid.flows.rewrite import rewrite_query
from ibid.flows.rewriter import Rewriter
from ibid.ranking.follow_ups import is_follow_up, make_standalone
from ibid.ranking.parts import split_question
from ibid.ranking.rewriting import WORDINGS, Method, build_rewrite_prompt, parse_rewrites
from ibid.ranking.synonyms import parse_synonyms
from ibid.ranking.variants import Variant, name_run, reserve_places, share_weight
from ibid.records import Delta, Hit, Prompt, Query
from ibid.testing.embedders import HashingEmbedder
from ibid.testing.generators import ScriptedGenerator
from test_explain import make_hits

SAID: Final = ("What does a berth for sailing boats cost?", "It costs 40 crowns a night.")

DOCUMENTS: Final = [
    ibid.Document("berths", "A berth costs 40 crowns a night for sailing boats."),
    ibid.Document("motor", "Motor boats pay 60 crowns a night for a berth."),
    ibid.Document("cars", "Motor cars are parked behind the shed."),
    ibid.Document("tides", "High water is at noon on the first day of the moon."),
    ibid.Document("crane", "The crane lifts boats of up to nine tons."),
    ibid.Document("vessels", "A craft that leaks is moved to the dry dock."),
]

LANGUAGES: Final = {"en": 1}


# -- by rule ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("What about motor boats?", "en"),
        ("And in winter?", "en"),
        ("Does it leak?", "en"),
        ("Why?", "en"),
        ("yes", "en"),
        ("How long do they stay?", "en"),
        ("Und im Winter?", "de"),
        ("Was ist mit Motorbooten?", "de"),
        ("Et pour les bateaux à moteur ?", "fr"),
        ("¿Y en invierno?", "es"),
        ("А зимой?", "ru"),
        ("那冬天呢?", "zh"),
    ],
)
def test_what_leans_on_the_last_question_is_a_follow_up(question: str, language: str) -> None:
    assert is_follow_up(question, language)


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("How are you today?", "en"),
        ("What does a berth cost?", "en"),
        ("When is high water on Sunday?", "en"),
        ("Wie teuer ist ein Liegeplatz im Sommer?", "de"),
        ("Gibt es Duschen im Hafen?", "de"),
        ("Y a-t-il des douches au port ?", "fr"),
        ("Сколько стоит стоянка яхты?", "ru"),
        ("", "en"),
    ],
)
def test_what_stands_alone_is_passed_through(question: str, language: str) -> None:
    assert not is_follow_up(question, language)
    assert make_standalone(question, SAID, language) is None


def test_a_follow_up_carries_over_what_it_leaves_out() -> None:
    made = make_standalone("What about motor boats?", SAID, "en")
    assert made == "berth sailing cost What about motor boats?"
    assert make_standalone("What about motor boats?", (), "en") is None


def test_a_chain_of_follow_ups_keeps_its_subject() -> None:
    history = (*SAID, "What about motor boats?", "They pay 60 crowns.")
    made = make_standalone("And in winter?", history, "en")
    assert made is not None
    assert {"berth", "cost", "motor", "winter"} <= set(made.strip("?").split())
    history = (*SAID, "When is high water?", "At noon.")
    made = make_standalone("And tomorrow?", history, "en")
    assert made == "high water And tomorrow?"  # a new subject ends the chain


def test_a_yes_takes_up_what_was_asked_back() -> None:
    history = (SAID[0], "For one night. Do you mean the price for a whole month?")
    made = make_standalone("yes please", history, "en")
    assert made is not None
    assert {"berth", "month"} <= set(made.replace("?", "").split())


@pytest.mark.parametrize(
    ("question", "language", "parts"),
    [
        (
            "What is a berth and how long is the jetty?",
            "en",
            ("What is a berth", "how long is the jetty?"),
        ),
        ("Who pays, and when is it due?", "en", ("Who pays", "when is it due?")),
        ("What is a berth? Where is the crane?", "en", ("What is a berth?", "Where is the crane?")),
        ("Was kostet es und wie lange gilt es?", "de", ("Was kostet es", "wie lange gilt es?")),
        ("What do crane and jetty have in common?", "en", ()),
        ("What is high and low water?", "en", ()),
        ("Tell me about salt and pepper", "en", ()),
        ("", "en", ()),
    ],
)
def test_questions_of_two_parts_are_taken_apart(
    question: str, language: str, parts: tuple[str, ...]
) -> None:
    assert split_question(question, language) == parts


def test_synonyms_are_read_and_put_in() -> None:
    synonyms = parse_synonyms(
        "# words of the harbour\nship, vessel, craft\n\nPFD => life jacket  # and nothing back\n",
        "synonyms.txt",
    )
    assert synonyms.rewrite("Which ships leak?", "en") == "Which vessel craft leak?"
    assert synonyms.rewrite("Where is my PFD, please?", "en") == "Where is my life jacket, please?"
    assert synonyms.rewrite("Where is my life jacket?", "en") is None
    assert synonyms.rewrite("", "en") is None


@pytest.mark.parametrize("line", ["ship", "PFD =>", "=> jacket", "a b c d e f g, h"])
def test_a_bad_line_of_synonyms_is_named(line: str) -> None:
    with pytest.raises(ibid.BadSetting, match=r"words\.txt, line 2"):
        parse_synonyms(f"ship, vessel\n{line}\n", "words.txt")


@given(st.text(max_size=200), st.lists(st.text(max_size=80), max_size=6))
def test_no_text_breaks_a_rule(question: str, history: list[str]) -> None:
    for language in ("en", "de", "zh", None):
        make_standalone(question, history, language)
        split_question(question, language)
        parse_synonyms("ship, vessel", "x").rewrite(question, language)


# -- weights and places -------------------------------------------------------------------------


def test_rewrites_together_weigh_what_they_are_given() -> None:
    groups = [[Variant("a", "x"), Variant("b", "y")], [], [Variant("c", "z")]]
    shared = share_weight(groups, 0.5)
    assert [one.weight for one in shared] == [0.125, 0.125, 0.25]
    assert share_weight([[]], 0.5) == ()


def give(hit: Hit, label: str, share: float) -> Hit:
    """The hit with what a variant gave it."""
    (contribution,) = list(hit.contributions.values())[:1]
    given = {**hit.contributions, name_run("dense", label): replace(contribution, share=share)}
    return replace(hit, contributions=given)


def test_each_part_has_a_place_among_the_hits() -> None:
    hits = list(make_hits(8))
    hits[5], hits[7] = give(hits[5], "part 1", 0.1), give(hits[7], "part 2", 0.2)
    kept = reserve_places(hits, ["part 1", "part 2"], 4)
    ids = [hit.passage.id for hit in hits]
    assert [hit.passage.id for hit in kept[:4]] == [ids[0], ids[1], ids[5], ids[7]]
    assert sorted(hit.passage.id for hit in kept) == sorted(ids)
    assert kept[3].moves[-1].stage == "reserve"
    assert reserve_places(hits, [], 4) == tuple(hits)
    assert reserve_places(hits, ["part 1"], 9) == tuple(hits)


# -- by a model ---------------------------------------------------------------------------------


def make_rewriter(*replies: Any, timeout_s: float = 5.0) -> tuple[Rewriter, ScriptedGenerator]:
    generator = ScriptedGenerator(replies)
    return Rewriter(lambda: generator, timeout_s=timeout_s), generator


def rewrite(query: Query, *methods: Any, rewriter: Rewriter | None = None) -> Any:
    options = RewriteOptions(methods, by_model=rewriter is not None)
    return rewrite_query(query, options, languages=LANGUAGES, rewriter=rewriter)


def test_a_model_s_texts_stand_beside_the_question() -> None:
    rewriter, generator = make_rewriter(
        "What does a berth for motor boats cost?",
        "1. How much is a mooring?\n2. Price of a berth?\n3. Mooring fee?\n4. One too many?",
        '"A berth for motor boats costs 60 crowns a night."',
        "What does a harbour charge for?",
    )
    query = Query("What about motor boats?", history=SAID)
    made = rewrite(query, "follow-up", "paraphrases", "hyde", "step-back", rewriter=rewriter)
    assert made.standalone == made.question == "What does a berth for motor boats cost?"
    assert [one.label for one in made.variants] == [
        "",
        "follow-up",
        *(f"paraphrase {n}" for n in (1, 2, 3)),
        "hyde",
        "step-back",
    ]
    hyde = made.variants[5]
    assert (hyde.text, hyde.lexical) == ("A berth for motor boats costs 60 crowns a night.", False)
    others = made.variants[2:]
    assert math.fsum(one.weight for one in others) == pytest.approx(REWRITES_WEIGHT)
    assert "40 crowns" in generator.prompts[0].messages[1].content
    assert "40 crowns" not in generator.prompts[1].messages[1].content
    assert all(step.data["calls"] == 1 and step.data["milliseconds"] > 0 for step in made.steps)
    assert all(step.data["prompt_tokens"] > 0 for step in made.steps)


def test_the_same_rewrite_is_asked_for_once_by_each_caller() -> None:
    rewriter, generator = make_rewriter("A?\nB?", "A?\nB?", "C?\nD?")
    query = Query("What is a berth and a jetty?")
    first = rewrite(query, "decompose", rewriter=rewriter)
    again = rewrite(query, "decompose", rewriter=rewriter)
    assert again.variants == first.variants
    assert again.steps[0].data["calls"] == 0
    rewrite(replace(query, principals=frozenset({"user:ann"})), "decompose", rewriter=rewriter)
    rewrite(replace(query, text="Another one?"), "decompose", rewriter=rewriter)
    assert len(generator.prompts) == 3


def test_what_is_kept_is_bounded() -> None:
    generator = ScriptedGenerator(lambda prompt: f"More on {prompt.question}")
    rewriter = Rewriter(lambda: generator, timeout_s=5, kept=2)
    for text in ("a?", "b?", "c?", "c?", "a?"):
        rewrite(Query(text), "step-back", rewriter=rewriter)
    assert len(generator.prompts) == 4


@pytest.mark.parametrize("reply", [ModelUnavailable("gone"), "", "```\n```", "x" * 5000, "Here:"])
def test_a_model_that_fails_leaves_the_question_as_it_is(reply: Any) -> None:
    rewriter, generator = make_rewriter(reply, "Moored how?")
    query = Query("How is a boat moored?")
    made = rewrite(query, "paraphrases", rewriter=rewriter)
    assert [one.text for one in made.variants] == [query.text]
    (warning,) = made.warnings
    assert warning.startswith("the question was not rewritten")
    assert rewrite(query, "paraphrases", rewriter=rewriter).warnings == ()  # nothing bad is kept
    assert len(generator.prompts) == 2


class Sleeper:
    """A model that gives nothing until it is woken."""

    name = "sleeper"
    remote = None

    def __init__(self) -> None:
        self.woken = threading.Event()

    def generate(self, prompt: Prompt) -> Iterator[Delta]:
        """One piece, once woken."""
        self.woken.wait(30)
        yield Delta("late")


def test_a_model_that_does_not_reply_is_not_waited_for() -> None:
    sleeper = Sleeper()
    rewriter = Rewriter(lambda: sleeper, timeout_s=0.05)
    made = rewrite(Query("How is a boat moored?"), "hyde", rewriter=rewriter)
    sleeper.woken.set()
    assert len(made.variants) == 1
    assert "no reply within 0.05 s" in made.warnings[0]


@pytest.mark.parametrize(
    ("reply", "texts"),
    [
        ("- One?\n* Two?\n3) Three?", ("One?", "Two?", "Three?")),
        ("Here are some:\n“One?”\n\nTwo?", ("One?", "Two?")),
        ("<think>One? Two?</think>\nThree?", ("Three?",)),
        ("The question?\nthe QUESTION?", ()),
        ("Question 1: One?\nQuestion 2: One?", ("One?",)),
    ],
)
def test_replies_are_read_in_the_forms_that_models_write(
    reply: str, texts: tuple[str, ...]
) -> None:
    assert parse_rewrites("paraphrases", reply, "The question?") == texts


@given(st.text(max_size=400))
def test_any_reply_is_read_or_refused(reply: str) -> None:
    for method in WORDINGS:
        try:
            texts = parse_rewrites(method, reply, "q")
        except MalformedOutput:
            continue
        assert all(text and "\n" not in text for text in texts)


def test_a_prompt_sends_the_last_turns_and_no_more() -> None:
    history = tuple(f"turn {n} " + "x" * 5000 for n in range(20))
    prompt = build_rewrite_prompt("follow-up", "And then?", history)
    said = prompt.messages[1].content
    assert "turn 19" in said
    assert "turn 13" not in said
    assert len(said) < 10_000


# -- in a search --------------------------------------------------------------------------------


@pytest.fixture
def harbour(library: ibid.Library) -> ibid.Library:
    library.ingest(DOCUMENTS)
    return library


def test_a_follow_up_finds_what_it_means(harbour: ibid.Library) -> None:
    query = Query("What about motor boats?", history=SAID)
    alone = harbour.run_search(query, mode="lexical", rewrite=RewriteOptions(()))
    found = harbour.run_search(query, mode="lexical")
    assert found.standalone == "berth sailing cost What about motor boats?"
    assert {hit.document_id for hit in found.hits[:2]} == {"motor", "berths"}
    assert "berths" not in {hit.document_id for hit in alone.hits[:2]}
    assert alone.standalone is None
    (step,) = (step for step in found.trace if step.stage == "rewrite")
    assert step.data["texts"] == [found.standalone]


def test_the_original_outweighs_a_rewrite_that_drifts(harbour: ibid.Library) -> None:
    """What the question finds first stays first, whatever a model makes of it."""
    generator = ScriptedGenerator(lambda prompt: "Where are motor cars parked?")
    rewriter = Rewriter(lambda: generator, timeout_s=5)
    methods: tuple[Method, ...] = ("paraphrases", "hyde", "step-back")
    query = Query("When is high water?")
    drifted = harbour.run_search(
        query, rewrite=RewriteOptions(methods, by_model=True), rewriter=rewriter, graph=False
    )
    plain = harbour.run_search(query, graph=False)
    assert drifted.hits[0].document_id == plain.hits[0].document_id == "tides"
    assert {"lexical", "dense"} <= set(drifted.hits[0].contributions)
    for hit in drifted.hits:
        assert hit.score == pytest.approx(sum(c.share for c in hit.contributions.values()))


def test_both_parts_of_a_question_are_among_the_sources(harbour: ibid.Library) -> None:
    query = Query(
        "When is high water on the first day of the moon, and how much does a crane lift?"
    )
    options = RewriteOptions(("decompose",))
    found = harbour.run_search(query, k=2, rewrite=options)
    assert {hit.document_id for hit in found.hits} == {"tides", "crane"}


def test_a_file_of_synonyms_is_the_library_s(tmp_path: Path) -> None:
    place = tmp_path / "library"
    place.mkdir()
    (place / "words.txt").write_text("vessel, craft\n")
    (place / "config.toml").write_text('rewrite.synonyms = "words.txt"\n')
    with ibid.open(place, embedder=HashingEmbedder()) as library:
        library.ingest(DOCUMENTS)
        assert library.search("Which vessels leak?", mode="lexical")[0].document_id == "vessels"
        (hit,) = library.search("vessels", mode="lexical")
        assert [*hit.contributions] == ["lexical: synonyms"]
    (place / "words.txt").write_text("vessel\n")
    with pytest.raises(ibid.BadSetting, match="line 1"):
        ibid.open(place, embedder=HashingEmbedder())
    (place / "words.txt").unlink()
    with pytest.raises(ibid.BadSetting, match=r"words\.txt"):
        ibid.open(place, embedder=HashingEmbedder())


def test_what_has_no_rule_is_refused_by_rules(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('rewrite.methods = "follow-up, hyde"\n')
    with pytest.raises(ibid.BadSetting, match="names hyde"):
        ibid.open(tmp_path, embedder=HashingEmbedder())
    for wrong in ("follow-up, follow-up", "hide", ""):
        (tmp_path / "config.toml").write_text(f'rewrite.methods = "{wrong}"\n')
        with pytest.raises(ibid.BadSetting, match=r"rewrite\.methods"):
            ibid.open(tmp_path, embedder=HashingEmbedder())
    (tmp_path / "config.toml").write_text('rewrite.methods = "nothing"\n')
    with ibid.open(tmp_path, embedder=HashingEmbedder()) as library:
        library.ingest(DOCUMENTS)
        assert library.run_search(Query("And in winter?", history=SAID)).standalone is None


def test_a_model_is_needed_where_one_is_asked_for(harbour: ibid.Library, tmp_path: Path) -> None:
    with pytest.raises(ibid.BadSetting, match="language model"):
        harbour.run_search(Query("q"), rewrite=RewriteOptions(("hyde",), by_model=True))
    place = tmp_path / "other"
    place.mkdir()
    (place / "config.toml").write_text('rewrite.by = "model"\n')
    with pytest.raises(ibid.BadSetting, match="extractive"):
        ibid.open(place, embedder=HashingEmbedder())
    generator = ScriptedGenerator(["A fee for motor boats?"])
    with ibid.open(place, embedder=HashingEmbedder(), generator=generator) as library:
        library.ingest(DOCUMENTS)
        found = library.run_search(Query("And motor boats?", history=SAID))
        assert found.standalone == "A fee for motor boats?"


def test_an_answer_to_a_follow_up_is_the_same_again(harbour: ibid.Library) -> None:
    chat = harbour.chat()
    chat.ask(SAID[0])
    answer = chat.ask("What about motor boats?")
    assert answer.status is ibid.AnswerStatus.ANSWERED
    assert "motor" in {hit.document_id for hit in answer.sources[:2]}
    again, identical = harbour.replay(answer.id)
    assert (again.text, identical) == (answer.text, True)
