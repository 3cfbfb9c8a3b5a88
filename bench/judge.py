"""How often a judge agrees with people: pairs of answers that two persons each preferred one of.

    python bench/judge.py
    python bench/judge.py --settings judge.toml

The pairs and preferences are those of RAGChecker's meta-evaluation: two systems' answers to a
question, the expected answer, and by how much (-2 to 2) each person holds the second for the better
one, in correctness. Offline measures of ibid are held against people as they are; with --settings,
so is the generator that this file names, as the judge of `ibid evaluate --judge`. Agreement is over
the pairs where the people did not differ in sign: of those that they prefer one of, how often the
measure prefers the same (a tie counts half); rho is Spearman's correlation with their mean over all
pairs. Judgements that failed are counted and left out.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from beir import ROOT
from results import make_parser, save_results

from ibid.evaluation.answers import token_f1
from ibid.evaluation.folding import fold_answer
from ibid.evaluation.intervals import estimate_mean
from ibid.flows.judge import Judge
from ibid.openers import choose_embedder, choose_generator
from ibid.records import Answer, AnswerStatus, Request
from ibid.settings import load_settings

FILE: Final = ROOT / "questions" / "ragchecker_meta" / "human_labeled_data.json"


@dataclass(frozen=True, slots=True)
class Pair:
    """Two answers to a question, and by how much each person prefers the second."""

    question: str
    expected: str
    answers: tuple[str, str]
    labels: tuple[int, ...]


Measure = Callable[[Pair, str], float | None]


def main() -> int:
    """Print a row for each measure."""
    parser = make_parser(__doc__)
    parser.add_argument("--settings", type=Path, metavar="FILE", help="names the judge's generator")
    parser.add_argument("--most", type=int, default=280, metavar="N", help="pairs that are judged")
    options = parser.parse_args()
    pairs = list(read_pairs())[: options.most]
    measures = dict(OFFLINE)
    judge = open_judge(options) if options.settings else None
    if judge is not None:
        measures[f"judged by {judge.name}"] = lambda pair, text: judge_text(judge, pair, text)
    print(f"{len(pairs)} pairs; agreement with people on correctness")
    figures = {name: measure_agreement(pairs, measure) for name, measure in measures.items()}
    for name, row in figures.items():
        print(
            f"  {name:28}{row['agreement']:.3f} [{row['low']:.3f}, {row['high']:.3f}]"
            f"  n = {row['n']}  rho {row['rho']:.3f}  failed {row['failed']}"
        )
    save_results(options.save, figures)
    return 0


def read_pairs() -> Iterator[Pair]:
    """The pairs in the order of the file, each with the labels of all persons; SystemExit
    without the file."""
    if not FILE.is_file():
        raise SystemExit(f"no data set {FILE}; set IBID_DATA")
    rows: dict[int, list[Mapping[str, Any]]] = {}
    for row in json.loads(FILE.read_text("utf-8")):
        rows.setdefault(row["instance_id"], []).append(row)
    for first, *others in rows.values():
        yield Pair(
            first["query"],
            first["gt_answer"],
            (first["model1"]["response"], first["model2"]["response"]),
            tuple(row["correctness_label"] for row in (first, *others)),
        )


def measure_agreement(pairs: Sequence[Pair], measure: Measure) -> dict[str, float]:
    """How a measure's preferences go with those of people."""
    gains, means, agreed, failed = [], [], [], 0
    for pair in pairs:
        first, second = (measure(pair, text) for text in pair.answers)
        if first is None or second is None:
            failed += 1
            continue
        gain, mean = second - first, float(np.mean(pair.labels))
        gains.append(gain)
        means.append(mean)
        if mean and min(pair.labels) * max(pair.labels) >= 0:
            agreed.append(0.5 if gain == 0 else float((gain > 0) == (mean > 0)))
    found = estimate_mean(agreed)
    return {
        "agreement": found.mean,
        "low": found.low,
        "high": found.high,
        "n": found.n,
        "rho": correlate_ranks(gains, means),
        "failed": failed,
    }


def correlate_ranks(first: Sequence[float], second: Sequence[float]) -> float:
    """Spearman's correlation, ties at their mean rank."""
    return float(np.corrcoef(rank_values(first), rank_values(second))[0, 1])


def rank_values(values: Sequence[float]) -> Sequence[float]:
    found = np.asarray(values)
    return [float(((found < one).sum() + (found <= one).sum() - 1) / 2) for one in found]


# -- measures -------------------------------------------------------------------------------------


def score_f1(pair: Pair, text: str) -> float:
    """The overlap of words with the expected answer."""
    return token_f1(text, pair.expected)


def score_recall(pair: Pair, text: str) -> float:
    """The share of the expected answer's different words that the answer has."""
    wanted = {*fold_answer(pair.expected).split()}
    return len(wanted & {*fold_answer(text).split()}) / len(wanted)


OFFLINE: Final[Mapping[str, Measure]] = {
    "f1": score_f1,
    "words of the expected answer": score_recall,
    "length": lambda pair, text: float(len(text)),
}


def open_judge(options: argparse.Namespace) -> Judge:
    """The judge that a file of settings names."""
    settings = load_settings(override=options.settings)
    embedder = choose_embedder(None, settings)
    return Judge(choose_generator(None, settings, embedder)())


def judge_text(judge: Judge, pair: Pair, text: str) -> float | None:
    """The judge's degree of correctness of a bare text; None for a judgement that failed."""
    judgement = judge.judge(make_answer(pair.question, text), [pair.expected])
    return None if judgement is None else judgement.correct


def make_answer(question: str, text: str) -> Answer:
    """A text as an answer without sources or claims."""
    return Answer(
        id="",
        question=question,
        request=Request(None, frozenset(), "hybrid", 0),
        status=AnswerStatus.ANSWERED,
        text=text,
        citations=(),
        sources=(),
        version=0,
        embedder="",
        generator="",
        settings_hash="",
        prompt_hash="",
        warnings=(),
        timings_ms={},
        tokens={},
    )


if __name__ == "__main__":
    sys.exit(main())
