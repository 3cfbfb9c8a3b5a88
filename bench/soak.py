"""What a library holds through thousands of steps, hundreds of kills and many readers.

    python bench/soak.py walk|kills|readers|workers|load [--steps N] [--kills N] [--seconds S] …

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
`load`: a service of 10,000 passages with 50 callers who ask and 200 who search, while one
writes; no request may fail and no document be partial (tests/service_load.py). Its `work` is what
was answered in a second, in seconds that the same searches and questions take through the Python
API in one process. Prints what was counted; the exit code is 1 at the first thing that does not
hold.
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
PASSAGES: Final = 10_000
ASKERS: Final = 50
SEARCHERS: Final = 200


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


def load(options: Namespace) -> dict[str, Any]:
    """How much a service answered, beside the library without it, and what it took of memory."""
    from service_load import fill_place, run_load, time_library

    with tempfile.TemporaryDirectory() as root:
        place = Path(root) / "library"
        documents = fill_place(place, PASSAGES)
        alone = time_library(place, documents, seconds=min(options.seconds / 4, 20))
        told = run_load(
            place, documents, askers=ASKERS, searchers=SEARCHERS, seconds=options.seconds
        )
    means = {kind: sum(spent) / len(spent) for kind, spent in alone.items()}
    work = sum(told.count(kind) * mean for kind, mean in means.items()) / told.lasted
    half = told.megabytes[len(told.megabytes) // 4 :]
    return {
        "counts": {kind: len(spent) for kind, spent in told.seconds.items()},
        "a second": {kind: round(told.count(kind) / told.lasted, 1) for kind in told.seconds},
        "p95 ms": {kind: round(1000 * told.find_late(kind)) for kind in told.seconds},
        "alone ms": {kind: round(1000 * mean, 2) for kind, mean in means.items()},
        "work": round(work, 2),
        "MB": {"after a quarter": round(half[0]), "at the end": round(half[-1])},
        "faults": told.faults[:20],
    }


PARTS: Final[dict[str, Callable[[Namespace], dict[str, Any]]]] = {
    "walk": walk,
    "kills": kills,
    "readers": readers,
    "workers": workers,
    "load": load,
}


if __name__ == "__main__":
    sys.exit(main())
