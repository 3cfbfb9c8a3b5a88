"""Plain text, encodings, kinds of files, and the builder that every reader uses."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibid.errors import EmptyDocument, UnsupportedFormat
from ibid.reading.builder import DocumentBuilder, format_table, join_lines, normalize_text
from ibid.reading.encodings import decode_bytes
from ibid.reading.media_types import guess_media_type
from ibid.reading.registry import (
    MAX_BLOCKS,
    load_reader,
    read_bytes,
    supported_media_types,
)
from ibid.reading.text import find_blocks
from ibid.records import Block, BlockKind, Document


def assert_tiles(text: str, blocks: Sequence[Block]) -> None:
    assert [b.start for b in blocks] == [0, *(b.end for b in blocks[:-1])]
    assert blocks[-1].end == len(text)


@given(st.text())
def test_paragraphs_tile_any_text(text: str) -> None:
    blocks = find_blocks(text)
    assert "".join(text[block.span] for block in blocks) == text
    assert all(text[block.span].strip() for block in blocks) or not text.strip()


def test_paragraphs_end_at_blank_lines() -> None:
    text = "\n one\ntwo\n \t\n\n  three\n\n"
    assert [text[b.span] for b in find_blocks(text)] == ["\n one\ntwo\n \t\n\n  ", "three\n\n"]


KINDS = st.sampled_from([kind for kind in BlockKind if kind is not BlockKind.PAGE_BREAK])


@given(st.lists(st.tuples(KINDS, st.text())))
def test_built_blocks_tile_the_text_and_lose_nothing(parts: list[tuple[BlockKind, str]]) -> None:
    builder = DocumentBuilder()
    for kind, text in parts:
        builder.append(kind, text)
    kept = [normalize_text(text) for _, text in parts if normalize_text(text).strip()]
    if not kept:
        with pytest.raises(EmptyDocument):
            builder.build()
        return
    document = builder.build()
    assert_tiles(document.text, document.blocks)
    assert len(document.blocks) == len(kept)
    assert document.text.split() == " ".join(kept).split()
    assert document.text == document.text.rstrip()


def test_items_of_a_list_are_one_block_and_code_in_it_another() -> None:
    builder = DocumentBuilder()
    builder.open_item("1.")
    builder.append(BlockKind.PARAGRAPH, "one", lines=(1, 1))
    builder.open_item("-")
    builder.append(BlockKind.PARAGRAPH, "a\nb", lines=(2, 3))
    builder.close_item()
    builder.close_list()
    builder.append(BlockKind.CODE, "  x = 1\n", lines=(4, 4))
    builder.append(BlockKind.PARAGRAPH, "after", lines=(5, 5))
    builder.close_item()
    builder.close_list()
    document = builder.build()
    assert document.text == "1. one\n   - a\n     b\n\n  x = 1\n\n   after"
    assert [b.kind for b in document.blocks] == [BlockKind.LIST, BlockKind.CODE, BlockKind.LIST]
    assert [b.lines for b in document.blocks] == [(1, 3), (4, 4), (5, 5)]


def test_tables_are_rows_of_markdown() -> None:
    table = format_table([["a", "b"], ["1|2"]], header=True)
    assert table == "| a | b |\n| --- | --- |\n| 1\\|2 |  |"


def test_lines_join_without_a_space_in_chinese_and_japanese() -> None:
    assert join_lines(["持股比", "例", "is a", "ratio"]) == "持股比例 is a ratio"


SAMPLES = {
    "Le cœur de l'été : Noël à l'école, « ça coûte 5 € » dit-elle.": ["cp1252", "utf-8-sig"],
    "El niño comió piñas; ¿qué más quieres? Mañana, en España.": ["latin-1", "utf-16"],
    "Zażółć gęślą jaźń. Książka leży na półce, a źródło jest świeże.": ["cp1250", "iso8859-2"],
    "Şişli'de güneşli bir gün, çocuklar bahçede oynuyor.": ["cp1254"],
    "Однажды, в студеную зимнюю пору, я из лесу вышел.": ["cp866", "cp1251", "koi8-r"],
    "吾輩は猫である。名前はまだ無い。どこで生れたか。": [
        "cp932",
        "euc_jp",
        "iso2022_jp",
        "utf-16-le",
    ],
    "人人生而自由,在尊严和权利上一律平等。": ["gb18030", "utf-32-be"],
    "plain ASCII with a few words in it": ["utf-16-be", "utf-32-le", "ascii"],
}


@pytest.mark.parametrize(
    ("text", "encoding"), [(text, name) for text, names in SAMPLES.items() for name in names]
)
def test_encodings_are_found(text: str, encoding: str) -> None:
    assert decode_bytes((text + "\n").encode(encoding) * 3) == (text + "\n") * 3 or (
        encoding in ("utf-16", "utf-8-sig")  # the mark stands thrice there
        and decode_bytes(text.encode(encoding)) == text
    )


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1))
def test_utf8_is_read_as_it_is(text: str) -> None:
    assert decode_bytes(("word " + text).encode()) == "word " + text


def test_one_broken_byte_does_not_turn_utf8_into_something_else() -> None:
    assert decode_bytes("Übergrößenträger äöü äöü äöü äöü".encode() + b"\xff") == (
        "Übergrößenträger äöü äöü äöü äöü\ufffd"
    )


def test_what_the_file_declares_counts_only_if_it_fits() -> None:
    greek = "Η γλώσσα".encode("cp1253")
    assert decode_bytes(greek, declared="windows-1253") == "Η γλώσσα"
    assert decode_bytes("Größe".encode(), declared="latin-1") == "Größe"
    assert decode_bytes("Größe".encode("latin-1"), declared="utf-8") == "Größe"
    assert decode_bytes("Größe".encode("latin-1"), declared="no-such-thing") == "Größe"


@pytest.mark.parametrize("data", [b"\x00\x01\x02\x03" * 50, bytes(range(256)) * 4])
def test_bytes_that_are_no_text_are_refused(data: bytes) -> None:
    with pytest.raises(UnsupportedFormat):
        decode_bytes(data)
    assert guess_media_type("data.txt", data) == "application/octet-stream"


@pytest.mark.parametrize(
    ("name", "head", "media_type"),
    [
        ("a.md", b"# hi", "text/markdown"),
        ("a.md", b"\x89PNG\r\n\x1a\n\0\0", "image/png"),
        ("LICENSE", b"Apache License", "text/plain"),
        ("setup.cfg", b"[metadata]", "text/plain"),
        ("app.ts", b"const x = 1", "text/x-source"),
        ("notes", b"<!DOCTYPE html><html>", "text/html"),
        ("bm25.txt", b"BM25 ranks, and %PDF-1.4 is a header", "text/plain"),
        ("scan.pdf", b"junk\n\x00\xff%PDF-1.7", "application/pdf"),
        ("broken.pdf", b"no header here", "application/pdf"),
        ("page.pdf", b"<html>not found", "text/html"),
        ("a.docx", b"PK\x03\x04\0\0", "application/vnd.openxmlformats-officedocument"),
        ("archive", b"PK\x03\x04\0\0", "application/zip"),
        ("logo.svg", b"<svg/>", "image/svg+xml"),
        ("logo.png", b"", "image/png"),
        ("wide.txt", "wide text".encode("utf-16-le"), "text/plain"),
    ],
)
def test_name_and_content_tell_the_kind(name: str, head: bytes, media_type: str) -> None:
    assert guess_media_type(name, head).startswith(media_type)


def test_kinds_without_a_reader_are_named() -> None:
    with pytest.raises(UnsupportedFormat, match=r"^unsupported type image/png$"):
        read_bytes(b"\x89PNG\r\n\x1a\n\0\0", "logo.png")
    with pytest.raises(EmptyDocument):
        read_bytes(b"", "a.txt")


@pytest.mark.parametrize("media_type", sorted(supported_media_types()))
def test_every_reader_of_the_table_is_there(media_type: str) -> None:
    assert callable(load_reader(media_type))


def test_plain_text_is_kept_with_its_lines() -> None:
    document = read_bytes(b"\n\n  indented\r\nline\r\n\r\nlast\r\n\r\n", "a.log")
    assert document.text == "  indented\nline\n\nlast"
    assert document.media_type == "text/plain"
    assert [b.lines for b in document.blocks] == [(3, 4), (6, 6)]
    assert_tiles(document.text, document.blocks)


def test_reading_twice_gives_the_same() -> None:
    data = "a\n\nb ünïcode 持股比例".encode()
    first: Document = read_bytes(data, "a.txt")
    assert first == read_bytes(data, "a.txt")


def test_a_file_of_very_many_paragraphs_has_fewer_blocks_that_still_tile_it() -> None:
    document = read_bytes(b"a\n\n" * 250_000 + b"end\n", "many.txt")
    assert len(document.blocks) <= MAX_BLOCKS
    assert document.blocks[0].start == 0
    assert document.blocks[-1].end == len(document.text)
    assert all(a.end == b.start for a, b in pairwise(document.blocks))
    assert document.blocks[0].lines == (1, 5)
