"""What holds of every document that is read, whatever stands in the file, for every format."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ibid.chunking.chunk import chunk
from ibid.chunking.options import Chunking
from ibid.errors import InputError
from ibid.reading.frames import pack_document, read_frame, unpack_document
from ibid.reading.media_types import guess_media_type
from ibid.reading.registry import read_bytes, supported_media_types
from ibid.records import Document, Passage
from ibid.testing.embedders import LetterTokenizer
from small_files import MAKERS, SAMPLE, Content, make_file

_FORMATS: Final = sorted(MAKERS)
_EXAMPLES: Final = settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
_FILLERS: Final = "\u115f\u1160\u3164\uffa0"  # letters to Unicode, nothing to the eye

# Letters alone: signs mean something in most formats, and those tests have their own files.
WORDS: Final = st.text(
    st.characters(categories=["Lu", "Ll", "Lo"], exclude_characters=_FILLERS),
    min_size=1,
    max_size=12,
)
# What a PDF shows by a font that it doesn't bring; a run of one script, as people write.
_PRINTED: Final = st.one_of(
    *(
        st.text(st.characters(min_codepoint=first, max_codepoint=last), min_size=3, max_size=12)
        for first, last in ((0x41, 0x5A), (0x61, 0x7A), (0x3B1, 0x3C1), (0x430, 0x44F))
    )
)
# What XML can hold at all; signs, combining marks and characters beyond 16 bits included.
TEXTS: Final = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\ufffe\uffff").filter(
        lambda c: c in "\t\n\r" or c >= " "
    ),
    max_size=40,
)


def contents(texts: st.SearchStrategy[str]) -> st.SearchStrategy[Content]:
    row = st.lists(texts, min_size=2, max_size=2)
    paragraphs = st.lists(texts, min_size=1, max_size=4)
    return st.builds(Content, texts, paragraphs, st.lists(row, min_size=2, max_size=4))


def sentences(words: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(words, min_size=1, max_size=5).map(" ".join)


def fold(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).split())


def list_documents(document: Document) -> list[Document]:
    return [document, *(d for inner in document.attachments for d in list_documents(inner))]


def check_blocks(document: Document) -> None:
    """Blocks tile the text; none is invisible, and the text has no half of a character."""
    text, blocks = document.text, document.blocks
    text.encode("utf-8")
    assert blocks[0].start == 0
    assert blocks[-1].end == len(text)
    assert all(before.end == after.start for before, after in pairwise(blocks))
    assert all(text[block.span].strip() for block in blocks)
    assert "\r" not in text
    assert "\0" not in text


def send(document: Document) -> Document:
    """The document as it arrives from the child that reads it."""
    data = pack_document(document)
    pieces = iter([data[:8], data[8:]])
    frame = read_frame(lambda count: next(pieces))
    assert frame is not None
    return unpack_document(frame[0]["documents"], frame[1])


def check_reading(data: bytes, name: str) -> Document | None:
    """The document of a file, None where it is refused, once all that must hold of it does."""
    try:
        document = read_bytes(data, name)
    except InputError:
        return None
    for one in list_documents(document):
        check_blocks(one)
    assert pack_document(read_bytes(data, name)) == pack_document(document)
    assert pack_document(send(document)) == pack_document(document)
    return document


@pytest.mark.parametrize("extension", _FORMATS)
def test_no_word_is_lost(extension: str) -> None:
    words = sentences(_PRINTED if extension == "pdf" else WORDS)

    @_EXAMPLES
    @given(contents(words))
    def check(content: Content) -> None:
        document = check_reading(make_file(extension, content), f"a.{extension}")
        assert document is not None
        found = fold("\n".join(d.text for d in list_documents(document)))
        assert [
            word
            for text in content.list_texts()
            for word in text.split()
            if fold(word) not in found
        ] == []

    check()


@pytest.mark.parametrize("extension", [e for e in _FORMATS if e != "pdf"])
def test_offsets_survive_any_text(extension: str) -> None:
    @_EXAMPLES
    @given(contents(TEXTS))
    def check(content: Content) -> None:
        check_reading(make_file(extension, content), f"a.{extension}")

    check()


def cut(document: Document) -> list[Passage]:
    document = replace(document, id="a")
    return chunk(document, Chunking(), tokenizer=LetterTokenizer(), content_hash="", max_tokens=64)


@pytest.mark.parametrize("extension", _FORMATS)
def test_passages_hold_all_that_was_read(extension: str) -> None:
    content = replace(SAMPLE, paragraphs=[*SAMPLE.paragraphs, "word " * 700, "字" * 900])
    document = check_reading(make_file(extension, content), f"a.{extension}")
    assert document is not None
    left: Any = list(document.text)
    for passage in cut(document):
        assert document.text[passage.span] == passage.text
        left[passage.span] = " " * (passage.end - passage.start)
    assert "".join(left).split() == []


def test_every_format_is_documented() -> None:
    """The table of docs/FORMATS.md names a file of every kind that has a reader, and no other."""
    page = (Path(__file__).parents[1] / "docs" / "FORMATS.md").read_text()
    cells = re.findall(r"^\| (`[^|]+) \|", page.partition("## How a kind")[0], re.M)
    named = {
        guess_media_type(f"a.{x}", b"") for cell in cells for x in re.findall(r"`(\w+)`", cell)
    }
    supported = {kind for kind in supported_media_types() if not kind.endswith("-template")}
    assert named == supported
