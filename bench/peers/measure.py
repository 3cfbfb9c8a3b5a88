"""One system in a process of its own: fills it, asks it, or opens it and asks once.

    python bench/peers/measure.py fill|ask|once SYSTEM SET FOLDER

Prints one line of JSON. What a system's modules take to import is measured apart.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from typing import Any, Final

import numpy as np
from systems import SYSTEMS, System, read_passages

K: Final = 10
DEEP: Final = 50
"""Passages that are asked for when documents are to be ranked."""


def main() -> None:
    verb, name, folder, place = sys.argv[1], sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4])
    system = SYSTEMS[name]
    start = time.perf_counter()
    for module in system.modules:
        importlib.import_module(module)
    imported = time.perf_counter() - start
    figures = VERBS[verb](system, folder, place)
    print(json.dumps({"import": imported, "peak": read_peak(), **figures}))


def read_peak() -> int:
    """The most KiB that this process held; getrusage would count what its parent held."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def fill(system: System, folder: Path, place: Path) -> dict[str, Any]:
    """The seconds until all is kept below the place, and the bytes there."""
    passages = read_passages(folder)
    place.mkdir(parents=True)
    start = time.perf_counter()
    system.fill(passages, place)
    seconds = time.perf_counter() - start
    size = sum(path.stat().st_size for path in place.rglob("*") if path.is_file())
    return {"seconds": seconds, "bytes": size, "passages": len(passages.texts)}


def ask(system: System, folder: Path, place: Path) -> dict[str, Any]:
    """The median milliseconds of a search, once warm, and the documents found for each query."""
    questions = json.loads((folder / "queries.json").read_text("utf-8"))
    vectors = np.load(folder / "queries.npy")
    search = system.open(place)
    asked = list(zip(questions.items(), vectors, strict=True))
    for (_, text), vector in asked[:10]:
        search(text, vector, K)
    took = []
    for (_, text), vector in asked:
        start = time.perf_counter()
        search(text, vector, K)
        took.append(time.perf_counter() - start)
    found = {
        id: list(dict.fromkeys(search(text, vector, DEEP)))[:K] for (id, text), vector in asked
    }
    return {"milliseconds": median(took) * 1000, "found": found}


def ask_once(system: System, folder: Path, place: Path) -> dict[str, Any]:
    """Open it, ask one question, and end."""
    vector = np.load(folder / "queries.npy", mmap_mode="r")[0]
    text = next(iter(json.loads((folder / "queries.json").read_text("utf-8")).values()))
    return {"found": len(system.open(place)(text, vector, K))}


VERBS: Final[Mapping[str, Callable[[System, Path, Path], dict[str, Any]]]] = {
    "fill": fill,
    "ask": ask,
    "once": ask_once,
}

if __name__ == "__main__":
    main()
