"""Where an expected text stood in a search: found, fused, reranked, selected, and what stood above.

Everything here is made of what one search held, inside the scope that it searched.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ibid.flows.diagnosis import Stage, Target, find_shown
from ibid.flows.options import SearchOptions
from ibid.flows.search import Walked
from ibid.language.analyzer import analyze_query, content_terms
from ibid.language.detection import choose_query_language
from ibid.protocols import Scored, Snapshot
from ibid.ranking.fusion import Fused
from ibid.records import DocumentInfo, Hit, Passage

OUTRANKING: Final = 3
"""Passages above the text that are told."""

_ADVICE: Final = {
    "lexical": "ask in the words of the documents, name synonyms in rewrite.synonyms, or search by"
    " meaning too (search.mode = hybrid)",
    "dense": "raise search.candidates, or search by words too (search.mode = hybrid)",
    "fuse": "let a reranker read more of what is found (search.rerank), raise search.k (ask.sources"
    " for answers), or change search.weights; `ibid tune` tries them",
    "rerank": "take another reranker or none (search.rerank), or raise search.k (ask.sources)",
}

_REASONS: Final = (
    ("score ", "lower search.min_score"),
    ("beyond the budget", "raise select.budget_pieces"),
    ("same text", "nothing is lost: the same text is shown from another document"),
    ("", "raise select.alike, at which passages count as saying the same"),
)
"""How the reasons of selection begin, and what would change them."""


@dataclass(frozen=True, slots=True)
class Trail:
    """One search with the targets that it should have found; `found` are all rows it held."""

    walked: Walked
    targets: Sequence[Target]
    options: SearchOptions
    found: Mapping[int, tuple[Passage, DocumentInfo]]
    terms: Sequence[str]
    language: str

    @property
    def ids(self) -> set[str]:
        """The ids of the targets' passages."""
        return {one.id for target in self.targets for one in target.passages}

    def rank_in(self, rows: Sequence[Scored | Fused]) -> int | None:
        """The rank of the first row that is one of the targets' passages."""
        ids = self.ids
        for rank, one in enumerate(rows, start=1):
            if one.row in self.found and self.found[one.row][0].id in ids:
                return rank
        return None


def follow(
    walked: Walked,
    targets: Sequence[Target],
    options: SearchOptions,
    *,
    snapshot: Snapshot,
    languages: Mapping[str, int],
) -> list[Stage]:
    """The stages lexical to select, up to the one that lost the targets."""
    retrieved = walked.retrieved
    rows = {one.row for run in retrieved.runs.values() for one in run}
    rows |= {one.row for one in retrieved.fused}
    question = walked.result.standalone or walked.result.query.text
    language = choose_query_language(question, languages)
    trail = Trail(
        walked=walked,
        targets=targets,
        options=options,
        found=snapshot.passages(sorted(rows)),
        terms=list(dict.fromkeys(analyze_query(question, language))),
        language=language,
    )
    stages = list(_tell_retrievers(trail))
    if all(stage.ok for stage in stages):
        for tell in (_tell_fusion, _tell_reranking, _tell_selection):
            if (stage := tell(trail)) is not None:
                stages.append(stage)
                if not stage.ok:
                    break
    return stages


# -- the retrievers -----------------------------------------------------------------------------


def _tell_retrievers(trail: Trail) -> Iterator[Stage]:
    """A stage for each retriever of the mode; neither failed where they hold it together."""
    together = trail.rank_in(trail.walked.retrieved.fused)
    for name in ("lexical", "dense"):
        if trail.options.mode not in ("hybrid", name):
            continue
        ranks = _find_ranks(trail, name)
        if ranks:
            best = min(ranks.values())
            yield Stage(name, True, f"rank {best}", rank=best)
            continue
        missed = _TELL_MISSED[name](trail)
        ok = together is not None
        yield Stage(name, ok, missed, "" if ok else _ADVICE[name])


def _find_ranks(trail: Trail, name: str) -> dict[str, int]:
    """The rank in each run of a retriever, that of a rewrite too."""
    runs = trail.walked.retrieved.runs
    ranks = {
        run: trail.rank_in(rows) for run, rows in runs.items() if run.partition(":")[0] == name
    }
    return {run: rank for run, rank in ranks.items() if rank is not None}


def _tell_lexical(trail: Trail) -> str:
    held = {
        term
        for target in trail.targets
        for one in target.passages
        for term in content_terms(one.indexed_text, trail.language)
    }
    shared = [term for term in trail.terms if term in held]
    if not shared:
        return "not found: it shares no word with the question"
    return f"not among the {trail.options.candidates} found; it shares {', '.join(shared)} alone"


def _tell_dense(trail: Trail) -> str:
    return f"not among the {trail.options.candidates} nearest in meaning"


_TELL_MISSED: Final = {"lexical": _tell_lexical, "dense": _tell_dense}


# -- from many to few ---------------------------------------------------------------------------


def _tell_fusion(trail: Trail) -> Stage | None:
    fused = trail.walked.retrieved.fused
    rank = trail.rank_in(fused)
    if rank is None:  # documents are ranked, and another passage stands for its own
        detail = "its document is ranked by another passage"
        shown = find_shown(trail.targets, trail.walked.result.hits) is not None
        return Stage("fuse", shown, detail, "" if shown else "set search.unit to passages")
    reranks = _reranks(trail)
    depth = max(trail.options.k, trail.options.rerank_candidates) if reranks else trail.options.k
    told = f"rank {rank} of {len(fused)}"
    if rank <= depth or find_shown(trail.targets, trail.walked.result.hits) is not None:
        return Stage("fuse", True, told, rank=rank)
    what = f"the first {depth} are reranked" if reranks else f"the first {depth} are shown"
    above = _tell_above(trail, rank)
    return Stage("fuse", False, f"{told}, and {what}; above it: {above}", _ADVICE["fuse"], rank)


def _tell_above(trail: Trail, rank: int) -> str:
    """The first passages above the text, each with the retriever that put it there."""
    fused = trail.walked.retrieved.fused
    mine = fused[rank - 1]
    told = []
    for one in fused[: min(rank - 1, OUTRANKING)]:
        if one.row not in trail.found:
            continue
        passage, info = trail.found[one.row]
        told.append(f"{info.id} {passage.start}-{passage.end} ({_tell_lead(one, mine)})")
    return "; ".join(told)


def _tell_lead(one: Fused, mine: Fused) -> str:
    """By which retriever a passage is most ahead of another."""
    leads = {
        name: given.share - (mine.contributions[name].share if name in mine.contributions else 0.0)
        for name, given in one.contributions.items()
    }
    if not leads:
        return "joined by what it names"
    name = max(leads, key=lambda name: leads[name])
    rank = mine.contributions[name].rank if name in mine.contributions else "none"
    return f"{name} rank {one.contributions[name].rank} against {rank}"


def _reranks(trail: Trail) -> bool:
    return any(move.stage == "rerank" for hit in trail.walked.ranked[:1] for move in hit.moves)


def _tell_reranking(trail: Trail) -> Stage | None:
    if not _reranks(trail):
        return None
    hits = trail.walked.ranked
    place = find_shown(trail.targets, hits)
    assert place is not None  # what was within the depth was reranked
    [move] = [move for move in place.moves if move.stage == "rerank"]
    told = f"rank {move.after}, from {move.before}"
    k = trail.options.k
    if move.after <= k or find_shown(trail.targets, trail.walked.result.hits) is not None:
        return Stage("rerank", True, told, rank=move.after)
    above = "; ".join(_tell_place(hit) for hit in hits[:OUTRANKING])
    detail = f"{told}, and the first {k} are shown; above it: {above}"
    return Stage("rerank", False, detail, _ADVICE["rerank"], move.after)


def _tell_selection(trail: Trail) -> Stage:
    shown = find_shown(trail.targets, trail.walked.result.hits)
    if shown is not None:
        told = f"hit {shown.rank} of {len(trail.walked.result.hits)}"
        return Stage("select", True, told, rank=shown.rank)
    reason = _find_reason(trail)
    advice = next(advice for start, advice in _REASONS if reason.startswith(start))
    if reason.startswith("rank"):
        advice = "raise search.k (ask.sources for answers), or lower select.recency"
    return Stage("select", False, f"left out: {reason}", advice)


def _find_reason(trail: Trail) -> str:
    ids = trail.ids
    for step in trail.walked.result.trace:
        dropped = step.data.get("dropped") if step.stage == "select" else None
        for one in dropped if isinstance(dropped, list) else ():
            if isinstance(one, dict) and one["passage_id"] in ids:
                return str(one["reason"])
    return f"ranked behind the first {trail.options.k} by what came after fusion"


def _tell_place(hit: Hit) -> str:
    return f"{hit.document_id} {hit.passage.start}-{hit.passage.end}"
