"""Verbs that look at one file and need no library: convert, chunk."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from ibid.chunking.chunk import chunk
from ibid.chunking.options import Chunking, choose_chunking
from ibid.cli.call import Call, Outcome, verb
from ibid.errors import UnreadableDocument
from ibid.flows.prepare import clean_document, hash_content
from ibid.language.detection import detect_language
from ibid.openers import choose_embedder
from ibid.reading.pool import read_file
from ibid.records import Document
from ibid.shapes import shape_document, shape_passages


@verb
@click.argument("path", type=click.Path(path_type=Path))
def convert_command(call: Call, path: Path) -> Outcome:
    """Show a file as the document it becomes: its text, with --json its blocks too."""
    document = _read(call, path)
    return Outcome(shape_document(document), document.text)


@verb
@click.argument("path", type=click.Path(path_type=Path))
@click.option(
    "--by",
    default="structure",
    show_default=True,
    help="structure, sentences, words or characters.",
)
@click.option("--size", type=int, help="Size in the method's unit.")
@click.option("--overlap", type=int, help="How much of a passage the next one repeats.")
@click.option("--explain", is_flag=True, help="Tell how long each passage is, as it is embedded.")
def chunk_command(
    call: Call, path: Path, by: str, size: int | None, overlap: int | None, explain: bool
) -> Outcome:
    """Show a file as the passages it becomes."""
    chunking = choose_chunking(by, size, overlap)
    document = _read(call, path)
    embedder = choose_embedder(None, call.load_settings())
    passages = chunk(
        document,
        chunking,
        tokenizer=embedder.tokenizer,
        content_hash=hash_content(document, chunking),
        max_tokens=embedder.max_tokens,
        language=detect_language(document.text),
    )
    pieces = [len(s) for s in embedder.tokenizer.spans([p.indexed_text for p in passages])]
    shapes = [
        {**shape, "pieces": count} if explain else shape
        for shape, count in zip(shape_passages(passages), pieces, strict=True)
    ]
    words = "\n\n".join(
        f"[{passage.ordinal}] {passage.start}-{passage.end}"
        + (f"  {count} pieces, {_explain(chunking)}" if explain else "")
        + f"  {' > '.join(passage.headings)}\n{passage.text}"
        for passage, count in zip(passages, pieces, strict=True)
    )
    return Outcome({"chunking": str(chunking), "passages": shapes}, words)


def _read(call: Call, path: Path) -> Document:
    settings = call.load_settings()
    if not path.exists():
        raise UnreadableDocument(f"{path} doesn't exist", hint="give the path of a file")
    document = read_file(path, max_bytes=settings.ingest.max_file_bytes)
    return clean_document(replace(document, id=path.as_posix(), source=path.resolve().as_uri()))


def _explain(chunking: Chunking) -> str:
    return f"by {chunking.by}, at most {chunking.size} with {chunking.overlap} repeated"
