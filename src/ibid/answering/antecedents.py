"""Sentences that only make sense after another one: "It must be checked on Fridays"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ibid.answering.evidence import Unit
from ibid.language.analyzer import content_terms
from ibid.language.late import late

MOST: Final = 2
"""Sentences that are brought along at most."""

_POINTS_BACK: Final = late(
    lambda: (
        r"(?i)(?:but |and |also,? |however,? |in addition,? )?"
        r"(?:it|its|they|their|this|these|those|he|she|his|her|such|both|neither)\b(?! is (?:not )?"
        r"(?:possible|clear|important|recommended|necessary|likely|required|best|true)\b)"
        r"|(?:es|er|sie|ihr|ihre|sein|seine|dies|diese[rsmn]?|dabei|dafür|davon|damit|dort|beide)\b"
        r"|(?:il|elle|ils|elles|cela|ceci|cette|ces|celui-ci|celle-ci|son|sa|ses|leurs?)\b"
        r"|(?:ell[ao]s?|él|est[aeo]s?|es[ao]s?|su|sus|ambos|ambas)\b"
        r"|[它他她这這其该該]|(?:それ|これ|その|この|彼|ここ|そこ)"
    )
)
"""How a sentence opens that speaks of what the one before it named."""


def find_antecedents(
    unit: Unit, units: Sequence[Unit], asked: frozenset[str], language: str | None
) -> list[Unit]:
    """The sentences before this one that tell what it speaks of, in their order; often none.

    `units` are those of the passage. Where this one opens with a word that points back, those
    before it are read up to the first that does not; of them, each is brought along that names
    something `asked` which neither this one does nor one between. Without that first one, none is.
    """
    place = next((n for n, one in enumerate(units) if one.start == unit.start), 0)
    missing = asked - set(content_terms(unit.text, language))
    found: list[Unit] = []
    for before in reversed(units[max(0, place - MOST) : place]):
        if before.kind != "sentence" or not _points_back(unit):
            break
        if named := missing.intersection(content_terms(before.text, language)):
            found.insert(0, before)
            missing -= named
        unit = before
    return found if found and not _points_back(found[0]) else []


def _points_back(unit: Unit) -> bool:
    return unit.kind == "sentence" and _POINTS_BACK().match(unit.text) is not None
