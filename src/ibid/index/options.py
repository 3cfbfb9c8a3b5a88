"""Options of the index, light enough to be made before any engine is needed."""

from __future__ import annotations

from typing import Final

from ibid.record import record

MIN_CLUSTERS: Final = 64
"""Fewer clusters than these are not worth a file: what they would save is little."""


@record
class Approximation:
    """When a vector search may look only at the rows near its query, and how far it goes.

    A scope of fewer than `min_rows` rows is searched exactly. In a wider one the search looks at
    the nearest clusters, of `cluster_rows` rows each, until these hold `share` of its rows.
    """

    min_rows: int = 300_000
    share: float = 0.04
    cluster_rows: int = 128

    @property
    def least_rows(self) -> int:
        """The length from which a segment has clusters."""
        return MIN_CLUSTERS * self.cluster_rows
