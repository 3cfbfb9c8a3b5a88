"""Variants of a question: what it is also searched by, and what each counts beside the original.

The original always stays in the mix, and all that a model or a rule made of it counts less
together: a rewrite that drifts adds what it finds and can't bury what the question itself finds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ibid.record import record
from ibid.records import Hit, Move, TraceStep

ORIGINAL: Final = ""
"""The label of the question as it was asked."""

BETWEEN: Final = ": "
"""What stands between a retriever and the label of a variant in the name of a run."""


@record
class Variant:
    """A text that is searched for a question; `weight` is what its runs count in fusion.

    `reserves` asks for places among the hits for what it finds, as for the parts of a question.
    """

    label: str
    text: str
    weight: float = 1.0
    lexical: bool = True
    dense: bool = True
    reserves: bool = False


@record
class Rewritten:
    """The variants of a question, the original first, and the steps that made them.

    `standalone` is the question as it can be understood alone; None where that is the original.
    """

    variants: tuple[Variant, ...]
    standalone: str | None = None
    steps: tuple[TraceStep, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def question(self) -> str:
        """What is asked: the standalone form, or the original."""
        return self.standalone or self.variants[0].text


def name_run(retriever: str, label: str) -> str:
    """The name of a variant's run by a retriever: "dense", "dense: part 2"."""
    return f"{retriever}{BETWEEN}{label}" if label else retriever


def share_weight(groups: Sequence[Sequence[Variant]], weight: float) -> tuple[Variant, ...]:
    """The variants of several methods, together as heavy as `weight`: each method alike, and each
    variant of one alike. Methods that gave none take no share."""
    given = [group for group in groups if group]
    return tuple(
        replace(variant, weight=weight / len(given) / len(group))
        for group in given
        for variant in group
    )


def reserve_places(hits: Sequence[Hit], labels: Sequence[str], k: int) -> tuple[Hit, ...]:
    """The hits with those that the labelled variants found best moved among the first k.

    Each variant has k // (variants + 1) places, one at least while there are places; the other
    hits keep theirs, and who came in that way stands behind them in the order that it had.
    """
    if not labels or len(hits) <= k:
        return tuple(hits)
    places = max(1, k // (len(labels) + 1))
    ranked = [_rank_by(hits, label)[:places] for label in labels]
    wanted = [n for turn in range(places) for found in ranked for n in found[turn : turn + 1]]
    reserved = list(dict.fromkeys(wanted))[:k]
    others = [n for n in range(len(hits)) if n not in reserved]
    first = sorted([*reserved, *others[: k - len(reserved)]])
    rest = others[k - len(reserved) :]
    return tuple(_lift(hits[n], rank) for rank, n in enumerate((*first, *rest), start=1))


def _lift(hit: Hit, rank: int) -> Hit:
    """The hit, with the move that brought it further up where it came further up."""
    if rank >= hit.rank:
        return hit
    return replace(
        hit, moves=(*hit.moves, Move("reserve", hit.rank, rank, hit.score, raw=hit.score))
    )


def _rank_by(hits: Sequence[Hit], label: str) -> list[int]:
    """The places of the hits that a variant found, the one first to which it gave most."""
    ending = name_run("", label)
    given = {
        place: math.fsum(c.share for name, c in hit.contributions.items() if name.endswith(ending))
        for place, hit in enumerate(hits)
    }
    found = [place for place, share in given.items() if share > 0]
    return sorted(found, key=lambda place: (-given[place], place))
