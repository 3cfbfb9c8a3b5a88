"""Verbs about how a library works: size, lab."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from ibid.chunking.options import By
from ibid.cli.call import FOUND_NOTHING, Call, Outcome, verb
from ibid.cli.words import count_words, indent, join_words, make_table, shorten, tell_facts
from ibid.errors import BadQuery
from ibid.openers import choose_embedder
from ibid.records import Document
from ibid.shapes.inspection import shape_lab, shape_size

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ibid.flows.lab import Analyze, Lab, LabResult
    from ibid.shapes import Shape

DIMENSION = 384
"""Numbers of a vector of the default embedder."""


@verb
@click.option("--documents", type=click.IntRange(0), help="How many; else those of the library.")
@click.option("--tokens", type=click.IntRange(1), help="Tokens of one document.")
@click.option("--chunk", type=click.IntRange(1), default=200, help="Tokens of a passage (200).")
@click.option("--overlap", default="0", help="Tokens of it that the next repeats, or 15%.")
@click.option("--dimension", type=click.IntRange(1), help="Numbers of a vector (384).")
@click.option("--hnsw-m", type=click.IntRange(0), default=0, help="Links of a graph, M.")
@click.option("--window", type=click.IntRange(1), help="Tokens that a model holds.")
@click.option("--changing", is_flag=True, help="The documents change often.")
def size_command(
    call: Call,
    documents: int | None,
    tokens: int | None,
    chunk: int,
    overlap: str,
    dimension: int | None,
    hnsw_m: int,
    window: int | None,
    changing: bool,
) -> Outcome:
    """Tell how large an index gets, and how to ask what it holds.

    Without --documents it is about the library, as far as you see it. Costs are told for the models
    in the table of prices.
    """
    from ibid.evaluation.sizing import estimate_passages, read_overlap, size_index

    if (documents is None) != (tokens is None):
        raise click.UsageError("--documents and --tokens go together")
    settings = call.load_settings()
    asking: dict[str, Any] = {
        "window": window or settings.generator.context_tokens,
        "changing": changing,
        "input_prices": {model: price.input for model, price in settings.prices.items()},
    }
    if documents is None or tokens is None:
        with call.open_library() as library:
            sized = library.size(call.principals, **asking)
        passages, approach = sized.size.passages, sized.approach
        dimension = dimension or sized.dimension
    else:
        from ibid.evaluation.approach import choose_approach

        passages = estimate_passages(documents, tokens, chunk, read_overlap(overlap, chunk))
        sent = settings.ask.sources * chunk
        approach = choose_approach(documents * tokens, sent=sent, **asking)
    dimension = dimension or DIMENSION
    shape = shape_size(size_index(passages, dimension, hnsw_m=hnsw_m), dimension, approach)
    return Outcome(shape, _tell_size(shape))


def _tell_size(shape: Shape) -> str:
    from ibid.evaluation.sizing import tell_bytes

    forms = [(f"  as {name}", tell_bytes(size)) for name, size in shape["forms"].items()]
    facts = make_table(
        [
            ("passages", f"{shape['passages']:,}"),
            ("vectors", f"of {shape['dimension']} numbers"),
            *forms,
            ("links", tell_bytes(shape["link_bytes"])),
            ("in ibid's folder", tell_bytes(shape["ibid_bytes"])),
            ("engine", f"{shape['engine']}: {shape['engine_reason']}"),
        ]
    )
    approach = shape["approach"]
    ways = {"search": "search, and send what is found", "whole": "send everything (ask --whole)"}
    costs = make_table(
        (
            one["model"],
            f"searched {one['searched']:,.2f}",
            f"whole {one['whole']:,.2f}",
            "for 1,000 questions",
        )
        for one in approach["costs"]
    )
    reasons = "\n".join(f"- {reason}" for reason in approach["reasons"])
    way = f"best way: {ways[approach['way']]}\n{reasons}"
    return join_words(facts, shape["advice"], way, costs, by="\n\n")


@verb
@click.argument("question")
@click.argument("paths", nargs=-1, type=click.Path(exists=True, path_type=Path))
@click.option("--evidence", default="", help="The words that a chunk should hold.")
@click.option("--unit", type=click.Choice(get_args(By)), default="words", help="What is cut by.")
@click.option("--size", type=click.IntRange(1), default=20, help="Size of a chunk (20).")
@click.option("--overlap", type=click.IntRange(0), help="What the next one repeats (5, or less).")
@click.option("-k", type=click.IntRange(1), default=3, help="How many chunks are shown (3).")
@click.option(
    "--retriever",
    type=click.Choice(("tfidf", "bm25", "dense", "hybrid")),
    default="tfidf",
    help="What finds them.",
)
@click.option(
    "--synonyms",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A file of synonyms, by which the question is expanded.",
)
@click.option("--rerank", is_flag=True, help="Put those first that hold more, closer together.")
@click.option(
    "--stop-words",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A file of words that don't count; the others then count as they are written.",
)
@click.option("--filter", metavar="EXPR", help="Which documents of the library.")
def lab_command(
    call: Call,
    question: str,
    paths: tuple[Path, ...],
    evidence: str,
    synonyms: Path | None,
    stop_words: Path | None,
    filter: str | None,
    **controls: Any,
) -> Outcome:
    """Try how documents are cut and searched, and see the evidence's rank.

    The documents are the files at PATHS, else those of the library. Nothing is kept. With
    --synonyms the question is also searched by those in the file.
    """
    from ibid.flows.lab import LabOptions

    if controls["overlap"] is None:
        controls["overlap"] = min(5, controls["size"] // 3)
    options = LabOptions(**controls, expand=synonyms is not None)
    words = _read_synonyms(synonyms) if synonyms else {}
    analyze = _read_analyzer(stop_words) if stop_words else None
    if paths:
        result = _open_files(call, paths, analyze, words).run(question, evidence, options)
    else:
        with call.open_library(sends=("embedder",)) as library:
            lab = library.open_lab(call.principals, filter=filter, analyze=analyze, synonyms=words)
            result = lab.run(question, evidence, options)
    missed = not result.hits or (bool(evidence) and result.evidence_rank is None)
    return Outcome(shape_lab(result), _tell_lab(result), FOUND_NOTHING if missed else 0)


def _open_files(
    call: Call,
    paths: Sequence[Path],
    analyze: Analyze | None,
    synonyms: Mapping[str, Sequence[str]],
) -> Lab:
    from ibid.flows.files import find_files
    from ibid.flows.lab import Lab
    from ibid.reading.pool import read_file

    settings = call.load_settings()
    documents: list[Document] = []
    for path in paths:
        folder = path if path.is_dir() else path.parent
        for file in find_files([path], id=None, folder=folder):
            if file.skip is None:
                document = read_file(file.path, max_bytes=settings.ingest.max_file_bytes)
                documents.append(replace(document, id=file.id))
    return Lab(documents, choose_embedder(None, settings), analyze, synonyms)


def _read_synonyms(path: Path) -> Mapping[str, Sequence[str]]:
    from ibid.ranking.synonyms import parse_synonyms

    return parse_synonyms(_read_text(path), str(path)).entries


def _read_analyzer(path: Path) -> Analyze:
    from ibid.language.presets import find_words

    stop_words = frozenset(_read_text(path).split())
    return lambda text: [word for word in find_words(text) if word not in stop_words]


def _read_text(path: Path) -> str:
    try:
        return path.read_text("utf-8-sig")
    except (OSError, ValueError) as error:
        raise BadQuery(f"{path} can't be read: {error}", hint="give a text file") from error


def _tell_lab(result: LabResult) -> str:
    options = result.options
    cut = (
        f"{count_words(len(result.chunks), 'chunk')} by {options.unit},"
        f" {options.size} with {options.overlap} repeated"
    )
    hits = [
        f"{hit.rank}. {hit.chunk.document_id}, characters {hit.chunk.start}-{hit.chunk.end}"
        f"  score {hit.score:.4f}"
        + (f"  was rank {hit.before}" if hit.before != hit.rank else "")
        + ("  HOLDS THE EVIDENCE" if hit.chunk.evidence else "")
        + f"\n{indent(hit.chunk.text, most=4)}"
        for hit in result.hits
    ]
    told = None
    if result.evidence:
        held = sum(chunk.evidence for chunk in result.chunks)
        rank = result.evidence_rank
        told = f"the evidence is in {count_words(held, 'chunk')}; its rank: {rank or 'not found'}"
        if result.split:
            told = "the evidence is cut: a document holds it, and no chunk does"
    facts = tell_facts({"searched by": shorten(" ".join(result.terms)), "cut": cut})
    return join_words(facts, *(hits or ["nothing found"]), told, by="\n\n")
