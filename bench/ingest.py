"""Throughput of a whole sync beside bare embedding, and its peak memory as the folder grows.

    python bench/ingest.py

A folder of Markdown files, made from the sample handbook's sentences, is synced into a new library
with the default embedder; beside it a bare loop embeds the same texts in the same batches. Both run
twice, in the order sync, loop, loop, sync. Prints passages per second and their ratio. Then child
processes sync N files and 10 N files with an embedder that costs nothing, and print the most memory
that they held: all of it, and what was theirs alone (anonymous, sampled every 10 ms on Linux). The
exit code is 1 when the sync keeps less than 0.80 of the loop's pace, or when ten times the files
take more than 1.3 times the memory.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from results import make_parser, save_results
from texts import write_folder

import ibid
from ibid.embedding.local import open_local_embedder
from ibid.openers import find_cache
from ibid.testing.embedders import HashingEmbedder

if TYPE_CHECKING:
    from ibid.protocols import Embedder, Tokenizer, Vectors

LEAST_PACE: Final = 0.80
MOST_GROWTH: Final = 1.3
SECTIONS: Final = 10
STATUS: Final = Path("/proc/self/status")
SAMPLE_SECONDS: Final = 0.01


class RecordingEmbedder:
    """Passes everything on to another embedder and keeps the batches that it was given."""

    remote: Final = None

    def __init__(self, inner: Embedder) -> None:
        self.name, self.weights = inner.name, inner.weights
        self.dimension, self.max_tokens = inner.dimension, inner.max_tokens
        self.tokenizer: Tokenizer = inner.tokenizer
        self.batches: list[list[str]] = []
        self._inner = inner

    def embed(self, texts: Sequence[str], *, kind: Literal["passage", "query"]) -> Vectors:
        self.batches.append(list(texts))
        return self._inner.embed(texts, kind=kind)


def main() -> int:
    """Print both measurements; 1 when a requirement is missed."""
    parser = make_parser(__doc__)
    parser.add_argument("--files", type=int, default=150, help="files of about 10 passages")
    parser.add_argument("--memory-files", type=int, default=100, metavar="N")
    parser.add_argument("--sync", nargs=2, type=Path, metavar=("FOLDER", "LIBRARY"), help="a child")
    options = parser.parse_args()
    if options.sync:
        folder, library = options.sync
        print(json.dumps(watch_memory(lambda: sync(folder, library, HashingEmbedder()))))
        return 0
    figures = measure_pace(options.files) | measure_memory(options.memory_files)
    missed = []
    if figures["pace"] < LEAST_PACE:
        missed.append(f"the sync keeps {figures['pace']:.3f} of the loop's pace < {LEAST_PACE}")
    if figures["growth"] > MOST_GROWTH:
        missed.append(f"memory grows {figures['growth']:.2f} times > {MOST_GROWTH}")
    print("\n" + "\n".join(["missed:", *missed] if missed else ["all requirements hold"]))
    save_results(options.save, figures)
    return 1 if missed else 0


# -- pace ---------------------------------------------------------------------------------------


def measure_pace(files: int) -> dict[str, float]:
    """Passages per second of sync and loop, and the ratio of the two."""
    embedder = open_local_embedder(cache=find_cache())
    embedder.embed(["warm"], kind="passage")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "folder")
        write_folder(folder, files, sections=SECTIONS)
        recorder = RecordingEmbedder(embedder)
        first = time_call(lambda: sync(folder, Path(scratch, "1.ibid"), recorder))
        batches = recorder.batches
        loops = [time_call(lambda: embed_bare(batches, embedder)) for _ in range(2)]
        last = time_call(lambda: sync(folder, Path(scratch, "2.ibid"), embedder))
    passages = sum(map(len, batches))
    whole, bare = 2 * passages / (first + last), 2 * passages / sum(loops)
    print(f"{files} files, {passages} passages in {len(batches)} batches")
    print(f"whole sync   {whole:6.1f} passages a second ({first:.1f} s, {last:.1f} s)")
    print(f"bare loop    {bare:6.1f} passages a second ({loops[0]:.1f} s, {loops[1]:.1f} s)")
    print(f"the sync keeps {whole / bare:.3f} of the loop's pace", flush=True)
    return {"passages": passages, "sync_per_s": whole, "loop_per_s": bare, "pace": whole / bare}


def sync(folder: Path, library: Path, embedder: Embedder) -> None:
    """Sync the folder into a new library; SystemExit when any file failed."""
    with ibid.open(library, embedder=embedder) as opened:
        report = opened.sync(folder)
    if report.failed or not report.added:
        raise SystemExit(f"{len(report.added)} added, failed: {report.failed[:3]}")


def embed_bare(batches: Sequence[Sequence[str]], embedder: Embedder) -> None:
    """Embed the batches and do nothing else."""
    for batch in batches:
        embedder.embed(batch, kind="passage")


def time_call(call: Callable[[], object]) -> float:
    """Seconds of a call."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


# -- memory -------------------------------------------------------------------------------------


def measure_memory(files: int) -> dict[str, float]:
    """Peak MB of a sync of so many files and of ten times as many, and the larger growth."""
    peaks = {count: measure_child(count) for count in (files, 10 * files)}
    print()
    for count, peak in peaks.items():
        print(f"{count:6} files: peak {peak['resident']:.0f} MB, own {peak['own']:.0f} MB")
    small, large = peaks.values()
    growth = {name: large[name] / small[name] for name in small}
    print(f"ten times the files: {growth['resident']:.2f} times, own {growth['own']:.2f} times")
    return {
        **{f"{name}_mb_{count}": peak[name] for count, peak in peaks.items() for name in peak},
        "growth": max(growth.values()),
    }


def measure_child(files: int) -> dict[str, float]:
    """Peak MB of a child process that syncs a new folder."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "folder")
        write_folder(folder, files, sections=SECTIONS)
        command = [sys.executable, __file__, "--sync", str(folder), str(Path(scratch, "a.ibid"))]
        found = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        peak: dict[str, float] = json.loads(found.stdout)
        return peak


def watch_memory(call: Callable[[], object]) -> dict[str, float]:
    """The most memory that this process held, in MB: resident, and its own among it.

    Where the system doesn't tell them apart, both are the resident.
    """
    own = [read_status_mb("RssAnon")]
    done = threading.Event()

    def sample() -> None:
        while not done.wait(SAMPLE_SECONDS):
            own.append(read_status_mb("RssAnon"))

    sampler = threading.Thread(target=sample)
    sampler.start()
    try:
        call()
    finally:
        done.set()
        sampler.join()
    # A process that another started has that one's peak in its ru_maxrss; VmHWM is its own.
    unit = 1 if sys.platform == "darwin" else 1024
    highest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
    resident = read_status_mb("VmHWM") or highest
    return {"resident": resident, "own": max(own) or resident}


def read_status_mb(field: str) -> float:
    """A figure of this process in MB, 0 where the system doesn't tell."""
    if not STATUS.exists():
        return 0.0
    fields = dict(line.split(":", 1) for line in STATUS.read_text().splitlines())
    return int(fields[field].split()[0]) * 1024 / 1e6


if __name__ == "__main__":
    sys.exit(main())
