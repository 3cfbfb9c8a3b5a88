"""Verbs that read a library: list, show, search, ask, status."""

from __future__ import annotations

from typing import Any, get_args

import click

from ibid.cli.call import FOUND_NOTHING, Call, Outcome, Part, verb
from ibid.cli.durations import read_half_life
from ibid.cli.explain import tell_reasons, tell_trace
from ibid.cli.proof import tell_sources
from ibid.cli.words import (
    count_words,
    indent,
    join_words,
    make_table,
    tell_allow,
    tell_facts,
    tell_tags,
)
from ibid.records import (
    AnswerStatus,
    DocumentInfo,
    Hit,
    Passage,
    Query,
    SearchMode,
    SearchResult,
)
from ibid.shapes import (
    shape_answer,
    shape_blocks,
    shape_info,
    shape_passages,
    shape_result,
    shape_time,
)

LINES = 6
"""Lines that a hit shows of its passage."""


def _searching(function: Any) -> Any:
    """The options of every verb that searches."""
    for option in (
        click.option("--version", "version", type=int, help="Search a past version."),
        click.option("--include-archived", is_flag=True, help="Search archived documents too."),
        click.option("--agent", is_flag=True, default=None, help="Let the generator search on."),
        click.option("--graph/--no-graph", default=None, help="Add passages that join others."),
        click.option("--rewrite", metavar="WAYS", help="Such as follow-up,decompose, or nothing."),
        click.option("--rerank", metavar="NAME", help="What reads the hits again, or none."),
        click.option(
            "--recency", callback=read_half_life, metavar="TIME", help="Half-life, such as 180d."
        ),
        click.option("--filter", metavar="EXPR", help="Such as: tag.department = 'hr'"),
        click.option("--mode", type=click.Choice(get_args(SearchMode)), help="The retrievers."),
    ):
        function = option(function)
    return function


@verb
@click.argument("text")
@click.option("-k", type=click.IntRange(1), help="How many hits.")
@click.option("--min-score", type=float, help="Leave out hits below this score.")
@click.option("--explain", is_flag=True, help="Show why each hit is where it is.")
@_searching
def search_command(call: Call, text: str, explain: bool, **options: Any) -> Outcome:
    """Find passages.

    They are the ones that fit TEXT best, by its words and by its meaning.
    """
    flags = _pop_flags(options)
    sends: tuple[Part, ...] = ("embedder", "reranker", "rewriter")
    with call.open_libraries(sends=sends, flags=flags) as library:
        query, changes = _read_options(call, text, options)
        result = library.run_search(query, **changes)
    words = _tell_result(result, explain)
    shape = shape_result(result, explain=explain)
    return Outcome(shape, words, 0 if result.hits else FOUND_NOTHING, result.warnings)


@verb
@click.argument("question")
@click.option("--sources", "k", type=click.IntRange(1), help="How many passages to answer from.")
@click.option(
    "--generator", metavar="NAME", help="What writes the answer, such as extractive or ollama."
)
@click.option("--strict", is_flag=True, default=None, help="Leave out what no source supports.")
@click.option("--whole", is_flag=True, help="Send a model all that you may see.")
@click.option("--no-log", is_flag=True, help="Do not keep the answer.")
@click.option("--stream", is_flag=True, help="Show the answer while it is written.")
@click.option("--explain", is_flag=True, help="Show the steps that led to the answer.")
@_searching
def ask_command(
    call: Call,
    question: str,
    generator: str | None,
    strict: bool | None,
    whole: bool,
    no_log: bool,
    stream: bool,
    explain: bool,
    **options: Any,
) -> Outcome:
    """Answer a question, every sentence cited and checked.

    Where the documents hold no answer, that is said and the exit code is 3.
    """
    shown: list[str] = []

    def show(piece: str) -> None:
        shown.append(piece)
        click.echo(piece, nl=False)

    flags = {
        "generator.name": generator,
        "ask.context": "whole" if whole else None,
        "answers.log": False if no_log else None,
        **_pop_flags(options),
    }
    sends: tuple[Part, ...] = ("embedder", "reranker", "generator")
    if whole and len(call.places) > 1:
        raise click.UsageError("--whole is for one library")
    with call.open_libraries(sends=sends, flags=flags) as library:
        query, changes = _read_options(call, question, options)
        answer = library.run_ask(
            query,
            strict=strict,
            on_text=show if stream and not call.as_json else None,
            **changes,
        )
    found = answer.status is AnswerStatus.ANSWERED
    if shown:
        click.echo("\n")
    # An answer that was mended since, or taken back, follows what was seen of it.
    text = None if "".join(shown).strip() == answer.text.strip() else answer.text
    steps = tell_trace(answer.trace) if explain else None
    words = join_words(text, tell_sources(answer), steps, by="\n\n")
    code = 0 if found else FOUND_NOTHING
    return Outcome(shape_answer(answer, explain=explain), words, code, answer.warnings)


@verb
@click.option("--filter", metavar="EXPR", help="Such as: modified >= 2025-01-01")
def list_command(call: Call, filter: str | None) -> Outcome:
    """List the documents.

    They are those that the caller may see, in the order they came in.
    """
    with call.open_library() as library:
        found = library.documents(call.principals, filter=filter)
    words = make_table(
        (
            info.id,
            info.title or "",
            count_words(info.passages, "passage"),
            join_words("archived" if info.archived else None, tell_allow(info.allow)),
        )
        for info in found
    )
    return Outcome({"documents": [shape_info(info) for info in found]}, words or "no documents")


@verb
@click.argument("id")
@click.option("--text", "part", flag_value="text", help="Only the text.")
@click.option("--passages", "part", flag_value="passages", help="Only the passages.")
def show_command(call: Call, id: str, part: str | None) -> Outcome:
    """Show one document.

    In words: what is known of it and its text; --json adds its blocks and passages.
    """
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
    return Outcome(shape, f"{_tell_info(info)}\n\n{document.text}")


@verb
def status_command(call: Call) -> Outcome:
    """Tell what the library holds.

    Documents and passages are counted as far as the caller sees them.
    """
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
    told = {**shape, "embedder": f"{made.embedder}, {made.dimension} dimensions"}
    words = tell_facts({name.replace("_", " "): str(value) for name, value in told.items()})
    return Outcome(shape, words)


def _pop_flags(options: dict[str, Any]) -> dict[str, Any]:
    """The options of a search that stand for settings, by their keys."""
    keys = {
        "rerank": "search.rerank",
        "graph": "search.graph",
        "agent": "search.agent",
        "rewrite": "rewrite.methods",
        "recency": "select.half_life_days",
    }
    return {key: options.pop(name) for name, key in keys.items()}


def _read_options(call: Call, text: str, options: dict[str, Any]) -> tuple[Query, dict[str, Any]]:
    """The query, and the other options of the search that were given."""
    query = Query(
        text,
        call.principals,
        filter=options.pop("filter"),
        include_archived=options.pop("include_archived"),
        version=options.pop("version"),
    )
    return query, {name: value for name, value in options.items() if value is not None}


def _tell_result(result: SearchResult, explain: bool) -> str:
    told = [_tell_hit(hit, explain) for hit in result.hits] or ["nothing found"]
    if explain:
        spent = ", ".join(f"{stage} {ms:.1f}" for stage, ms in result.timings_ms.items())
        told.append(tell_trace(result.trace))
        told.append(f"version {result.version}, {result.mode}; milliseconds: {spent}")
    return "\n\n".join(told)


def _tell_hit(hit: Hit, explain: bool) -> str:
    lines = [f"{hit.rank}. {_tell_place(hit)}  score {hit.score:.4f}"]
    if explain:
        lines.append(indent(tell_reasons(hit)))
    body = hit.passage.text[hit.passage.body :]
    lines.append(indent(body if body.strip() else hit.passage.text, most=LINES))
    return "\n".join(lines)


def _tell_place(hit: Hit) -> str:
    passage = hit.passage
    path = " > ".join(passage.headings) or hit.document.title
    page = f"page {passage.page}" if passage.page else None
    span = f"characters {passage.start}-{passage.end}"
    return join_words(hit.library, hit.document_id, path, page, span)


def _tell_passage(passage: Passage) -> str:
    place = join_words(
        f"[{passage.ordinal}] {passage.start}-{passage.end}",
        f"page {passage.page}" if passage.page else None,
        " > ".join(passage.headings),
        by="  ",
    )
    return f"{place}\n{passage.text.strip()}"


def _tell_info(info: DocumentInfo) -> str:
    return tell_facts(
        {
            "id": info.id,
            "title": info.title,
            "source": info.source,
            "media type": info.media_type,
            "modified": shape_time(info.modified_at),
            "version": str(info.version),
            "archived": "yes" if info.archived else None,
            "access": tell_allow(info.allow) or "public",
            "tags": tell_tags(info.tags),
            "metadata": tell_tags(info.metadata),
            "passages": str(info.passages),
            "characters": f"{info.characters:,}",
        }
    )
