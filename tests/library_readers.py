"""Several processes that read one library while another one changes it in every way there is."""

from __future__ import annotations

import multiprocessing
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any, Final

import ibid
from library_kills import open_place
from whole_pages import MODES, check_whole_document, count_editions, page, read_page, search_all

KEPT: Final = 12
"""Pages that are there at every moment, in one edition or another."""

_PROCESSES: Final = multiprocessing.get_context("forkserver")


def name_kept(number: int) -> str:
    return f"kept-{number}"


def run_readers(root: Path, *, readers: int, seconds: float) -> dict[str, Any]:
    """What so many readers and one writer did in that time, counted, and what went wrong."""
    _PROCESSES.set_forkserver_preload(["library_readers", "faiss", "tantivy"])
    (root / "folder").mkdir()
    with open_place(root) as library:
        library.update([read_page(name_kept(number), 0) for number in range(KEPT)])
    stop, told = _PROCESSES.Event(), _PROCESSES.SimpleQueue()
    tasks = [(_read, seed) for seed in range(readers)] + [(_write, readers)]
    children = [
        _PROCESSES.Process(target=_repeat, args=(task, root, seed, stop, told))
        for task, seed in tasks
    ]
    for child in children:
        child.start()
    time.sleep(seconds)
    stop.set()
    totals: Counter[str] = Counter()
    faults: list[str] = []
    for _ in children:
        counts, wrong = told.get()
        totals.update(counts)
        faults += wrong
    for child in children:
        child.join()
    with open_place(root) as library:
        faults += [str(problem) for problem in library.verify()]
        version = library.status().version
    return {"counts": dict(totals), "version": version, "faults": faults}


Step = Callable[[ibid.Library, Path, random.Random], Iterator[str]]


def _repeat(task: Step, root: Path, seed: int, stop: Event, told: Any) -> None:
    """Take the steps of a task until all shall stop; a fault is kept, and the next step comes."""
    counts: Counter[str] = Counter()
    faults: list[str] = []
    chance = random.Random(seed)
    with open_place(root) as library:
        steps = task(library, root, chance)
        while not stop.is_set():
            try:
                counts[next(steps)] += 1
            except ibid.LibraryLocked:
                counts["locked"] += 1
                steps = task(library, root, chance)
            except Exception as error:  # noqa: BLE001 - whatever goes wrong is looked for
                faults.append(f"{task.__name__}: {type(error).__name__}: {error}"[:500])
                steps = task(library, root, chance)
    told.put((counts, faults))


def _read(library: ibid.Library, root: Path, chance: random.Random) -> Iterator[str]:
    """Searches, lists and documents; each must be whole."""
    kept = {name_kept(number) for number in range(KEPT)}
    while True:
        found = count_editions(search_all(library, chance.choice(MODES)))
        assert found.keys() >= kept, f"missing: {sorted(kept - found.keys())}"
        yield "searches"
        ids = {info.id for info in library.documents(ibid.OWNER)}
        assert ids >= kept, f"missing: {sorted(kept - ids)}"
        yield "lists"
        check_whole_document(library, chance.choice(sorted(kept)))
        yield "documents"


def _write(library: ibid.Library, root: Path, chance: random.Random) -> Iterator[str]:
    """Every kind of change, one after the other."""
    folder = root / "folder"
    for edition in count(int(time.time()) % 10_000_000):
        library.update([read_page(name_kept(number), edition) for number in range(KEPT)])
        yield "updates"
        for number in range(4):
            file = folder / f"{number}.md"
            file.unlink(missing_ok=True)
            if chance.random() < 0.8:
                file.write_text(page(file.name, edition))
        library.sync(folder, allow_emptying=True)
        yield "syncs"
        library.update(read_page("passing", edition))
        library.remove("passing", purge=True)
        yield "purges"
        yield from _keep_up(library, edition)


def _keep_up(library: ibid.Library, edition: int) -> Iterator[str]:
    """A vacuum or a re-index, in turns."""
    if edition % 2:
        library.vacuum(0)
        yield "vacuums"
    else:
        library.reindex()
        yield "reindexes"
