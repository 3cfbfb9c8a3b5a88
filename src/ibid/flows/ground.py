"""The ground of one search: a version of the index, what the caller may see of it, the clock."""

from __future__ import annotations

from ibid.flows.stopwatch import Stopwatch
from ibid.protocols import Embedder, Index, Scope, Snapshot
from ibid.record import record


@record
class Ground:
    """What stays the same from the question to its hits, whatever is searched for on the way."""

    index: Index
    snapshot: Snapshot
    scope: Scope
    embedder: Embedder
    watch: Stopwatch
