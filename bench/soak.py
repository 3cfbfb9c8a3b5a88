"""What a library holds through thousands of steps, hundreds of kills and many readers.

    python bench/soak.py walk|kills|readers [--steps N] [--kills N] [--seconds S] [--seed N]

`walk`: steps at random (add, update, remove, purge, sync with edits and moves, access, vacuum,
re-index, a broken commit, reopening) beside a plain model; after each of them lists, documents,
searches in every mode and `verify` must agree with it (tests/library_walk.py). `kills`: sync,
update, vacuum, re-index, purge, repair, export and import, each in a process of its own that is
killed at a random moment of its work; then nothing committed is lost, nothing is half visible,
`verify` is clean, and the next run finishes (tests/library_kills.py). `readers`: eight processes
that search, list and read while one changes the library in all these ways
(tests/library_readers.py); no document may be partial, and no error but LibraryLocked may come.
`workers`: two workers take in the files of a sync, edition after edition, and are killed all the
while; each document is written once an edition, and `verify` is clean (tests/worker_kills.py).
Prints what was counted; the exit code is 1 at the first thing that does not hold.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from results import make_parser, save_results

sys.path.append(str(Path(__file__).parent.parent / "tests"))

READERS: Final = 8
STEPS_A_WALK: Final = 50


def main() -> int:
    """Run one part; 1 when something does not hold."""
    parser = make_parser(__doc__)
    parser.add_argument("part", choices=sorted(PARTS))
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--postgres", action="store_true", help="kills, readers: in PostgreSQL")
    parser.add_argument("--files", type=int, default=768, help="files of the workers' sync")
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    start = time.monotonic()
    figures = PARTS[options.part](options)
    figures["seconds"] = round(time.monotonic() - start)
    for name, value in figures.items():
        print(f"{name:12} {value}")
    save_results(options.save, {options.part: figures})
    return 1 if figures["faults"] else 0


def walk(options: Namespace) -> dict[str, Any]:
    """The steps taken, by kind; the first disagreement with the model is raised."""
    from hypothesis import HealthCheck, Phase, seed, settings
    from hypothesis.stateful import run_state_machine_as_test

    from library_walk import LibraryWalk

    taken: Counter[str] = Counter()

    class CountedWalk(LibraryWalk):
        checked = 0

        def check_invariants(self, settings: Any, output: Any, runtimes: Any) -> None:
            super().check_invariants(settings, output, runtimes)
            taken["steps"] += bool(self.checked)  # the first check comes before any step
            self.checked += 1

    walks = 0
    while taken["steps"] < options.steps:
        walks += 1
        seed(options.seed * 10_000 + walks)(CountedWalk)
        run_state_machine_as_test(
            CountedWalk,
            settings=settings(
                max_examples=10,
                stateful_step_count=STEPS_A_WALK,
                deadline=None,
                database=None,
                phases=[Phase.generate],
                suppress_health_check=list(HealthCheck),
            ),
        )
        print(f"{taken['steps']} steps", file=sys.stderr)
    return {**taken, "faults": []}


@contextmanager
def serve(root: Path, options: Namespace) -> Iterator[None]:
    """A server for the library of this root, where one is asked for."""
    if not options.postgres:
        yield
        return
    from library_kills import ADDRESS
    from postgres_server import start_server

    with start_server() as address:
        (root / ADDRESS).write_text(f"{address}&schema=soak")
        yield


def kills(options: Namespace) -> dict[str, Any]:
    """How often each verb was killed, and what was found of what it had begun."""
    from library_kills import VERBS, Kills

    with tempfile.TemporaryDirectory() as root, serve(Path(root), options):
        struck = Kills(Path(root), random.Random(options.seed))
        struck.prepare()
        while struck.hits.total() < options.kills:
            struck.strike(struck.chance.choice(sorted(VERBS)))
        return {
            "kills": struck.hits.total(),
            "verbs": dict(sorted(struck.hits.items())),
            "found": dict(struck.found),
            "faults": [],
        }


def readers(options: Namespace) -> dict[str, Any]:
    """What eight readers read while one wrote, and what was not whole."""
    from library_readers import run_readers

    with tempfile.TemporaryDirectory() as root, serve(Path(root), options):
        return run_readers(Path(root), readers=READERS, seconds=options.seconds)


def workers(options: Namespace) -> dict[str, Any]:
    """What workers took in while they were killed; the first thing that does not hold is raised."""
    from postgres_server import start_server
    from worker_kills import run_worker_kills

    with tempfile.TemporaryDirectory() as root, start_server() as address:
        return run_worker_kills(
            f"{address}&schema=soak",
            Path(root),
            files=options.files,
            kills=options.kills,
            seed=options.seed,
        )


PARTS: Final[dict[str, Callable[[Namespace], dict[str, Any]]]] = {
    "walk": walk,
    "kills": kills,
    "readers": readers,
    "workers": workers,
}


if __name__ == "__main__":
    sys.exit(main())
