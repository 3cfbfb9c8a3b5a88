"""Work that is done a few pieces at a time, ahead of who takes its results."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from ibid.errors import UnreadableDocument

GivenT = TypeVar("GivenT")
FoundT = TypeVar("FoundT")


def map_ahead(
    given: Iterable[GivenT], find: Callable[[GivenT], FoundT], *, most: int
) -> Generator[FoundT, None, None]:
    """What `find` gives for each, in order; at most so many are worked on or wait."""
    pending: deque[Future[FoundT]] = deque()
    with ThreadPoolExecutor(most, thread_name_prefix="ibid-fetching") as threads:
        try:
            for one in given:
                pending.append(threads.submit(find, one))
                if len(pending) >= most:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            for future in pending:
                future.cancel()


def refuse_size(size: int, max_bytes: int) -> UnreadableDocument | None:
    """The error of a file that is too large to be fetched, None for one that is not."""
    if size <= max_bytes:
        return None
    return UnreadableDocument(
        f"{size:,} bytes are over max_file_bytes ({max_bytes:,})",
        hint="raise that setting to have it read",
    )
