"""The way of a check: every invariant of a library looked at, and mended where that can be done."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from ibid.protocols import Embedder, Index, Problem


def verify_library(
    *,
    index: Index,
    embedder: Embedder,
    repair: bool = False,
    on_repair: Callable[[Sequence[Problem]], None] = lambda problems: None,
) -> Sequence[Problem]:
    """The problems that are left; with `repair`, after what is derived was made anew.

    `on_repair` is given those that are about to be mended.

    Nothing is repaired where nothing is wrong, or where the documents themselves are damaged: their
    damage would be built upon. Raises LibraryLocked, and what the embedder raises.
    """
    problems = index.check()
    if not repair or not problems or not all(one.repairable for one in problems):
        return problems
    on_repair(problems)
    index.repair(partial(embedder.embed, kind="passage"))
    return index.check()
