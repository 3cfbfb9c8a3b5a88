"""From a flow in a thread to events on the loop, and back: whoever stops listening stops it."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Executor
from contextlib import aclosing
from typing import Any, Final, TypeAlias

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from ibid.errors import IbidError
from ibid.service.failures import answer_error, describe_crash
from ibid.shapes import shape_error
from ibid.wire import Line, holding

_log = logging.getLogger("ibid.service")

Emit: TypeAlias = Callable[[str, Any], None]
Event: TypeAlias = tuple[str, Any]

EVENTS: Final[dict[str, Any]] = {"text/event-stream": {"schema": {"type": "string"}}}
"""How OpenAPI tells of a reply that may come as server-sent events."""

LOOK_SECONDS: Final = 0.5
"""How often it is looked whether a caller who waits in silence is still there."""


class Stopped(Exception):
    """Nobody listens any more; raised in the thread, it ends the flow and the model in it."""


async def stream_events(work: Callable[[Emit], None], threads: Executor) -> AsyncIterator[Event]:
    """The events that `work` emits in a thread, in order; an error is the last one, as itself.

    Closing the iterator has the next call of `emit` raise Stopped, and hangs up on the model that
    is waited for.
    """
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[Event | None] = asyncio.Queue()
    stopped, line = threading.Event(), Line()

    def put(event: Event | None) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(queue.put_nowait, event)

    def emit(name: str, data: Any) -> None:
        if stopped.is_set():
            raise Stopped
        put((name, data))

    def run() -> None:
        try:
            emit("start", None)  # which a caller who is gone by now never lets begin
            with holding(line):
                work(emit)
        except Stopped:
            pass
        except IbidError as error:
            put(("error", error))
        except Exception as error:  # noqa: BLE001 - the face: the loop waits for an end
            _log.exception("an answer broke")
            put(("error", error))
        finally:
            put(None)

    threads.submit(run)
    try:
        while (event := await queue.get()) is not None:
            if event[0] != "start":
                yield event
    finally:
        stopped.set()
        line.hang_up()


async def answer_last(
    request: Request, work: Callable[[Emit], None], threads: Executor
) -> tuple[str, Any] | None:
    """The last event of `work`; None where the caller hung up before it came."""
    last: Event | None = None
    async with aclosing(stream_events(work, threads)) as events:  # type: ignore[type-var]  # it is a generator
        while (event := await _await_event(request, events)) is not None:
            last = event
    return None if await request.is_disconnected() else last


async def _await_event(request: Request, events: AsyncIterator[Event]) -> Event | None:
    """The next event; None after the last one, and where the caller has left before it came."""
    coming = asyncio.ensure_future(anext(events, None))
    try:
        while not await request.is_disconnected():
            done, _ = await asyncio.wait({coming}, timeout=LOOK_SECONDS)
            if done:
                return coming.result()
        return None
    finally:  # also where the server ends: events that are waited for can't be closed
        coming.cancel()
        await asyncio.wait({coming})


async def stream_response(
    request: Request, events: AsyncIterator[Event], encode: Callable[[Event], str], *, end: str = ""
) -> Response:
    """The answer that streams events; one whose first event is an error is that error's answer."""
    first = await _await_event(request, events)
    if first is not None and first[0] == "error" and isinstance(first[1], IbidError):
        return answer_error(first[1])

    async def write() -> AsyncIterator[str]:
        async with aclosing(events):  # type: ignore[type-var]  # as above
            if first is not None:
                yield encode(first)
            async for event in events:
                yield encode(event)
            yield end

    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(write(), media_type="text/event-stream", headers=headers)


def encode_event(event: Event) -> str:
    """An event as server-sent events are written."""
    name, data = event
    if isinstance(data, IbidError):
        data = shape_error(data)
    elif isinstance(data, Exception):
        data = describe_crash()
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"
