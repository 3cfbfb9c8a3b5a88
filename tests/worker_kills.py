"""Workers killed at random moments while syncs hand files out to them, and what must hold."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import ibid
from ibid.openers import open_library
from ibid.records import IngestReport
from ibid.settings import load_settings
from ibid.testing.embedders import HashingEmbedder

LOST_SECONDS: Final = 1.0
WORKER: Final = """
import os
from ibid.openers import EMBEDDERS
from ibid.testing.embedders import HashingEmbedder

class Deadly(HashingEmbedder):
    def embed(self, texts, *, kind):
        if any("deadly nightshade" in text for text in texts):
            os._exit(9)
        return super().embed(texts, kind=kind)

EMBEDDERS["deadly"] = lambda settings: Deadly()
from ibid.cli import run
run()
"""
"""The command line with an embedder that needs no model, and dies of one text."""


@contextmanager
def working(address: str, count: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """So many workers, for a `with`; whoever replaces one puts the other into the list."""
    workers = [start_worker(address) for _ in range(count)]
    try:
        yield workers
    finally:
        for worker in workers:
            worker.terminate()
        for worker in workers:
            worker.wait(30)


def start_worker(address: str, *arguments: str) -> subprocess.Popen[bytes]:
    """A worker of a library, in a process of its own."""
    environ = {
        **os.environ,
        "IBID_LIBRARY": address,
        "IBID_EMBEDDER_NAME": "deadly",
        "IBID_WORKERS_LOST_SECONDS": str(LOST_SECONDS),
    }
    return subprocess.Popen(
        [sys.executable, "-c", WORKER, "worker", "--json", *arguments],
        env=environ,
        stdout=subprocess.DEVNULL,
    )


def open_place(address: str) -> ibid.Library:
    """The library at an address, with the embedder of the workers."""
    said = {"workers.lost_seconds": LOST_SECONDS}
    return open_library(
        address, embedder=HashingEmbedder(), settings=load_settings(said, library=address)
    )


@dataclass
class WorkerKills:
    """A folder that is synced by workers, one edition after the other, while these are killed."""

    address: str
    folder: Path
    files: int
    chance: random.Random
    edition: int = 0
    counts: Counter[str] = field(default_factory=Counter)

    def strike(self, kills: int, *, workers: int = 2) -> None:
        """Sync edition after edition until so many workers were killed; each is checked."""
        with working(self.address, workers) as alive:
            while self.counts["kills"] < kills:
                self._sync(alive, kills)
                self.check()

    def _sync(self, alive: list[subprocess.Popen[bytes]], kills: int) -> None:
        self.edition += 1
        self._write()
        reports: list[IngestReport] = []

        def sync() -> None:
            with open_place(self.address) as library:
                reports.append(library.sync(self.folder, workers=True))

        syncing = threading.Thread(target=sync)
        syncing.start()
        while syncing.is_alive():
            time.sleep(self.chance.uniform(0.1, 0.8))
            if syncing.is_alive() and self.counts["kills"] < kills:
                place = self.chance.randrange(len(alive))
                alive[place].kill()
                alive[place].wait()
                alive[place] = start_worker(self.address)
                self.counts["kills"] += 1
        syncing.join()
        (report,) = reports
        assert report.failed == ()
        written = (*report.added, *report.updated)
        assert sorted(written) == sorted(self.list_ids())
        self.counts["syncs"] += 1
        self.counts["documents"] += len(written)

    def _write(self) -> None:
        self.folder.mkdir(exist_ok=True)
        for id in self.list_ids():
            words = f"# Page {id}\n\nEdition {self.edition} of page {id} tells of kettles.\n"
            (self.folder / id).write_text(words)

    def list_ids(self) -> list[str]:
        """The ids of the documents that the folder becomes."""
        return [f"{number:04}.md" for number in range(self.files)]

    def check(self) -> None:
        """Each document is there once, as it was written last, and was written once an edition."""
        with open_place(self.address) as library:
            listed = [info.id for info in library.documents(ibid.OWNER)]
            assert sorted(listed) == self.list_ids()
            assert library.verify() == []
            version = library.status(ibid.OWNER).version
            assert version == self.files * self.edition, "one commit for each file and edition"
            for id in self.list_ids():
                assert f"Edition {self.edition} of" in library.document(id).text
                assert len(library.history(id)) == self.edition


def run_worker_kills(
    address: str, root: Path, *, files: int, kills: int, seed: int
) -> dict[str, Any]:
    """What was done and killed; the first thing that does not hold is raised."""
    struck = WorkerKills(address, root / "folder", files, random.Random(seed))
    struck.strike(kills)
    return {**struck.counts, "faults": []}
