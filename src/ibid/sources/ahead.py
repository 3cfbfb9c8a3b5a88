"""Files that are fetched a few at a time, ahead of who reads them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor

from ibid.errors import UnreadableDocument
from ibid.protocols import Fetched, SourceFile


def fetch_ahead(
    files: Iterable[SourceFile], bring: Callable[[SourceFile], Fetched], *, most: int
) -> Generator[Fetched, None, None]:
    """What `bring` gives for each file, in order; at most so many are brought or wait."""
    pending: deque[Future[Fetched]] = deque()
    with ThreadPoolExecutor(most, thread_name_prefix="ibid-fetching") as threads:
        try:
            for file in files:
                pending.append(threads.submit(bring, file))
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
