"""Time of short `ibid` commands in fresh processes, beside an empty Python and the bare imports.

    python bench/coldstart.py [--library FOLDER]

Each command runs once to warm the disk's cache, then all of them in turn, round after round. Prints
wall and CPU milliseconds, the best and the median, and the ratios of the medians: of CPU to that of
`python -c pass`, of wall time to that of importing numpy, onnxruntime and tokenizers. The library
holds the sample handbook. The exit code is 1 when `ibid --help` takes 5 times the CPU of an empty
Python or more, or when a second ./run takes 3 times as long as the imports or more. With
--library, `ibid search` of that library is timed too, and takes less than 3 times as long as
importing numpy and onnxruntime, or the exit code is 1.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from results import make_parser, save_results

ROOT: Final = Path(__file__).parent.parent
QUESTION: Final = "How long is parental leave?"
IMPORTS: Final = "import numpy, onnxruntime, tokenizers"
SEARCHING: Final = "import numpy, onnxruntime"

MOST_HELP: Final = 5.0
MOST_RUN: Final = 3.0
MOST_SEARCH: Final = 3.0


@dataclass(frozen=True, slots=True)
class Took:
    """Milliseconds of one process and its children."""

    wall: float
    cpu: float


def main() -> int:
    """Print the table; 1 when a requirement is missed."""
    parser = make_parser(__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--library", type=Path, metavar="FOLDER", help="search this one too")
    options = parser.parse_args()
    if sys.dont_write_bytecode:
        print("PYTHONDONTWRITEBYTECODE is set: what isn't compiled yet is so at every start\n")
    with tempfile.TemporaryDirectory() as scratch:
        commands = make_commands(Path(scratch, "library"), options.library)
        for command in commands.values():
            run(command)
        rounds = [
            {label: run(command) for label, command in commands.items()}
            for _ in range(options.rounds)
        ]
    figures = {label: summarize([took[label] for took in rounds]) for label in commands}
    print_table(figures)
    help_ratio = figures["ibid --help"]["cpu_median"] / figures["python -c pass"]["cpu_median"]
    run_ratio = figures["second ./run"]["wall_median"] / figures["the imports"]["wall_median"]
    print(
        f"\nibid --help takes {help_ratio:.2f} times the CPU of an empty Python (< {MOST_HELP:g})"
    )
    print(f"a second ./run takes {run_ratio:.2f} times as long as the imports (< {MOST_RUN:g})")
    search_ratio = 0.0
    if options.library is not None:
        medians = [figures[label]["wall_median"] for label in ("its search", "its imports")]
        search_ratio = medians[0] / medians[1]
        print(
            f"its search takes {search_ratio:.2f} times as long as its imports (< {MOST_SEARCH:g})"
        )
    ratios = {"help_ratio": help_ratio, "run_ratio": run_ratio, "search_ratio": search_ratio}
    save_results(options.save, {**figures, **ratios})
    missed = help_ratio >= MOST_HELP or run_ratio >= MOST_RUN or search_ratio >= MOST_SEARCH
    return int(missed)


def make_commands(library: Path, other: Path | None) -> dict[str, list[str]]:
    """What is timed, by label; with another library, its search too."""
    ibid = [str(Path(sys.executable).with_name("ibid"))]
    at = ["--library", str(library)]
    more = {
        "its imports": [sys.executable, "-c", SEARCHING],
        "its search": [*ibid, "search", QUESTION, "--as", "*", "--library", str(other)],
    }
    return {
        "python -c pass": [sys.executable, "-c", "pass"],
        "the imports": [sys.executable, "-c", IMPORTS],
        "ibid --help": [*ibid, "--help"],
        "ibid sync": [*ibid, "sync", "examples/handbook", *at],
        "ibid search": [*ibid, "search", QUESTION, *at],
        "ibid search --mode lexical": [*ibid, "search", QUESTION, "--mode", "lexical", *at],
        "ibid ask": [*ibid, "ask", QUESTION, *at],
        "second ./run": [str(ROOT / "run")],
        **(more if other is not None else {}),
    }


def run(command: list[str]) -> Took:
    """What a command takes; SystemExit when it fails."""
    start = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}\n{errors}")
    return Took(wall * 1000, (usage.ru_utime + usage.ru_stime) * 1000)


def summarize(runs: list[Took]) -> dict[str, float]:
    """The best and the median of each."""
    wall, cpu = [took.wall for took in runs], [took.cpu for took in runs]
    return {
        "wall_best": min(wall),
        "wall_median": statistics.median(wall),
        "cpu_best": min(cpu),
        "cpu_median": statistics.median(cpu),
    }


def print_table(figures: dict[str, dict[str, float]]) -> None:
    """One line a command; the ratios are of CPU to an empty Python, of wall to the imports."""
    columns = ("wall best", "median", "CPU best", "median", "/ empty", "/ imports")
    print(f"{'ms':28}" + "".join(f"{column:>11}" for column in columns))
    empty, imports = figures["python -c pass"], figures["the imports"]
    for label, row in figures.items():
        ratios = (
            row["cpu_median"] / empty["cpu_median"],
            row["wall_median"] / imports["wall_median"],
        )
        print(
            f"{label:28}"
            + "".join(f"{value:11.0f}" for value in row.values())
            + "".join(f"{ratio:11.2f}" for ratio in ratios)
        )


if __name__ == "__main__":
    sys.exit(main())
