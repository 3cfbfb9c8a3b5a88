"""The verb of workers, and the workers that a sync starts beside itself."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import click

from ibid.cli.call import Call, Outcome, Part, verb
from ibid.cli.words import count_words
from ibid.errors import LibraryError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ibid.library import Library

_SENDS: Final[Sequence[Part]] = ("embedder", "contextualizer")
STOP_SECONDS: Final = 60.0
"""How long a worker that is told to end may take over the file that it is at."""


@verb
@click.option("--drain", is_flag=True, help="End when no file waits.")
def worker_command(call: Call, drain: bool) -> Outcome:
    """Take in the files that a sync hands out.

    Any number of workers may run, on any machine that reaches the library's database; files come
    with the queue. At SIGTERM or Ctrl-C a worker ends with the file that it is at.
    """
    with call.open_library(sends=_SENDS) as library:
        taken = library.work(drain=drain)
    return Outcome({"taken": taken}, f"{count_words(taken, 'file')} taken in")


@contextmanager
def starting_workers(call: Call, library: Library, count: int) -> Iterator[Callable[[], None]]:
    """So many workers for a `with`, and what tells whether any is left while a sync waits."""
    others = library.count_workers()
    if not count and not others:
        click.echo("no worker is running yet: start one with `ibid worker`", err=True)
    # The address may hold a password, which a command line would show to all.
    environ = {**os.environ, "IBID_LIBRARY": call.find_library()}
    command = [sys.executable, "-m", "ibid", "worker", "--json"]
    workers = [
        subprocess.Popen(command, env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        for _ in range(count)
    ]

    def check() -> None:
        ended = all(worker.poll() is not None for worker in workers)
        if workers and ended and not library.count_workers():
            raise LibraryError(
                f"all {count} workers have ended", hint="what they said stands above; sync again"
            )

    try:
        yield check
    finally:
        for worker in workers:
            worker.terminate()
        for worker in workers:
            _await_end(worker)


def _await_end(worker: subprocess.Popen[bytes]) -> None:
    try:
        worker.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        worker.kill()
        worker.wait()
