"""`ibid evaluate` on whole sets: SciFact as a BEIR folder, CLAP NQ as a golden file, the handbook.

    python bench/evaluate.py
    python bench/evaluate.py scifact clapnq_dev --libraries FOLDER

Each is measured with default settings, offline and without a model. The golden file of CLAP NQ is
written at run time out of its queries: the evidence is the sentences that its annotators chose,
the answers are theirs, and half of the questions have none. A library is made where FOLDER holds
none of the name. The exit code is 1 when a second run gives any other number than the first.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from beir import ROOT, load_collection, read_lines
from results import make_parser, save_results

import ibid
from ibid.evaluation.golden import GoldenCase, dump_golden
from ibid.evaluation.outcomes import Evaluation
from ibid.measuring.shapes import shape_evaluation

EXAMPLES: Final = Path(__file__).parent.parent / "examples"


def main() -> int:
    """Print each evaluation; 1 where a second run differs from the first."""
    parser = make_parser(__doc__)
    parser.add_argument("sets", nargs="*", default=list(SETS))
    parser.add_argument("--libraries", type=Path, metavar="FOLDER", help="keep libraries here")
    parser.add_argument("--once", action="store_true", help="do not measure a second time")
    options = parser.parse_args()
    figures, differing = {}, []
    with tempfile.TemporaryDirectory() as scratch:
        for name in options.sets:
            place = (options.libraries or Path(scratch)) / f"{name}.ibid"
            with ibid.open(place) as library:
                golden = SETS[name](library, Path(scratch))
                answers = name != "scifact"
                found = library.evaluate(golden, answers=answers)
                figures[name] = shape_evaluation(found)
                print_evaluation(name, found)
                if not options.once:
                    again = library.evaluate(golden, answers=answers)
                    if shape_evaluation(again) != figures[name]:
                        differing.append(name)
    print(*(f"{name}: a second run differs" for name in differing), sep="\n")
    save_results(options.save, figures)
    return bool(differing)


# -- the sets -------------------------------------------------------------------------------------


def prepare_scifact(library: ibid.Library, scratch: Path) -> Sequence[GoldenCase]:
    """Its judged claims; the abstracts are taken into the library where it lacks them."""
    return library.take_in_collection(ROOT / "retrieval" / "scifact")


def prepare_clapnq(library: ibid.Library, scratch: Path) -> Path:
    """A golden file of its questions."""
    library.take_in_collection(ROOT / "questions" / "clapnq_dev")
    path = scratch / "clapnq_dev.jsonl"
    with path.open("w", encoding="utf-8") as file:
        file.writelines(dump_golden(list_clapnq()))
    return path


def list_clapnq() -> Iterator[GoldenCase]:
    """The questions, an answerable one with the sentences of its passage that were chosen first."""
    texts = {id: text for id, _, text in load_collection("clapnq_dev").documents}
    for row in read_lines(ROOT / "questions" / "clapnq_dev" / "queries.jsonl"):
        answerable = bool(row["answerable"])
        yield GoldenCase(
            id=str(row["id"]),
            question=row["text"],
            contains=tuple(choose_sentences(row, texts)) if answerable else (),
            documents={row["doc_id"]: 1.0} if answerable else {},
            unanswerable=not answerable,
            answers=tuple(row.get("answers", ())) if answerable else (),
        )


def choose_sentences(row: Mapping[str, Any], texts: Mapping[str, str]) -> list[str]:
    chosen = row.get("selected_sentences") or [[]]
    return [one for one in dict.fromkeys(chosen[0]) if one in texts[row["doc_id"]]]


def prepare_handbook(library: ibid.Library, scratch: Path) -> Path:
    """The sample handbook and its golden set."""
    library.sync(EXAMPLES / "handbook")
    return EXAMPLES / "golden.jsonl"


SETS: Final[Mapping[str, Callable[[ibid.Library, Path], Path | Sequence[GoldenCase]]]] = {
    "scifact": prepare_scifact,
    "clapnq_dev": prepare_clapnq,
    "handbook": prepare_handbook,
}


# -- what is told ---------------------------------------------------------------------------------


def print_evaluation(name: str, found: Evaluation) -> None:
    kinds = {failure.kind: 0 for failure in found.failures}
    for failure in found.failures:
        kinds[failure.kind] += 1
    print(f"\n{name}: {found.queries} questions; failures {json.dumps(kinds)}")
    for measure, one in {**found.retrieval, **found.answers}.items():
        print(f"  {measure:22}{one.mean:.3f} [{one.low:.3f}, {one.high:.3f}]  n = {one.n}")


if __name__ == "__main__":
    sys.exit(main())
