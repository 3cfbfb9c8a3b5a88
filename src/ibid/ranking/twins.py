"""Near duplicates: passages that say the same, of which the newest is enough.

Two passages are alike by the Jaccard similarity of their shingles, runs of three words. MinHash
finds the pairs worth a look (Broder, On the Resemblance and Containment of Documents, 1997); the
sets themselves decide.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

from ibid.language.late import late
from ibid.language.scripts import UNSPACED
from ibid.ranking.select import TWINS_SOUGHT, Twin
from ibid.record import record
from ibid.records import Hit

if TYPE_CHECKING:
    from rensa import RMinHash

SHINGLE_WORDS: Final = 3

PERMUTATIONS: Final = 128
"""Which estimates a similarity to within 0.044, one standard deviation where it is worst."""

MARGIN: Final = 0.15
"""How far below the threshold an estimate may be for the sets to be compared."""

_WORD: Final = late(lambda: rf"[{UNSPACED}]|[^\W_{UNSPACED}]+")
_ASCII_WORD: Final = re.compile(r"[^\W_]+", re.ASCII)


@record
class Print:
    """What a text is compared by: its shingles, an estimate of them, its numbers and names."""

    shingles: frozenset[tuple[str, ...]]
    sketch: RMinHash
    facts: frozenset[str]


class NearTwins:
    """Finds, among the hits kept so far, one that says the same as another.

    Passages whose numbers and capitalised words are the same are twins from the likeness
    `threshold` on. Where these differ, one may say what the other does not: they are twins only as
    versions, which are passages of two documents with one title, under one path of headings, and
    with different dates. The newer one is kept, without dates the better one.
    """

    def __init__(self, threshold: float) -> None:
        self._threshold = threshold
        self._prints: dict[str, Print] = {}

    def __call__(self, hit: Hit, kept: Sequence[Hit]) -> Twin | None:
        """The first hit kept that is a twin of this one; `newer` says that this one replaces it."""
        mine = self._look_up(hit)
        for place, other in enumerate(kept[:TWINS_SOUGHT]):
            theirs = self._look_up(other)
            if not are_alike(mine, theirs, self._threshold):
                continue
            newer = _is_newer(hit, other)
            if mine.facts == theirs.facts:
                return Twin(place, "nearly the same text as", newer=bool(newer))
            if newer is not None and _are_versions(hit, other):
                return Twin(place, "an older version of", newer=newer)
        return None

    def _look_up(self, hit: Hit) -> Print:
        if hit.passage.id not in self._prints:
            self._prints[hit.passage.id] = make_print(hit.passage.text[hit.passage.body :])
        return self._prints[hit.passage.id]


def are_alike(one: Print, other: Print, threshold: float) -> bool:
    """Whether two texts share so much of their shingles; the sketches spare most comparisons."""
    if one.sketch.jaccard(other.sketch) < threshold - MARGIN:
        return False
    shared = len(one.shingles & other.shingles)
    return shared >= threshold * (len(one.shingles) + len(other.shingles) - shared)


def make_print(text: str) -> Print:
    """What a text is compared by."""
    from rensa import RMinHash  # noqa: PLC0415 - a search that shows every hit needs none

    words = (_ASCII_WORD if text.isascii() else _WORD()).findall(text)
    folded = [word.casefold() for word in words]
    runs = range(max(1, len(folded) - SHINGLE_WORDS + 1))
    shingles = frozenset(tuple(folded[at : at + SHINGLE_WORDS]) for at in runs)
    sketch = RMinHash(num_perm=PERMUTATIONS, seed=1)
    sketch.update([" ".join(shingle) for shingle in shingles])
    facts = frozenset(word for word in words if word != word.lower() or not word.isalpha())
    return Print(shingles, sketch, facts)


def _are_versions(hit: Hit, other: Hit) -> bool:
    """Whether two passages stand at the same place of two documents that go by one title."""
    return (
        hit.document_id != other.document_id
        and hit.document.title is not None
        and hit.document.title == other.document.title
        and hit.passage.headings == other.passage.headings
    )


def _is_newer(hit: Hit, other: Hit) -> bool | None:
    """Whether the document of the first is the newer one; None where no date tells."""
    dates = _read_date(hit), _read_date(other)
    if dates[0] is None or dates[1] is None or dates[0] == dates[1]:
        return None
    return dates[0] > dates[1]


def _read_date(hit: Hit) -> datetime | None:
    return hit.document.modified_at
