"""Verbs killed at random moments, each in a process of its own, and what must hold after a kill."""

from __future__ import annotations

import multiprocessing
import random
import shutil
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final

import ibid
from ibid.flows import transfer
from ibid.openers import open_library
from ibid.settings import load_settings
from ibid.testing.embedders import HashingEmbedder
from whole_pages import check_whole, page, read_page

FOLDER_FILES: Final = 12
OTHER_PAGES: Final = 6
ADDRESS: Final = "address"

_PROCESSES: Final = multiprocessing.get_context("forkserver")

Editions = dict[str, int]
"""The edition of each document by its id."""


@dataclass(frozen=True, slots=True)
class Job:
    """What a child is to do: a verb, where everything lies, and the edition it writes."""

    verb: str
    root: Path
    edition: int


def name_file(number: int) -> str:
    return f"{number:02}.md"


def name_page(number: int) -> str:
    return f"page-{number}"


def name_import(number: int) -> str:
    return f"taken-{number}"


def find_place(root: Path) -> str:
    """Where the library of a root lies: at the address in a file there, else in a folder."""
    file = root / ADDRESS
    return file.read_text() if file.exists() else str(root / "library")


def open_place(root: Path, *, size: int | None = None) -> ibid.Library:
    """The library of a root; every document is a commit of its own."""
    place = find_place(root)
    said = {"ingest.batch": 1} | ({} if size is None else {"chunking.size": size})
    return open_library(
        place,
        embedder=HashingEmbedder(dimension=64),
        settings=load_settings(said, library=place),
        reindexing=size is not None,
    )


# -- in the child ---------------------------------------------------------------------------------


def work(job: Job, pipe: Connection) -> None:
    """Open the library, say so, do the verb, and tell of each commit and of the end."""
    size = 180 + job.edition % 2 * 20 if job.verb == "reindex" else None
    library = open_place(job.root, size=size)
    pipe.send(("open", 0))
    VERBS[job.verb].run(library, job, lambda done: pipe.send(("done", done)))
    pipe.send(("end", 0))
    library.close()


def _sync(library: ibid.Library, job: Job, tell: Callable[[int], None]) -> None:
    library.sync(
        job.root / "folder", allow_emptying=True, on_progress=lambda progress: tell(progress.done)
    )


def _update(library: ibid.Library, job: Job, tell: Callable[[int], None]) -> None:
    names = [name_page(number) for number in range(OTHER_PAGES)]
    library.update([read_page(name, job.edition) for name in names])


def _vacuum(library: ibid.Library, job: Job, tell: Callable[[int], None]) -> None:
    library.vacuum(0)


def _reindex(library: ibid.Library, job: Job, tell: Callable[[int], None]) -> None:
    library.reindex()


def _purge(library: ibid.Library, job: Job, tell: Callable[[int], None]) -> None:
    library.remove(name_page(job.edition % OTHER_PAGES), purge=True)


def _repair(library: ibid.Library, job: Job, tell: Callable[[int], None]) -> None:
    library._parts.index.repair(lambda texts: HashingEmbedder(64).embed(texts, kind="passage"))


def _export(library: ibid.Library, job: Job, tell: Callable[[int], None]) -> None:
    library.export(job.root / f"copy-{job.edition}.ibid.zip")


def _import(library: ibid.Library, job: Job, tell: Callable[[int], None]) -> None:
    transfer.BATCH = 1  # type: ignore[misc]  # every document is a commit of its own
    library.import_file(job.root / "copy-in.zip")


# -- what is expected -----------------------------------------------------------------------------


def _after_sync(before: Editions, job: Job) -> Editions:
    others = {id: edition for id, edition in before.items() if not id.endswith(".md")}
    names = [name_file(number) for number in range(FOLDER_FILES)]
    return others | {name: job.edition for name in names if (job.root / "folder" / name).exists()}


def _after_update(before: Editions, job: Job) -> Editions:
    return before | {name_page(number): job.edition for number in range(OTHER_PAGES)}


def _after_purge(before: Editions, job: Job) -> Editions:
    gone = name_page(job.edition % OTHER_PAGES)
    return {id: edition for id, edition in before.items() if id != gone}


def _after_import(before: Editions, job: Job) -> Editions:
    return before | {name_import(number): job.edition for number in range(OTHER_PAGES)}


def _unchanged(before: Editions, job: Job) -> Editions:
    return before


@dataclass(frozen=True, slots=True)
class Verb:
    """What a child runs, what the library holds after it, and whether it is one version."""

    run: Callable[[ibid.Library, Job, Callable[[int], None]], None]
    after: Callable[[Editions, Job], Editions] = _unchanged
    whole: bool = True


VERBS: Final = {
    "sync": Verb(_sync, _after_sync, whole=False),
    "update": Verb(_update, _after_update),
    "vacuum": Verb(_vacuum),
    "reindex": Verb(_reindex),
    "purge": Verb(_purge, _after_purge),
    "repair": Verb(_repair),
    "export": Verb(_export),
    "import": Verb(_import, _after_import, whole=False),
}


# -- in the parent --------------------------------------------------------------------------------


def check_erased(place: Path, name: str) -> None:
    """Nothing of a page's text is left in any file; a library in a database has none."""
    for file in place.rglob("*"):
        assert file.is_dir() or f"of {name}.".encode() not in file.read_bytes(), file


@dataclass
class Kills:
    """A library that is struck again and again in these verbs, or in all; `hits` count by verb."""

    root: Path
    chance: random.Random
    verbs: Sequence[str] = ()
    hits: Counter[str] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)
    spans: dict[str, float] = field(default_factory=dict)
    edition: int = 0

    def prepare(self) -> None:
        """Fill the library, and see how long each verb takes when it is let be."""
        _PROCESSES.set_forkserver_preload(["library_kills", "faiss", "tantivy"])
        (self.root / "folder").mkdir()
        self.verbs = self.verbs or tuple(VERBS)
        for verb in ("sync", "update", *self.verbs):
            self.strike(verb, kill=False)

    def strike(self, verb: str, *, kill: bool = True) -> None:
        """Run a verb, kill it at a random moment, check what is there, and let it finish."""
        self.edition += 1
        job = Job(verb, self.root, self.edition)
        before = self._read()
        self._make_ready(job, before)
        before = self._read()
        after = VERBS[verb].after(before, job)
        done, ended = self._run(job, kill=kill)
        state = self._read()
        if VERBS[verb].whole:
            assert state in (before, after), (verb, before, state)
            assert not ended or state == after
        for id in before.keys() | after.keys():
            assert state.get(id) in (before.get(id), after.get(id)), (verb, id)
        written = [id for id in sorted(after) if after[id] == job.edition]
        assert all(state[id] == job.edition for id in written[:done]), (verb, done)
        if kill and not ended:
            self.hits[verb] += 1
            self.found["old" if state == before else "new" if state == after else "partly"] += 1
            if state != after or VERBS[verb].after is _unchanged:
                self._run(job, kill=False)  # the next run finishes
        assert self._read() == after
        if verb == "purge":
            check_erased(self.root / "library", name_page(job.edition % OTHER_PAGES))

    def _make_ready(self, job: Job, before: Editions) -> None:
        """What the verb needs to have something to do: other files, or a page to purge."""
        if job.verb == "sync":
            for number in range(FOLDER_FILES):
                file = self.root / "folder" / name_file(number)
                file.unlink(missing_ok=True)
                if self.chance.random() < 0.9:
                    file.write_text(page(file.name, job.edition))
        name = name_page(job.edition % OTHER_PAGES)
        if job.verb == "purge" and name not in before:
            with open_place(self.root) as library:
                library.update(read_page(name, 0))
        for copy in self.root.glob("copy-*"):
            copy.unlink()
        if job.verb == "import":
            self._export_others(job, before)

    def _export_others(self, job: Job, before: Editions) -> None:
        """A file with pages that the library does not hold, cut as it cuts them."""
        names = [name_import(number) for number in range(OTHER_PAGES)]
        with open_place(self.root) as library:
            if held := [name for name in names if name in before]:
                library.remove(*held)
            made = library._parts.index.manifest
        assert made is not None
        size = int(made.chunking.split("/")[1])
        shutil.rmtree(self.root / "other", ignore_errors=True)
        (self.root / "other").mkdir()
        with open_place(self.root / "other", size=size) as other:
            other.ingest([read_page(name, job.edition) for name in names])
            other.export(self.root / "copy-in.zip")

    def _run(self, job: Job, *, kill: bool) -> tuple[int, bool]:
        """How much of it the child told to be done, and whether it told of its end."""
        ours, theirs = _PROCESSES.Pipe()
        child = _PROCESSES.Process(target=work, args=(job, theirs))
        child.start()
        theirs.close()
        assert ours.recv() == ("open", 0)
        start = time.monotonic()
        if kill:
            time.sleep(self.chance.uniform(0, self.spans[job.verb]))
            child.kill()
        told = []
        while True:
            try:
                told.append(ours.recv())
            except EOFError:
                break
        child.join()
        ended = ("end", 0) in told
        if not kill:
            assert child.exitcode == 0, job
            self.spans[job.verb] = time.monotonic() - start
        elif ended:
            self.spans[job.verb] *= 0.9
        return max((done for _, done in told), default=0), ended

    def _read(self) -> Editions:
        """What the library holds; all of it must be whole."""
        with open_place(self.root) as library:
            assert library.verify() == []
            return check_whole(library)
