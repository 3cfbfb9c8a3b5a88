"""Verbs about answers that were given: answers, open, replay, feedback."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

import click

from ibid.cli.call import FOUND_NOTHING, Call, Outcome, verb
from ibid.cli.proof import tell_place, tell_sources
from ibid.cli.words import indent, join_words, make_table, shorten, tell_facts
from ibid.errors import BadQuery, UnknownAnswer
from ibid.records import AnswerStatus, CitedPlace, KeptAnswer
from ibid.shapes import (
    shape_answer,
    shape_cited_place,
    shape_entry,
    shape_kept,
    shape_principals,
    shape_time,
)

if TYPE_CHECKING:
    from ibid.library import Library

LAST: Final = "last"
"""Stands for the id of the newest answer that the caller sees."""

WITHHELD: Final = "withheld: it stands on documents that you may not see now, or that were erased"

_RATED = click.Choice(("good", "bad"))


@verb
@click.argument("id", metavar="[ANSWER]", required=False)
@click.option("-n", "most", type=click.IntRange(1), default=20, show_default=True, help="How many.")
@click.option("--rated", type=_RATED, help="Only those that were last rated so.")
def answers_command(
    call: Call, id: str | None, most: int, rated: Literal["good", "bad"] | None
) -> Outcome:
    """List the answers that were given, or show one.

    The newest come first. You see those that were asked by exactly the principals that you hold;
    `last` is the newest of them.
    """
    with call.open_library() as library:
        if id is not None:
            kept = _find(library, call, id)
            return Outcome(shape_kept(kept), _tell_kept(kept))
        found = library.answers(call.principals, most=most, rated=rated)
    words = make_table(
        (
            kept.answer.id,
            (shape_time(kept.asked_at) or "")[:16].replace("T", " "),
            kept.answer.status.value,
            f"version {kept.answer.version}",
            (kept.feedback[-1].good and "good") or "bad" if kept.feedback else "",
            shorten(kept.answer.question) or "(erased)",
        )
        for kept in found
    )
    return Outcome({"answers": [shape_entry(kept) for kept in found]}, words or "no answers")


@verb
@click.argument("id", metavar="ANSWER")
@click.argument("marker", metavar="[N]", type=click.IntRange(1), required=False)
@click.option("--browser", is_flag=True, help="Open the first document in the browser.")
def open_command(call: Call, id: str, marker: int | None, browser: bool) -> Outcome:
    """Show the places that an answer cites.

    Each with the text around it, as it was when the answer was given; N is the number in brackets.
    """
    with call.open_library() as library:
        kept = _find(library, call, id)
        places = library.cited(kept.answer.id, marker, call.principals)
    shape = {
        "answer_id": kept.answer.id,
        "question": kept.answer.question,
        "status": kept.answer.status.value,
        "places": [shape_cited_place(place) for place in places],
    }
    if not places:
        withheld = kept.answer.status is AnswerStatus.WITHHELD
        return Outcome(shape, WITHHELD if withheld else "it cites nothing", FOUND_NOTHING)
    if browser:
        _browse(places[0])
    return Outcome(shape, "\n\n".join(_tell_cited(place) for place in places))


@verb
@click.argument("id", metavar="ANSWER")
@click.option("--generator", metavar="NAME", help="What writes the answer this time.")
def replay_command(call: Call, id: str, generator: str | None) -> Outcome:
    """Answer again from what an answer was made of.

    That is its sources and its options; then it is told whether the answer is the same.
    """
    flags = {"generator.name": generator}
    with call.open_library(sends=("generator",), flags=flags) as library:
        answer, identical = library.replay(_find(library, call, id).answer.id, call.principals)
    shape = {**shape_answer(answer), "identical": identical}
    if answer.status is AnswerStatus.WITHHELD:
        return Outcome(shape, WITHHELD, FOUND_NOTHING)
    verdict = "identical to the answer that was given" if identical else "NOT the same answer"
    words = join_words(answer.text, tell_sources(answer), verdict, by="\n\n")
    code = 0 if answer.status is AnswerStatus.ANSWERED else FOUND_NOTHING
    return Outcome(shape, words, code, answer.warnings)


@verb
@click.argument("id", metavar="ANSWER")
@click.argument("rating", type=_RATED)
@click.option("--comment", default="", metavar="TEXT", help="Why.")
def feedback_command(call: Call, id: str, rating: Literal["good", "bad"], comment: str) -> Outcome:
    """Say whether an answer was good."""
    with call.open_library() as library:
        kept = _find(library, call, id)
        library.feedback(kept.answer.id, rating, comment, call.principals)
        kept = library.answer(kept.answer.id, call.principals)
    return Outcome(shape_entry(kept), f"answer {kept.answer.id} rated {rating}")


def _find(library: Library, call: Call, id: str) -> KeptAnswer:
    """The answer that is meant. Raises UnknownAnswer."""
    if id != LAST:
        return library.answer(id, call.principals)
    for kept in library.answers(call.principals, most=1):
        return kept
    raise UnknownAnswer("no answer is kept", hint="ask something, without --no-log")


def _tell_kept(kept: KeptAnswer) -> str:
    answer = kept.answer
    facts = tell_facts(
        {
            "answer": answer.id,
            "asked": shape_time(kept.asked_at),
            "by": ", ".join(shape_principals(answer.request.principals)),
            "question": answer.question,
            "asked as": answer.standalone,
            "status": answer.status.value,
            "version": str(answer.version),
            "generator": answer.generator,
            "settings": answer.settings_hash,
            "prompt": answer.prompt_hash,
        }
    )
    hits = make_table(
        (
            f"{hit.rank}.",
            hit.passage.id,
            f"score {hit.score:.4f}",
            ", ".join(f"{name} {given.rank}" for name, given in hit.contributions.items()),
        )
        for hit in answer.found
    )
    said = "\n".join(
        join_words("rated good" if one.good else "rated bad", one.comment, by=": ")
        for one in kept.feedback
    )
    withheld = answer.status is AnswerStatus.WITHHELD
    text = WITHHELD if withheld else answer.text
    return join_words(facts, text, tell_sources(answer), hits, said, by="\n\n")


def _tell_cited(place: CitedPlace) -> str:
    shown = f"{place.before}>>>{place.quote}<<<{place.after}"
    return join_words(tell_place(place.citation), place.source, indent(shown), by="\n")


def _browse(place: CitedPlace) -> None:
    """Open a document of this machine or the web, at its page. Raises BadQuery for any other."""
    url = place.citation.url or place.source or ""
    if not url.startswith(("file:", "http:", "https:")):
        raise BadQuery(
            f"{place.citation.document_id} has no address that a browser can open",
            hint="leave --browser out",
        )
    page = place.citation.page
    click.launch(f"{url}#page={page}" if page else url)
