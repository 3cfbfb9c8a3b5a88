"""Several libraries in one question: the Python face for searching and asking them together.

with ibid.open("handbook.ibid") as handbook, ibid.open("wiki.ibid") as wiki:
    answer = ibid.Libraries({"handbook": handbook, "wiki": wiki}).ask("How long is parental leave?")
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from ibid.errors import BadQuery
from ibid.flows.options import Listener, SearchOptions
from ibid.flows.queries import check_count, make_query
from ibid.library import Library
from ibid.records import Answer, Hit, Owner, Query, SearchMode, SearchResult


class Libraries:
    """Libraries by name, asked together; they stay their opener's, who closes them.

    Each is searched by its own embedder and inside what the caller may see there. What is settled
    once (how many hits, the reranker, the generator) is as the first of them has it.
    """

    def __init__(self, libraries: Mapping[str, Library]) -> None:
        """Take the libraries. Raises BadQuery for none."""
        if not libraries:
            raise BadQuery("no library to search", hint="name at least one")
        self._parts = {name: library._parts for name, library in libraries.items()}
        self._first = next(iter(self._parts.values()))
        self._answering = next(iter(libraries.values()))

    def search(
        self,
        text: str,
        k: int | None = None,
        mode: SearchMode | None = None,
        filter: str | None = None,
        principals: Iterable[str] | Owner = (),
        rerank: str | None = None,
    ) -> list[Hit]:
        """The k best passages of all libraries, best first; each hit names its `library`.

        Raises what searching one of them raises.
        """
        query = make_query(text, principals, filter)
        changes = {"k": k, "mode": mode}
        given = {name: value for name, value in changes.items() if value is not None}
        return list(self.run_search(query, rerank=rerank, **given).hits)

    def run_search(
        self, query: Query, *, rerank: str | None = None, **changes: Any
    ) -> SearchResult:
        """The whole result of a query; `changes` are to the SearchOptions of the first library."""
        return self._search(query, replace(self._first.search, **changes), rerank)

    def ask(
        self,
        question: str,
        k: int | None = None,
        filter: str | None = None,
        principals: Iterable[str] | Owner = (),
        rerank: str | None = None,
    ) -> Answer:
        """An answer from at most k sources of all libraries; see `run_ask`."""
        query = make_query(question, principals, filter)
        given: dict[str, Any] = {} if k is None else {"k": k}
        return self.run_ask(query, rerank=rerank, **given)

    def run_ask(
        self,
        query: Query,
        *,
        rerank: str | None = None,
        strict: bool | None = None,
        on_text: Callable[[str], None] | None = None,
        **changes: Any,
    ) -> Answer:
        """The answer to a query, every claim cited and checked; its sources name their library.

        It is kept in no log, since each log is one library's. Raises what searching and answering
        raise.
        """
        from ibid.flows.ask import answer_from

        options = self._first.ask
        options = replace(
            options,
            search=replace(options.search, **changes),
            strict=options.strict if strict is None else strict,
            context="search",
            tell_changed=False,
        )
        return answer_from(
            self._search(query, options.search, rerank),
            options,
            index=self._first.index,
            embedder=self._first.embedder,
            generator=self._answering.generator,
            listener=Listener(on_text=on_text),
        )

    def _search(self, query: Query, options: SearchOptions, rerank: str | None) -> SearchResult:
        from ibid.flows.several import merge_results, search_apart

        check_count("k", options.k)
        if query.version is not None:
            raise BadQuery(
                "a past version of several libraries", hint="ask one library, or today's versions"
            )
        found = {
            name: search_apart(query, options, index=parts.index, embedder=parts.embedder)
            for name, parts in self._parts.items()
        }
        embedders = {
            (parts.embedder.name, parts.embedder.weights) for parts in self._parts.values()
        }
        first = self._first
        return merge_results(
            query,
            found,
            options,
            standardize=len(embedders) > 1,
            reranker=first.reranker if rerank is None else first.open_reranker(rerank),
            snapshot=first.index.snapshot(),
            tokenizer=first.embedder.tokenizer,
        )
