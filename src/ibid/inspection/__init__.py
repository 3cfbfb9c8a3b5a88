"""The Python face of a library's own work: its size, its lab, where an answer was lost."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ibid.flows.options import OnProgress, hold_principals
from ibid.parts import Parts
from ibid.protocols import Scope
from ibid.records import Owner, Query

if TYPE_CHECKING:
    from ibid.evaluation.golden import GoldenCase
    from ibid.flows.diagnose import Diagnostician
    from ibid.flows.diagnosis import Diagnosis
    from ibid.flows.lab import Analyze, Lab
    from ibid.flows.size import Sized
    from ibid.flows.tune import Tuned, TuneOptions
    from ibid.protocols import Vectors


class Inspection:
    """What is asked about how a library works; nothing here changes it.

    `principals` is the set that the caller holds.
    """

    location: str
    _parts: Parts

    def embed(self, texts: Sequence[str]) -> Vectors:
        """The vectors of texts, a row each, as the library's embedder makes them of passages."""
        return self._parts.embedder.embed(texts, kind="passage")

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

    def diagnose(
        self,
        question: str,
        *,
        text: str | None = None,
        document_id: str | None = None,
        principals: Iterable[str] | Owner = (),
        asker: Iterable[str] | Owner | None = None,
        filter: str | None = None,
        include_archived: bool = False,
        version: int | None = None,
        answering: bool = True,
        **changes: Any,
    ) -> Diagnosis:
        """Which stage lost an expected text, or a document, on the way of a question.

        `principals` is the set that the caller holds, who is told of nothing that they may not see;
        `asker` the one whose question it is (None: the caller). With `answering` off it is walked
        up to selection; `changes` are to the SearchOptions of asking. Nothing is kept in the log.
        Raises BadQuery, and what searching and answering raise.
        """
        from ibid.flows.diagnosis import Expected

        caller = hold_principals(principals)
        query = Query(
            question,
            caller if asker is None else hold_principals(asker),
            filter,
            include_archived=include_archived,
            version=version,
        )
        diagnostician = self.open_diagnostician(caller, answering=answering, **changes)
        return diagnostician.diagnose(query, Expected(text, document_id))

    def open_diagnostician(
        self, principals: Iterable[str] | Owner = (), *, answering: bool = True, **changes: Any
    ) -> Diagnostician:
        """What diagnoses one question after another for a caller; see `diagnose`."""
        from ibid.flows.diagnose import Diagnostician

        parts = self._parts
        options = replace(parts.ask, search=replace(parts.ask.search, **changes))
        return Diagnostician(
            index=parts.index,
            embedder=parts.embedder,
            options=options,
            caller=hold_principals(principals),
            generator=parts.open_generator() if answering else None,
            reranker=parts.reranker,
        )

    def tune(
        self,
        cases: Sequence[GoldenCase],
        options: TuneOptions | None = None,
        *,
        on_progress: OnProgress = lambda progress: None,
    ) -> Tuned:
        """The settings that find best what golden cases expect; see `flows.tune.tune`.

        Scratch libraries are made beside this one and removed at the end; a run that was stopped
        goes on where it was; let one run at a time. Nothing of this library is changed. Raises
        EvaluationError, and what searching raises.
        """
        from ibid.inspection.workshop import tune_library

        return tune_library(self.location, self._parts, cases, options, on_progress)

    def forget_trials(self) -> None:
        """Drop what a run of tuning that was stopped has left: it holds the documents' texts."""
        from ibid.inspection.workshop import drop_scratch

        drop_scratch(self.location)

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
