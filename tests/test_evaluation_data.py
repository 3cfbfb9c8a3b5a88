"""A whole collection measured: its figures are those of trec_eval for the run that it writes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import pytest
import pytrec_eval

import ibid
from ibid.evaluation.trec import read_qrels, write_qrels, write_run
from ibid.settings import load_settings
from ibid.testing.embedders import HashingEmbedder

DATA: Final = Path(
    os.environ.get("IBID_DATA", Path(__file__).parents[2] / "shared" / "data")
).resolve()

pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(not DATA.is_dir(), reason=f"no data sets at {DATA}; set IBID_DATA"),
]


def test_a_collection_is_measured_as_trec_eval_measures_it(tmp_path: Path) -> None:
    # Keyword search looks at no vector, so the embedder may be one that costs nothing.
    settings = load_settings({"search.mode": "lexical"})
    folder = DATA / "retrieval" / "cranfield"
    with ibid.open(tmp_path / "library", embedder=HashingEmbedder(), settings=settings) as library:
        cases = library.take_in_collection(folder)
        found = library.evaluate(cases, answers=False)
    assert found.retrieval["ndcg@10"].mean >= 0.35
    run, qrels = tmp_path / "run", tmp_path / "qrels"
    run.write_text("".join(write_run({r.case.id: r.ranking for r in found.runs}, "ibid")))
    qrels.write_text("".join(write_qrels({r.case.id: r.judgements for r in found.runs})))
    judged = {q: {d: int(g) for d, g in row.items()} for q, row in read_qrels(qrels).items()}
    ranked = pytrec_eval.parse_run(run.read_text().splitlines())
    oracle = pytrec_eval.RelevanceEvaluator(judged, {"ndcg_cut.10", "recall.10", "map_cut.10"})
    scores = oracle.evaluate(ranked).values()
    for name, theirs in (("ndcg", "ndcg_cut_10"), ("recall", "recall_10"), ("map", "map_cut_10")):
        mean = sum(one[theirs] for one in scores) / len(judged)
        assert found.retrieval[f"{name}@10"].mean == pytest.approx(mean, abs=1e-9)
