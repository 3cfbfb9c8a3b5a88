"""The verb that asks questions which follow one another: chat."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import click

from ibid.cli.call import FOUND_NOTHING, Call, Outcome, Part, verb
from ibid.cli.proof import tell_sources
from ibid.cli.words import join_words
from ibid.errors import IbidError
from ibid.records import AnswerStatus
from ibid.shapes import shape_answer, shape_error

if TYPE_CHECKING:
    from ibid.flows.chat import Chat
    from ibid.shapes import Shape

NEW: Final = "/new"
QUIT: Final = "/quit"

_COMMAND: Final = re.compile(r"/[A-Za-z?]+")
"""A line that is one word after a slash; a path or a question about one is more."""


@verb
@click.option("--filter", metavar="EXPR", help="Such as: tag.department = 'hr'")
@click.option("--generator", metavar="NAME", help="What writes the answers.")
@click.option("--strict", is_flag=True, default=None, help="Leave out what no source supports.")
@click.option("--no-log", is_flag=True, help="Do not keep the answers.")
def chat_command(
    call: Call, filter: str | None, generator: str | None, strict: bool | None, no_log: bool
) -> Outcome:
    """Ask questions that follow one another.

    Each line of standard input is a question; it is asked in the light of those before. `/new`
    starts over, `/quit` or the end of the input ends. With --json the whole conversation is
    printed at its end.
    """
    flags = {"generator.name": generator, "answers.log": False if no_log else None}
    sends: tuple[Part, ...] = ("embedder", "reranker", "generator")
    with call.open_library(sends=sends, flags=flags) as library:
        chat = library.chat(call.principals, filter=filter, strict=strict)
        turns = [_take_turn(call, chat, question) for question in _read_questions(chat)]
    answered = any(turn.get("status") == AnswerStatus.ANSWERED for turn in turns)
    return Outcome({"turns": turns}, "", 0 if answered else FOUND_NOTHING)


def _read_questions(chat: Chat) -> Iterator[str]:
    """The questions of standard input, as they come."""
    asking = sys.stdin.isatty()
    while True:
        if asking:
            click.echo("? ", nl=False, err=True)
        line = sys.stdin.readline()
        question = line.strip()
        if not line or question == QUIT:
            return
        if question == NEW:
            chat.forget()
        elif _COMMAND.fullmatch(question):
            click.echo(f"{question} is no command; there are {NEW} and {QUIT}", err=True)
        elif question:
            yield question


def _take_turn(call: Call, chat: Chat, question: str) -> Shape:
    """One question, answered in words where these are asked for; an error ends only its turn."""
    try:
        answer = chat.ask(question)
    except IbidError as error:
        if not call.as_json:
            click.echo(f"Error: {error}", err=True)
        return {"question": question, **shape_error(error)}
    if not call.as_json:
        click.echo(join_words(answer.text, tell_sources(answer), by="\n\n") + "\n")
        for warning in answer.warnings:
            click.echo(f"note: {warning}", err=True)
    shape: dict[str, Any] = shape_answer(answer)
    return shape
