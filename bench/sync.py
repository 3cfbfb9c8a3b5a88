"""A sync of ten thousand documents with nothing changed, and with one, beside what it must cost.

    python bench/sync.py [--files 10000]

A folder of Markdown files is synced into a library with an embedder that costs next to nothing;
then, in the same open process, again with nothing changed, beside a bare walk that lists the folder
and takes the stat of every file; and after one file was written, beside what that is made of: a
sync with nothing changed, and an update of one document, which embeds it and commits. Each is done
several times in turns, and the medians are compared. The exit code is 1 when a sync with nothing
changed takes more than 5 times the walk, or one with one file changed more than 1.3 times its
parts.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from results import make_parser, save_results
from texts import write_folder

import ibid
from ibid.testing.embedders import HashingEmbedder

MOST_WALKS: Final = 5.0
MOST_PARTS: Final = 1.3
ROUNDS: Final = 7


def main() -> int:
    """Print the medians and their ratios; 1 when one is missed."""
    parser = make_parser(__doc__)
    parser.add_argument("--files", type=int, default=10_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as root:
        figures = measure(Path(root), options.files)
    for name, value in figures.items():
        print(f"{name:22} {value:10.4f}")
    missed = []
    if figures["unchanged_to_walk"] > MOST_WALKS:
        missed.append(f"nothing changed: {figures['unchanged_to_walk']:.2f} walks > {MOST_WALKS}")
    if figures["changed_to_parts"] > MOST_PARTS:
        missed.append(f"one changed: {figures['changed_to_parts']:.2f} of its parts > {MOST_PARTS}")
    print("\n" + "\n".join(["missed:", *missed] if missed else ["all requirements hold"]))
    save_results(options.save, figures)
    return 1 if missed else 0


def measure(root: Path, files: int) -> dict[str, float]:
    """Medians in seconds, and the two ratios."""
    folder = root / "folder"
    write_folder(folder, files, sections=1)
    with ibid.open(root / "library", embedder=HashingEmbedder()) as library:
        library.sync(folder)
        library.sync(folder)  # files that were written in the moment they were read
        one = sorted(folder.rglob("*.md"))[files // 2]
        text = one.read_text(encoding="utf-8")
        taken: dict[str, list[float]] = defaultdict(list)
        for number in range(ROUNDS):
            taken["walk"].append(clock(lambda: walk(str(folder))))
            taken["unchanged"].append(clock(lambda: library.sync(folder)))
            one.write_text(f"{text}\nThis is edition {number}.\n", encoding="utf-8")
            taken["changed"].append(clock(lambda: library.sync(folder)))
            document = ibid.Document(f"note-{number}", f"{text}\nThis is note {number}.\n")
            taken["commit"].append(clock(partial(library.update, document)))
    medians = {name: statistics.median(times) for name, times in taken.items()}
    return medians | {
        "unchanged_to_walk": medians["unchanged"] / medians["walk"],
        "changed_to_parts": medians["changed"] / (medians["unchanged"] + medians["commit"]),
    }


def clock(act: Callable[[], object]) -> float:
    """The seconds that something takes."""
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


def walk(folder: str) -> int:
    """The files below a folder, each looked at: the least that any sync has to do."""
    found = 0
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                found += walk(entry.path)
            else:
                entry.stat()
                found += 1
    return found


if __name__ == "__main__":
    sys.exit(main())
