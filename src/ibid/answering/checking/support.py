"""What a passage states, and the run of its sentences that supports a claim best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest

from ibid.answering.checking.alignment import Alignment
from ibid.answering.checking.checks import CHECKS
from ibid.answering.checking.fact_checks import count_held
from ibid.answering.checking.facts import Facts, join_facts, read_facts
from ibid.answering.checking.name_checks import count_names
from ibid.answering.evidence import Unit, list_runs


@dataclass(frozen=True, slots=True)
class Support:
    """The first and last unit of the best evidence, and why it isn't enough (None: it is)."""

    first: int
    last: int
    reason: str | None


class Statements:
    """What the units of a passage state, one at least; `above` stands over all of them."""

    def __init__(self, units: Sequence[Unit], above: str, language: str | None) -> None:
        self._units = units
        self._above = above
        self._language = language

    @cached_property
    def _facts(self) -> list[Facts]:
        return [read_facts(_name_cells(unit), language=self._language) for unit in self._units]

    @cached_property
    def _contexts(self) -> list[Facts]:
        """What stands above each unit and holds for it: titles, table header, lead-in."""
        texts = [f"{self._above} \n{unit.context}" for unit in self._units]
        return [read_facts(text, language=self._language, context=True) for text in texts]

    @cached_property
    def _whole(self) -> Facts:
        return join_facts([*self._facts, *self._contexts])

    def _join(self, first: int, last: int) -> Facts:
        """The facts of a run of units, with what stands above them."""
        return join_facts([*self._facts[first : last + 1], *self._contexts[first : last + 1]])

    def find_support(self, claim: Facts) -> Support:
        """The run of units that covers a claim best.

        Of runs that cover as many of its words and facts it is the shortest, then the one with more
        of the words, the truest, the first. Short goes before true: a sentence that says another
        number must not be rescued by a neighbour in which that number means something else. Where
        the claim is not supported it is the run with most of its words: that is what it got wrong.
        """
        best: list[tuple[tuple[int, ...], Support]] = []
        for first, last in list_runs(len(self._units)):
            alignment = Alignment(claim, self._join(first, last))
            held = alignment.covered + count_held(alignment) + count_names(alignment)
            ranks = ((held, alignment.covered), (alignment.covered, held))
            orders = [(-one, last - first, -other) for one, other in ranks]
            if best and all(order > kept for order, (kept, _) in zip(orders, best, strict=True)):
                continue
            reasons = [reason for check in CHECKS if (reason := check(alignment, self._whole))]
            support = Support(first, last, reasons[0] if reasons else None)
            found = [((*order, len(reasons), first), support) for order in orders]
            best = [
                min(pair, key=lambda one: one[0]) for pair in zip(best or found, found, strict=True)
            ]
        (_, fullest), (_, nearest) = best
        return nearest if fullest.reason and nearest.reason else fullest


def _name_cells(unit: Unit) -> str:
    """What a unit says; each cell of a table's row with the head of its column."""
    if unit.kind != "row" or not unit.context:
        return unit.text
    heads, cells = (text.split("|") for text in (unit.context, unit.text))
    named = zip_longest(heads[: len(cells)], cells, fillvalue="")
    return "|".join(f"{head} {cell}" for head, cell in named)
