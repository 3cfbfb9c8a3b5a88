"""The shapes of what a question gets: hits, answers, citations, and what the log keeps of them."""

from __future__ import annotations

from collections.abc import Iterable

from ibid.records import (
    Answer,
    Citation,
    CitedPlace,
    Hit,
    KeptAnswer,
    NearDocument,
    SearchResult,
    TraceStep,
)
from ibid.shapes.documents import shape_boxes
from ibid.shapes.plain import Shape, shape_principals, shape_time


def shape_result(result: SearchResult, *, explain: bool = False) -> Shape:
    """The hits of a search; with `explain`, each with its moves, and the steps beside them."""
    shape = {
        "query": result.query.text,
        "version": result.version,
        "mode": result.mode,
        "hits": [shape_hit(hit, explain=explain) for hit in result.hits],
        "timings_ms": dict(result.timings_ms),
        "warnings": list(result.warnings),
    }
    if result.versions:
        shape["versions"] = dict(result.versions)
    return {**shape, "trace": shape_trace(result.trace)} if explain else shape


def shape_trace(trace: Iterable[TraceStep]) -> list[Shape]:
    """The steps on the way of a question."""
    return [{"stage": step.stage, "detail": step.detail, "data": dict(step.data)} for step in trace]


def shape_hit(hit: Hit, *, explain: bool = False) -> Shape:
    """One hit with its place, its text and what each retriever gave it.

    With `explain`, also the score that fusion made of the shares, and each later move.
    """
    shape = _shape_found(hit)
    if explain:
        shape["fused_score"] = hit.fused_score
        shape["moves"] = [
            {
                "stage": move.stage,
                "before": move.before,
                "after": move.after,
                "score": move.score,
                "raw": move.raw,
            }
            for move in hit.moves
        ]
    return shape


def _shape_found(hit: Hit) -> Shape:
    return {
        "rank": hit.rank,
        "score": hit.score,
        **_shape_place(hit),
        "source": hit.document.source,
        "metadata": {**hit.document.metadata, **hit.document.tags},
        "modified_at": shape_time(hit.document.modified_at),
        "contributions": {
            name: {"rank": given.rank, "score": given.score, "share": given.share}
            for name, given in hit.contributions.items()
        },
    }


def _shape_place(hit: Hit) -> Shape:
    passage = hit.passage
    return {
        **_name_library(hit),
        "document_id": hit.document_id,
        "passage_id": passage.id,
        "title": hit.document.title,
        "headings": list(passage.headings),
        "lead": passage.lead,
        "page": passage.page,
        "place": passage.place,
        "start": passage.start,
        "end": passage.end,
        "text": passage.text,
    }


def _name_library(of: Hit | Citation | NearDocument) -> Shape:
    """The library that it is of, where several were asked."""
    return {} if of.library is None else {"library": of.library}


def shape_answer(answer: Answer, *, explain: bool = False) -> Shape:
    """An answer with its citations, its sources and all that it takes to repeat it.

    With `explain`, the steps that led to it are there too.
    """
    shape = _shape_proof(answer)
    return {**shape, "trace": shape_trace(answer.trace)} if explain else shape


def _shape_proof(answer: Answer) -> Shape:
    request = answer.request
    return {
        "answer_id": answer.id,
        "question": answer.question,
        "standalone": answer.standalone,
        "status": answer.status.value,
        "text": answer.text,
        "citations": [shape_citation(citation) for citation in answer.citations],
        "sources": [shape_source_hit(hit) for hit in answer.sources],
        "request": {
            "filter": request.filter,
            "principals": shape_principals(request.principals),
            "mode": request.mode,
            "k": request.k,
            "history": list(request.history),
            "whole": request.whole,
        },
        "version": answer.version,
        "embedder": answer.embedder,
        "generator": answer.generator,
        "settings_hash": answer.settings_hash,
        "prompt_hash": answer.prompt_hash,
        "warnings": list(answer.warnings),
        "timings_ms": dict(answer.timings_ms),
        "tokens": dict(answer.tokens),
        "nearest": [
            {**_name_library(near), "document_id": near.document_id, "title": near.title}
            for near in answer.nearest
        ],
    }


def shape_source_hit(hit: Hit) -> Shape:
    """One of the sources that an answer is made from, by its number."""
    return {
        "number": hit.rank,
        **_shape_place(hit),
        "modified_at": shape_time(hit.document.modified_at),
    }


def shape_kept(kept: KeptAnswer) -> Shape:
    """An answer from the log: as it was given, with the hits of its search and what was said."""
    return {
        **shape_answer(kept.answer),
        "hits": [shape_hit(hit) for hit in kept.answer.found],
        **_shape_keeping(kept),
    }


def shape_entry(kept: KeptAnswer) -> Shape:
    """An answer as the log lists it."""
    answer = kept.answer
    return {
        "answer_id": answer.id,
        "question": answer.question,
        "status": answer.status.value,
        "text": answer.text,
        "documents": list(dict.fromkeys(c.document_id for c in answer.citations if c.document_id)),
        "principals": shape_principals(answer.request.principals),
        "version": answer.version,
        "generator": answer.generator,
        "settings_hash": answer.settings_hash,
        "prompt_hash": answer.prompt_hash,
        **_shape_keeping(kept),
    }


def _shape_keeping(kept: KeptAnswer) -> Shape:
    return {
        "asked_at": shape_time(kept.asked_at),
        "feedback": [
            {
                "rating": "good" if one.good else "bad",
                "comment": one.comment,
                "given_at": shape_time(one.given_at),
            }
            for one in kept.feedback
        ],
    }


def shape_cited_place(place: CitedPlace) -> Shape:
    """A cited place with the text around its quote."""
    citation = place.citation
    return {
        **shape_citation(citation),
        "quote": place.quote,
        "before": place.before,
        "after": place.after,
        "boxes": shape_boxes(place.boxes),
        "url": citation.url or place.source,
        "version": place.version,
    }


def shape_citation(citation: Citation) -> Shape:
    """One checked citation."""
    return {
        "marker": citation.marker,
        "claim": {"start": citation.claim.start, "end": citation.claim.end},
        **_name_library(citation),
        "document_id": citation.document_id,
        "passage_id": citation.passage_id,
        "title": citation.title,
        "headings": list(citation.headings),
        "page": citation.page,
        "place": citation.place,
        "start": citation.start,
        "end": citation.end,
        "quote": citation.quote,
        "verdict": citation.verdict.value,
        "reason": citation.reason,
        "url": citation.url,
        "modified_at": shape_time(citation.modified_at),
    }
