"""Verbs that read a library: list, show, search, ask, status."""

from __future__ import annotations

import textwrap
from typing import Any, get_args

import click

from ibid.cli.call import FOUND_NOTHING, Call, Outcome, verb
from ibid.records import Answer, AnswerStatus, Citation, Hit, Passage, Query, SearchMode, Verdict
from ibid.shapes import (
    shape_answer,
    shape_blocks,
    shape_info,
    shape_passages,
    shape_result,
)

WIDTH = 96
"""Columns of printed text."""

_MARKS = {
    Verdict.SUPPORTED: "",
    Verdict.SUPPORTED_ELSEWHERE: " (said by another source: {})",
    Verdict.UNSUPPORTED: " (NOT supported: {})",
    Verdict.NO_SUCH_SOURCE: " (there is no such source)",
    Verdict.UNCITED: " (no source cited; {})",
}


def _searching(function: Any) -> Any:
    """The options of every verb that searches."""
    for option in (
        click.option("--version", "version", type=int, help="A past version of the library."),
        click.option("--include-archived", is_flag=True, help="Search archived documents too."),
        click.option("--rerank", metavar="NAME", help="A reranker, or none."),
        click.option("--filter", metavar="EXPR", help="For example: tag.department = 'hr'"),
        click.option("--mode", type=click.Choice(get_args(SearchMode)), help="Which retrievers."),
    ):
        function = option(function)
    return function


@verb
@click.argument("text")
@click.option("-k", type=click.IntRange(1), help="How many hits.")
@click.option("--min-score", type=float, help="Leave out hits below this score.")
@click.option("--explain", is_flag=True, help="Show what each retriever gave a hit.")
@_searching
def search_command(call: Call, text: str, explain: bool, **options: Any) -> Outcome:
    """Find the passages that fit a text best."""
    with call.open_library() as library:
        query, rerank, changes = _read_options(call, text, options)
        result = library.run_search(query, rerank=rerank, **changes)
    words = "\n\n".join(_tell_hit(hit, explain) for hit in result.hits) or "nothing found"
    return Outcome(shape_result(result), words, 0 if result.hits else FOUND_NOTHING)


@verb
@click.argument("question")
@click.option("--sources", "k", type=click.IntRange(1), help="How many passages to answer from.")
@click.option("--generator", metavar="NAME", help="What writes the answer.")
@click.option("--strict", is_flag=True, default=None, help="Leave out what nothing supports.")
@click.option("--stream", is_flag=True, help="Show the answer while it is written.")
@_searching
def ask_command(
    call: Call,
    question: str,
    generator: str | None,
    strict: bool | None,
    stream: bool,
    **options: Any,
) -> Outcome:
    """Answer a question from the documents, each sentence cited and each citation checked."""
    streaming = stream and not call.as_json
    with call.open_library(generator=generator) as library:
        query, rerank, changes = _read_options(call, question, options)
        answer = library.run_ask(
            query,
            rerank=rerank,
            strict=strict,
            on_text=(lambda piece: click.echo(piece, nl=False)) if streaming else None,
            **changes,
        )
    if streaming and answer.status is AnswerStatus.ANSWERED:
        click.echo()
        words = _tell_sources(answer)
    else:
        words = "\n\n".join(filter(None, (answer.text, _tell_sources(answer))))
    found = answer.status is AnswerStatus.ANSWERED
    return Outcome(shape_answer(answer), words, 0 if found else FOUND_NOTHING)


@verb
@click.option("--filter", metavar="EXPR", help="For example: modified >= 2025-01-01")
def list_command(call: Call, filter: str | None) -> Outcome:
    """List the documents that the caller may see."""
    with call.open_library() as library:
        found = library.documents(call.principals, filter=filter)
    lines = [
        "  ".join(
            filter_empty(
                info.id,
                info.title or "",
                f"{info.passages} passages",
                "archived" if info.archived else "",
                f"for {', '.join(sorted(info.allow)) or 'nobody'}"
                if info.allow is not None
                else "",
            )
        )
        for info in found
    ]
    return Outcome(
        {"documents": [shape_info(info) for info in found]},
        "\n".join(lines) or "no documents",
    )


@verb
@click.argument("id")
@click.option("--text", "part", flag_value="text", help="Only the text.")
@click.option("--passages", "part", flag_value="passages", help="Only the passages.")
def show_command(call: Call, id: str, part: str | None) -> Outcome:
    """Show one document: what is known of it, its text, its passages."""
    with call.open_library() as library:
        info = library.describe(id, call.principals)
        document = library.document(id, call.principals)
        passages = library.passages(id, call.principals)
    shape = {
        **shape_info(info),
        "text": document.text,
        "blocks": shape_blocks(document.blocks),
        "passages": shape_passages(passages),
    }
    if part == "text":
        return Outcome(shape, document.text)
    told = "\n\n".join(_tell_passage(passage) for passage in passages)
    if part == "passages":
        return Outcome(shape, told)
    head = "\n".join(f"{name}: {value}" for name, value in shape_info(info).items() if value)
    return Outcome(shape, f"{head}\n\n{document.text}")


@verb
def status_command(call: Call) -> Outcome:
    """Tell what the library holds, as far as the caller sees it."""
    with call.open_library() as library:
        status = library.status(call.principals)
    made = status.manifest
    shape = {
        "library": status.location,
        "engine": status.engine,
        "version": status.version,
        "documents": status.documents,
        "passages": status.passages,
        "embedder": {
            "name": made.embedder,
            "dimension": made.dimension,
            "weights": made.weights,
        },
        "analyzer": made.analyzer,
        "chunking": made.chunking,
        "bytes": status.bytes,
    }
    if status.restricted_documents is not None:
        shape["restricted_documents"] = status.restricted_documents
    words = "\n".join(
        f"{name.replace('_', ' ')}: {value if name != 'embedder' else made.embedder}"
        for name, value in shape.items()
    )
    return Outcome(shape, words)


def _read_options(
    call: Call, text: str, options: dict[str, Any]
) -> tuple[Query, str | None, dict[str, Any]]:
    """The query, the reranker's name, and the other options of the search that were given."""
    query = Query(
        text,
        call.principals,
        filter=options.pop("filter"),
        include_archived=options.pop("include_archived"),
        version=options.pop("version"),
    )
    rerank = options.pop("rerank")
    return query, rerank, {name: value for name, value in options.items() if value is not None}


def _tell_hit(hit: Hit, explain: bool) -> str:
    lines = [f"{hit.rank}. {_tell_place(hit)}  score {hit.score:.4f}"]
    if explain:
        lines.extend(
            f"   {name}: rank {given.rank}, score {given.score:.4f}, share {given.share:.4f}"
            for name, given in hit.contributions.items()
        )
    lines.append(_indent(hit.passage.text, most=4))
    return "\n".join(lines)


def _tell_place(hit: Hit) -> str:
    path = " > ".join(hit.passage.headings) or hit.document.title or ""
    page = f"page {hit.passage.page}" if hit.passage.page else ""
    span = f"characters {hit.passage.start}-{hit.passage.end}"
    return ", ".join(filter_empty(hit.document_id, path, page, span))


def _tell_passage(passage: Passage) -> str:
    page = f", page {passage.page}" if passage.page else ""
    path = " > ".join(passage.headings)
    return f"[{passage.ordinal}] {passage.start}-{passage.end}{page}  {path}\n{passage.text}"


def _tell_sources(answer: Answer) -> str:
    """The cited places with their quotes, what could not be confirmed, and who wrote it."""
    cited: dict[tuple[object, ...], str] = {}
    for citation in answer.citations:
        cited.setdefault(
            (citation.marker, citation.start, citation.quote), _tell_citation(citation)
        )
    lines = list(cited.values())
    lines.extend(f"note: {warning}" for warning in answer.warnings)
    if answer.status is AnswerStatus.ANSWERED and answer.generator == "extractive":
        lines.append("Quoted from the documents as they stand; no language model was used.")
    return "\n".join(lines)


def _tell_citation(citation: Citation) -> str:
    mark = _MARKS[citation.verdict].format(citation.reason)
    if citation.quote is None:
        return f"[{citation.marker or '?'}] {citation.claim.text}{mark}"
    path = " > ".join(citation.headings) or citation.title or ""
    page = f"page {citation.page}" if citation.page else ""
    span = f"characters {citation.start}-{citation.end}"
    place = ", ".join(filter_empty(citation.document_id or "", path, page, span))
    return f"[{citation.marker}] {place}{mark}\n{_indent(citation.quote)}"


def _indent(text: str, most: int | None = None) -> str:
    lines = textwrap.wrap(" ".join(text.split()), WIDTH - 4, max_lines=most, placeholder=" …")
    return textwrap.indent("\n".join(lines), "    ")


def filter_empty(*parts: str) -> list[str]:
    """The parts that say something."""
    return [part for part in parts if part]
