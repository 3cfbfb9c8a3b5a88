"""The JSON of what is asked about a library's own work; the same at each door."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from ibid.evaluation.approach import CHARACTERS_PER_TOKEN
from ibid.evaluation.sizing import choose_engine, size_embedded, size_vectors

if TYPE_CHECKING:
    from ibid.evaluation.approach import Approach
    from ibid.evaluation.sizing import IndexSize
    from ibid.flows.diagnose import DiagnosedCase
    from ibid.flows.diagnosis import Diagnosis
    from ibid.flows.lab import LabChunk, LabResult
    from ibid.flows.tune import Tuned, Worth
    from ibid.shapes.plain import Shape


def shape_size(size: IndexSize, dimension: int, approach: Approach) -> Shape:
    """The bytes of an index in each form, the engine for it, and the way to ask what it holds."""
    engine, reason = choose_engine(size.passages, dimension)
    return {
        "passages": size.passages,
        "dimension": dimension,
        "vector_bytes": size.vector_bytes,
        "link_bytes": size.link_bytes,
        "total_bytes": size.total_bytes,
        "forms": size_vectors(size.passages, dimension),
        "ibid_bytes": size_embedded(size.passages, dimension),
        "exact": size.is_exact,
        "engine": engine,
        "engine_reason": reason,
        "advice": size.advice,
        "approach": {**asdict(approach), "reasons": list(approach.reasons)},
    }


def shape_diagnosis(diagnosis: Diagnosis) -> Shape:
    """The stages that an expected text passed, the one that lost it, and what would change that."""
    return {
        "question": diagnosis.question,
        "expected": diagnosis.expected,
        "stages": [
            {"stage": one.stage, "ok": one.ok, "detail": one.detail, "rank": one.rank}
            for one in diagnosis.stages
        ],
        "first_failure": diagnosis.first_failure,
        "advice": diagnosis.advice,
    }


def shape_causes(diagnosed: Sequence[DiagnosedCase], causes: Mapping[str, int]) -> Shape:
    """How many golden cases each stage lost, and each case."""
    return {
        "queries": len(diagnosed),
        "causes": dict(causes),
        "cases": [{"id": one.case_id, **shape_diagnosis(one.diagnosis)} for one in diagnosed],
    }


def shape_tuned(tuned: Tuned, *, applied: bool) -> Shape:
    """The candidates that went furthest, best first, and what the winner is worth on questions
    that were held out, beside what is in force."""
    from ibid.evaluation.tuning import list_rows  # noqa: PLC0415 - only after tuning

    return {
        "table": [
            {
                "settings": str(row.candidate),
                "questions": row.questions,
                "ndcg": row.quality,
                "recall": row.recall,
                "tokens": row.characters / CHARACTERS_PER_TOKEN,
                "milliseconds": row.milliseconds,
            }
            for row in list_rows(tuned.rungs)
        ],
        "before": _shape_worth(tuned.default),
        "after": _shape_worth(tuned.worth),
        "tried": {"settings": str(tuned.choice), **_shape_worth(tuned.tried)},
        "difference": asdict(tuned.difference),
        "settings": dict(tuned.settings),
        "kept": tuned.kept,
        "applied": applied,
        "reindex": any(key.startswith("chunking.") for key in tuned.settings),
        "embedded": tuned.embedded,
    }


def _shape_worth(worth: Worth) -> Shape:
    return {
        **asdict(worth.quality),
        "tokens": worth.tokens,
        "milliseconds": worth.milliseconds,
    }


def shape_lab(result: LabResult) -> Shape:
    """What the controls made of a question: all chunks, the first hits, the evidence's rank."""
    return {
        "question": result.question,
        "evidence": result.evidence,
        "controls": asdict(result.options),
        "terms": list(result.terms),
        "evidence_rank": result.evidence_rank,
        "split": result.split,
        "hits": [
            {
                "rank": hit.rank,
                "score": hit.score,
                "before": hit.before,
                "chunk": hit.chunk.number,
                "document_id": hit.chunk.document_id,
                "evidence": hit.chunk.evidence,
            }
            for hit in result.hits
        ],
        "chunks": [_shape_chunk(chunk) for chunk in result.chunks],
    }


def _shape_chunk(chunk: LabChunk) -> Shape:
    return {
        "number": chunk.number,
        "document_id": chunk.document_id,
        "start": chunk.start,
        "end": chunk.end,
        "text": chunk.text,
        "evidence": chunk.evidence,
    }
