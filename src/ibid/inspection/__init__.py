"""The Python face of a library's own work: its size, its lab, where an answer was lost."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from ibid.flows.options import hold_principals
from ibid.parts import Parts
from ibid.protocols import Scope
from ibid.records import Owner

if TYPE_CHECKING:
    from ibid.flows.lab import Analyze, Lab
    from ibid.flows.size import Sized


class Inspection:
    """What is asked about how a library works; nothing here changes it."""

    _parts: Parts

    def size(
        self,
        principals: Iterable[str] | Owner = (),
        *,
        window: int | None = None,
        changing: bool = False,
        input_prices: Mapping[str, float] | None = None,
    ) -> Sized:
        """How large the index of what the caller sees is, and how it is best asked.

        `window` is what a model holds in tokens, `input_prices` what a million tokens sent to one
        cost; see `choose_approach`.
        """
        from ibid.flows.size import size_library

        parts = self._parts
        return size_library(
            Scope(hold_principals(principals), include_archived=True),
            index=parts.index,
            embedder=parts.embedder,
            sources=parts.ask.search.k,
            window=window,
            changing=changing,
            input_prices=input_prices,
        )

    def open_lab(
        self,
        principals: Iterable[str] | Owner = (),
        *,
        filter: str | None = None,
        analyze: Analyze | None = None,
        synonyms: Mapping[str, Collection[str]] | None = None,
    ) -> Lab:
        """A lab with the documents that the caller sees; see `Lab`. Raises BadSetting, BadQuery."""
        from ibid.flows.lab import Lab

        parts = self._parts
        scope = Scope(hold_principals(principals), filter)
        snapshot = parts.index.snapshot()
        infos = snapshot.documents(scope)
        Lab.check_room(sum(info.characters for info in infos))
        return Lab(
            [snapshot.document(info.id, scope).document for info in infos],
            parts.embedder,
            analyze,
            synonyms or {},
            parts.index.find_vectors,
        )
