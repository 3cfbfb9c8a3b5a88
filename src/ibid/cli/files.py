"""Verbs that look at one file and need no library: convert, chunk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from ibid.chunking.chunk import chunk
from ibid.chunking.options import Chunking, choose_chunking
from ibid.cli.call import Call, Outcome, opens_files, verb
from ibid.cli.words import count_words, join_words
from ibid.flows.prepare import clean_document, hash_content
from ibid.language.detection import detect_language
from ibid.openers import choose_embedder
from ibid.reading.pool import UNREAD_PART, FileToRead, read_one
from ibid.records import Document, Passage
from ibid.shapes import shape_document, shape_passages

_FILE = click.Path(exists=True, dir_okay=False, readable=False, path_type=Path)


@verb
@click.argument("path", type=_FILE)
@opens_files
def convert_command(call: Call, path: Path, password: str | None) -> Outcome:
    """Show a file as the document it becomes.

    In words that is its text; --json adds blocks, title and metadata.
    """
    document = _read(call, path, password)
    why = document.metadata.get(UNREAD_PART)
    notes = (str(why),) if why else ()
    return Outcome(shape_document(document), document.text, notes=notes)


@verb
@click.argument("path", type=_FILE)
@click.option(
    "--by",
    type=click.Choice(("structure", "sentences", "words", "characters")),
    default="structure",
    show_default=True,
    help="What the file is cut by.",
)
@click.option("--size", type=int, help="Size in the method's unit.")
@click.option("--overlap", type=int, help="How much of a passage the next one repeats.")
@click.option(
    "--explain", is_flag=True, help="Tell what cut each passage and how long it is, as embedded."
)
@opens_files
def chunk_command(
    call: Call,
    path: Path,
    by: str,
    size: int | None,
    overlap: int | None,
    explain: bool,
    password: str | None,
) -> Outcome:
    """Show a file as the passages it becomes."""
    chunking = choose_chunking(by, size, overlap)
    document = _read(call, path, password)
    embedder = choose_embedder(None, call.load_settings())
    passages = chunk(
        document,
        chunking,
        tokenizer=embedder.tokenizer,
        content_hash=hash_content(document, str(chunking)),
        max_tokens=embedder.max_tokens,
        language=detect_language(document.text),
    )
    pieces = [len(s) for s in embedder.tokenizer.spans([p.indexed_text for p in passages])]
    shape = {
        "chunking": str(chunking),
        "passages": [
            {**shape, "pieces": count} if explain else shape
            for shape, count in zip(shape_passages(passages), pieces, strict=True)
        ],
    }
    return Outcome(shape, _tell_passages(passages, pieces, chunking if explain else None))


def _read(call: Call, path: Path, password: str | None) -> Document:
    settings = call.load_settings()
    document = read_one(
        FileToRead(
            path,
            path.name,
            settings.ingest.max_file_bytes,
            password=password,
            languages=tuple(filter(None, (settings.reading.ocr_languages or "").split("+"))),
        ),
        wall_s=settings.reading.max_seconds,
        memory_bytes=settings.reading.memory_bytes,
    )
    return clean_document(replace(document, id=path.as_posix(), source=path.resolve().as_uri()))


def _tell_passages(
    passages: Sequence[Passage], pieces: Sequence[int], explained: Chunking | None
) -> str:
    """The passages with their places; where the cutting is explained, with what they cost."""
    told = [
        join_words(
            f"[{passage.ordinal}] {passage.start}-{passage.end}",
            f"{passage.rule}, {count_words(count, 'piece')} in all" if explained else None,
            " > ".join(passage.headings),
            by="  ",
        )
        + "".join(f"\n^ {line}" for line in passage.lead.splitlines())
        + f"\n{passage.text.strip()}"
        for passage, count in zip(passages, pieces, strict=True)
    ]
    if explained:
        limits = f"at most {explained.size}, {explained.overlap} of it repeated"
        told.append(f"{count_words(len(passages), 'passage')} by {explained.by}, {limits}")
    return "\n\n".join(told)
