"""What the replies of all language models share: events, thoughts, ends, and their errors."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final, NoReturn

from ibid.errors import MalformedOutput, ModelUnavailable
from ibid.records import JSON, Delta
from ibid.wire import Refused, Wire

CHARACTERS_PER_TOKEN: Final = 16
"""No model writes more in a token, save blanks: what is longer has gone on beyond its limit."""

CUT: Final = (
    "the answer reached its limit of {tokens:,} tokens and was cut: raise generator.output_tokens"
)
OVERRUN: Final = (
    "the model went on beyond its limit of {tokens:,} tokens and was stopped: "
    "the answer may be incomplete"
)

MOST_TOKENS: Final = 100_000_000
"""Tokens of one call: no model's window is near it."""

BAD_REQUEST: Final = frozenset({400, 422})

_OPENS, _CLOSES = "<think>", "</think>"


def stream_reply(
    wire: Wire,
    path: str,
    build: Callable[[], Mapping[str, JSON]],
    *,
    dispensable: Iterable[str],
    refused: set[str],
) -> Generator[str, None, None]:
    """The events of a reply; a field that the endpoint refuses by its name is given up.

    Its name is then added to `refused`, which `build` leaves out of the request, so that each of
    the `dispensable` ones costs one request at most. Raises what the wire does.
    """
    while True:
        body = build()
        try:
            yield from wire.stream(path, body)
            return
        except Refused as error:
            named = [name for name in dispensable if name in body and name in error.message]
            if error.status not in BAD_REQUEST or not named:
                raise
            refused.add(named[0])


def parse_event(event: str, wire: Wire) -> dict[str, JSON]:
    """The object of one event. Raises MalformedOutput, or ModelUnavailable for a told error."""
    try:
        parsed = json.loads(event)
    except ValueError as error:
        raise _describe_malformed(event, wire) from error
    if not isinstance(parsed, dict):
        raise _describe_malformed(event, wire)
    if told := parsed.get("error"):
        message = told.get("message", told) if isinstance(told, dict) else told
        raise ModelUnavailable(
            f"{wire.origin} stopped with an error: {wire.hide_key(str(message))}",
            hint="look at the log of the server",
        )
    return parsed


def _describe_malformed(event: str, wire: Wire) -> MalformedOutput:
    shown = wire.hide_key(event)[:100]
    return MalformedOutput(
        f"{wire.origin} answered with what is no reply of a chat model: {shown!r}",
        hint="look whether the address is that of a chat model",
    )


def read_counts(usage: JSON, prompt: str, completion: str) -> Delta:
    """The numbers of tokens that a reply tells under these names, as `read_count` believes them."""
    told = usage if isinstance(usage, dict) else {}
    sent, written = (read_count(told.get(name)) for name in (prompt, completion))
    return Delta(prompt_tokens=sent, completion_tokens=written)


def read_count(told: JSON) -> int:
    """A number of tokens; 0 for what no call can take, which would be written down as spent."""
    if isinstance(told, bool) or not isinstance(told, int):
        return 0
    return told if 0 <= told <= MOST_TOKENS else 0


def refuse_ending(origin: str, reason: str) -> NoReturn:
    """Raise MalformedOutput for an answer that ended in a way that leaves nothing to show."""
    raise MalformedOutput(
        f"{origin}: {reason}", hint="ask again, or use another model or a larger limit"
    )


def finish_reply(deltas: Iterable[Delta], *, origin: str, output_tokens: int) -> Iterator[Delta]:
    """The deltas without thoughts, stopped where they go on beyond the limit of the answer.

    Raises MalformedOutput when nothing was written at all.
    """
    written = False
    allowed = output_tokens * CHARACTERS_PER_TOKEN
    for delta in _skip_thoughts(deltas):
        allowed -= len(delta.text)
        written = written or bool(delta.text.strip())
        yield delta
        if allowed < 0:
            yield Delta(warning=OVERRUN.format(tokens=output_tokens))
            break
    if not written:
        refuse_ending(origin, "the answer is empty")


def _skip_thoughts(deltas: Iterable[Delta]) -> Iterator[Delta]:
    """The deltas without the thoughts that some models write before the answer, between tags.

    Text is held back only as long as it may be an opening tag.
    """
    read: Callable[[str], str | None] | None = None
    held = ""
    for delta in deltas:
        held += delta.text
        if read is None:
            read = _choose_reader(held)
        ready = None if read is None else read(held)
        if ready is None:
            if read is _read_after_thoughts:  # which may be long, and only their end counts
                held = held[-len(_CLOSES) :]
            if delta != Delta(delta.text):
                yield replace(delta, text="")
            continue
        held, read = "", _pass
        if replace(delta, text=ready) != Delta():
            yield replace(delta, text=ready)
    if held and read is not _read_after_thoughts:
        yield Delta(held)


def _choose_reader(text: str) -> Callable[[str], str | None] | None:
    """How a text that begins so is read on; None while that can't be told."""
    start = text.lstrip()
    if start.startswith(_OPENS):
        return _read_after_thoughts
    return None if _OPENS.startswith(start) else _pass


def _pass(text: str) -> str:
    return text


def _read_after_thoughts(text: str) -> str | None:
    _, closed, rest = text.partition(_CLOSES)
    return rest.lstrip() if closed else None
