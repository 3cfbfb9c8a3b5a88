"""ibid beside the systems that people compare it with: quality, pace, start, memory and size.

    python bench/peers scifact cranfield --venvs FOLDER [--keep FOLDER] [--only SYSTEM …]

FOLDER has one virtual environment for each system, named like its distribution
(`python -m venv FOLDER/lancedb && FOLDER/lancedb/bin/pip install lancedb`); docs/PERFORMANCE.md
lists what each needs. One that has none is left out, and named. All get the same passages, cut by
ibid, with the same vectors, and the questions with theirs, so that no time is the model's; ibid
cuts the documents once more within its time. Each stage is a process of its own: filling, asking
all questions, and, five times in turns, opening what was kept and asking one.

Prints nDCG@10 over documents; how fast a system takes passages in, as a share of the bare loop that
embeds them (measured in the same run on a sample); the median search of ten passages, the start
with a first answer, its peak of memory, and the bytes kept, each as times ibid's. At its end it
names where ibid is behind.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from importlib.metadata import distributions
from pathlib import Path
from statistics import median
from typing import Any, Final

HERE: Final = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

import numpy as np  # noqa: E402 - the benches lie one folder up
from beir import Collection, load_collection  # noqa: E402
from results import make_parser, save_results  # noqa: E402
from retrieval import describe, ingest, open_library, score_queries  # noqa: E402
from systems import SYSTEMS  # noqa: E402

import ibid  # noqa: E402
from ibid.embedding.local import open_local_embedder  # noqa: E402
from ibid.flows.scratch import SavingEmbedder  # noqa: E402

OURS: Final = "ibid"
STARTS: Final = 5
SAMPLE: Final = 512
"""Passages that the bare loop embeds."""

QUIET: Final = {
    "ANONYMIZED_TELEMETRY": "False",
    "HAYSTACK_TELEMETRY_ENABLED": "False",
    "DO_NOT_TRACK": "1",
    "HF_HUB_OFFLINE": "1",
    "ALLOW_RESOLVE_TRANSFORM": "True",  # txtai takes vectors from a function only so
}

MORE_IS_BETTER: Final = ("nDCG@10", "ingest, of the bare loop")


def main() -> int:
    """Print a table for each set, and where ibid is behind."""
    parser = make_parser(__doc__)
    parser.add_argument("sets", nargs="*", default=["scifact", "cranfield"])
    parser.add_argument("--venvs", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="of bench/retrieval.py")
    parser.add_argument("--only", action="append", metavar="SYSTEM", help="leave out the others")
    options = parser.parse_args()
    pythons = dict(find_pythons(options.venvs, options.only or [*SYSTEMS]))
    figures: dict[str, Any] = {"versions": {name: find_version(name, pythons) for name in pythons}}
    print(*(f"{name} {version}" for name, version in figures["versions"].items()), sep=", ")
    behind = []
    for name in options.sets:
        with tempfile.TemporaryDirectory() as scratch:
            collection = load_collection(name)
            pace = prepare_set(name, collection, options.keep, Path(scratch) / "set")
            found = measure_set(pythons, collection, Path(scratch))
        figures[name] = {system: make_row(one, found[OURS], pace) for system, one in found.items()}
        print_table(name, figures[name])
        behind += list(list_behind(name, figures[name]))
    print("\n" + "\n".join(["ibid is behind:", *behind] if behind else ["ibid is ahead in all"]))
    save_results(options.save, figures)
    return 0


def find_pythons(venvs: Path, names: list[str]) -> Iterator[tuple[str, str]]:
    """The interpreter of each system that is there; ibid's is this one."""
    for name in dict.fromkeys([OURS, *names]):
        python = venvs / name / "bin" / "python"
        if name == OURS or python.exists():
            yield name, sys.executable if name == OURS else str(python)
        else:
            print(f"left out: {name}, which has no environment in {venvs}")


def find_version(name: str, pythons: Mapping[str, str]) -> str:
    """The version of a system in its environment."""
    libraries = Path(pythons[name]).parent.parent / "lib"
    paths = [str(path) for path in libraries.glob("python*/site-packages")]
    found = distributions(name=name, path=sys.path if name == OURS else paths)
    return next((one.version for one in found), "unknown")


# -- the passages that all are given --------------------------------------------------------------


def prepare_set(name: str, collection: Collection, keep: Path | None, folder: Path) -> float:
    """Write documents, passages, questions and vectors; the passages a second of the bare loop."""
    folder.mkdir()
    embedder = open_local_embedder()
    texts, owners = [], []
    with open_library(name, keep) as library:
        ingest(collection, library)
        with (folder / "documents.jsonl").open("w", encoding="utf-8") as file:
            for row in library.documents(ibid.OWNER):
                document = library.document(row.id, ibid.OWNER)
                shape = {"id": document.id, "text": document.text, "title": document.title}
                file.write(json.dumps(shape) + "\n")
                for passage in library.passages(row.id, ibid.OWNER):
                    texts.append(passage.indexed_text)
                    owners.append(row.id)
        saving = SavingEmbedder(embedder, [library._parts.index])
        np.save(folder / "passages.npy", saving.embed(texts, kind="passage"))
    with (folder / "passages.jsonl").open("w", encoding="utf-8") as file:
        for text, id in zip(texts, owners, strict=True):
            file.write(json.dumps({"text": text, "document": id}) + "\n")
    questions = {id: collection.queries[id] for id in collection.qrels}
    (folder / "queries.json").write_text(json.dumps(questions), "utf-8")
    np.save(folder / "queries.npy", embedder.embed([*questions.values()], kind="query"))
    sample = texts[:: max(1, len(texts) // SAMPLE)]
    start = time.perf_counter()
    embedder.embed(sample, kind="passage")
    return len(sample) / (time.perf_counter() - start)


# -- the systems ----------------------------------------------------------------------------------


def measure_set(
    pythons: Mapping[str, str], collection: Collection, scratch: Path
) -> dict[str, dict[str, Any]]:
    """What each system's processes tell, and how good its rankings are."""
    found: dict[str, dict[str, Any]] = {}
    for name, python in pythons.items():
        filled = run_stage(python, "fill", name, scratch)
        asked = run_stage(python, "ask", name, scratch)
        quality = score_queries(asked.pop("found"), collection)["nDCG@10"]
        found[name] = {"fill": filled, "ask": asked, "quality": describe(quality), "once": []}
    for _ in range(STARTS):
        for name, python in pythons.items():
            found[name]["once"].append(run_stage(python, "once", name, scratch))
    return found


def run_stage(python: str, verb: str, name: str, scratch: Path) -> dict[str, Any]:
    """What one process prints, with its seconds from start to end. SystemExit where it fails."""
    command = [python, str(HERE / "measure.py"), verb, name, "set", f"kept-{name}"]
    start = time.perf_counter()
    done = subprocess.run(
        command, cwd=scratch, env={**os.environ, **QUIET}, capture_output=True, text=True
    )
    if done.returncode:
        raise SystemExit(f"{name} can't {verb}:\n{done.stderr[-2000:]}")
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return {**told, "process": time.perf_counter() - start}


def make_row(one: Mapping[str, Any], ours: Mapping[str, Any], pace: float) -> dict[str, float]:
    """The cells of a system; what is less when better is told as times ibid's."""

    def compare(stage: str, key: str) -> float:
        a, b = (
            median(run[key] for run in (of[stage] if stage == "once" else [of[stage]]))
            for of in (one, ours)
        )
        return float(a / b)

    embedding = one["fill"]["passages"] / pace
    mean, low, high = one["quality"]
    return {
        "nDCG@10": mean,
        "low": low,
        "high": high,
        "ingest, of the bare loop": embedding / (embedding + one["fill"]["seconds"]),
        "filling": compare("fill", "seconds"),
        "search": compare("ask", "milliseconds"),
        "first answer": compare("once", "process"),
        "import": compare("once", "import"),
        "memory, first answer": compare("once", "peak"),
        "memory, filling": compare("fill", "peak"),
        "bytes": compare("fill", "bytes"),
    }


def print_table(name: str, rows: Mapping[str, Mapping[str, float]]) -> None:
    columns = list(rows[OURS])
    print(f"\n{name}\n{'':18}" + "".join(f"{column:>26}" for column in columns))
    for system, row in rows.items():
        print(f"{system:18}" + "".join(f"{row[column]:26.3f}" for column in columns), flush=True)


def list_behind(name: str, rows: Mapping[str, Mapping[str, float]]) -> Iterator[str]:
    """Where a system is better than ibid."""
    for system, row in rows.items():
        for column, value in row.items():
            if column in ("low", "high"):
                continue
            ours = rows[OURS][column]
            if value > ours if column in MORE_IS_BETTER else value < ours:
                yield f"{name}: {system} in {column}, {value:.3f} against {ours:.3f}"


if __name__ == "__main__":
    sys.exit(main())
