"""What tuning gains on questions held out, against the settings by default.

    python bench/tuning.py --library FOLDER

The five long texts and the 472 questions of chroma_general: every piece of evidence of a question
has to stand whole in a passage. Half of the questions are held out. A run that was stopped goes on
where it was when it is given the same folder. The exit code is 1 when the winner is worse than the
default on the questions held out.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from beir import ROOT, load_collection, read_lines
from results import make_parser, save_results

import ibid
from ibid.evaluation.golden import GoldenCase
from ibid.flows.tune import CHUNKINGS, TuneOptions
from ibid.shapes.inspection import shape_tuned

NAME = "chroma_general"


def main() -> int:
    parser = make_parser(__doc__)
    parser.add_argument("--library", type=Path, help="keep the library here, to go on with it")
    parser.add_argument("--chunking", action="append", metavar="BY/SIZE/OVERLAP", help="try these")
    parser.add_argument("--document", metavar="ID", help="one of the texts alone")
    parser.add_argument("--candidates", type=int, default=24)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = options.library or Path(folder) / "library"
        with ibid.open(place) as library:
            fill(library, options.document)
            chunkings = tuple(options.chunking or CHUNKINGS)
            wanted = TuneOptions(candidates=options.candidates, chunkings=chunkings)
            tuned = library.tune(read_cases(options.document), wanted)
    shape = shape_tuned(tuned, applied=False)
    for row in shape["table"]:
        print(
            f"{row['ndcg']:.4f} nDCG  {row['recall']:.4f} recall  {row['tokens']:5.0f} tokens"
            f"  {row['milliseconds']:4.0f} ms  {row['questions']:3} questions  {row['settings']}"
        )
    for name in ("before", "tried"):
        one = shape[name]
        print(
            f"{name:6} {one['mean']:.4f} ({one['low']:.4f} to {one['high']:.4f}),"
            f" {one['tokens']:.0f} tokens, n = {one['n']}"
        )
    print("tried:", shape["tried"]["settings"], "p =", shape["difference"]["p"])
    print("settings:", json.dumps(shape["settings"]))
    save_results(options.save, shape)
    return int(tuned.worth.quality.mean < tuned.default.quality.mean)


def fill(library: ibid.Library, only: str | None) -> None:
    """Write the texts that the library does not hold yet; None is all of them."""
    held = {info.id for info in library.documents(ibid.OWNER)}
    for id, title, text in load_collection(NAME).documents:
        if id not in held and only in (None, id):
            library.ingest(ibid.Document(id=id, title=title, text=text))


def read_cases(only: str | None) -> list[GoldenCase]:
    """The questions about the texts, with their pieces of evidence."""
    return [
        GoldenCase(
            id=row["id"],
            question=row["text"],
            contains=tuple(piece["content"] for piece in row["references"]),
        )
        for row in read_lines(ROOT / "retrieval" / NAME / "queries.jsonl")
        if only in (None, row["corpus"])
    ]


if __name__ == "__main__":
    sys.exit(main())
