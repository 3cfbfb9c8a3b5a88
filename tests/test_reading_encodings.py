"""Bytes that don't say their encoding: few words of many languages are read, noise is refused."""

from __future__ import annotations

import codecs
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibid.errors import UnsupportedFormat
from ibid.reading.encodings import decode_bytes
from ibid.reading.guessed import share_written
from ibid.reading.media_types import guess_media_type
from ibid.reading.registry import read_bytes

FEW_WORDS = [
    (
        "Наш отпуск длится двадцать дней.",
        ("cp1251", "koi8-r", "cp866", "iso8859-5", "mac-cyrillic"),
    ),
    ("Im Büro hängt der Schlüssel.", ("cp1252", "cp850", "mac-roman")),
    ("L'été, le salarié est à Paris.", ("cp1252",)),
    ("Każdy pracownik składa wniosek o urlop.", ("cp1250", "iso8859-2")),
    ("Güneşli günlerde bahçede çay içilir.", ("cp1254",)),
    ("Η άδεια υποβάλλεται στο γραφείο.", ("cp1253", "iso8859-7")),
    ("המשרד נפתח בשעה שמונה בבוקר.", ("cp1255",)),
    ("يفتح المكتب في الساعة الثامنة صباحا.", ("cp1256", "iso8859-6")),
    ("สำนักงานเปิดเวลาแปดโมงเช้า", ("cp874",)),
    ("圖書館在週末仍然開放。", ("big5",)),
    ("图书馆周末仍然开放。", ("gb18030",)),
    ("図書館は週末も開いています。", ("cp932", "euc_jp")),
    ("사무실은 아홉 시에 열립니다.", ("cp949",)),
]
HEADS = {
    "png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\x06\0\0\0",
    "gif": b"GIF89a\1\0\1\0\x80\0\0\xff\xff\xff\0\0\0",
    "jpg": b"\xff\xd8\xff\xe0\0\x10JFIF\0\1\1",
    "zip": b"PK\3\4\x14\0\0\0\x08\0\xa1\xb2",
    "mp4": b"\0\0\0\x18ftypmp42\0\0\0\0",
    "jp2": b"\0\0\0\x0cjP  \r\n\x87\n",
    "wasm": b"\0asm\1\0\0\0",
    "ico": b"\0\0\1\0\1\0\x10\x10",
    "xz": b"\xfd7zXZ\0\0\4",
    "7z": b"7z\xbc\xaf\x27\x1c\0\4",
    "ole": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0",
}


@pytest.mark.parametrize(
    ("text", "encoding"), [(text, name) for text, names in FEW_WORDS for name in names]
)
def test_a_few_words_are_read_in_their_encoding(text: str, encoding: str) -> None:
    assert decode_bytes(text.encode(encoding)) == text
    assert read_bytes(text.encode(encoding), "note.txt").text == text


def test_words_count_that_are_whole_and_of_one_script() -> None:
    assert share_written("Two words, 12 days") == 14 / 15  # all but the comma
    assert share_written("=====") == 0.0
    assert share_written("ab=====") == 2 / 3  # a sign that is repeated counts once
    assert share_written("aБ bA c") == 0.0  # mixed, a capital within, a single letter
    assert share_written("開館") == 1.0
    assert share_written("貎뙳") == 0.0  # of no everyday use
    assert share_written("") == 0.0


@pytest.mark.parametrize("name", ["noise", "noise.txt", "noise.png", "noise.csv"])
def test_bytes_at_random_become_no_document(name: str) -> None:
    chance = random.Random(11)
    for length in (*range(24, 200), *range(24, 200)):
        data = chance.randbytes(length)
        with pytest.raises(UnsupportedFormat):
            read_bytes(data, name)


@pytest.mark.parametrize("name", ["cut", "cut.png", "cut.txt", "cut.md"])
@pytest.mark.parametrize("kind", HEADS)
def test_a_picture_or_an_archive_cut_short_becomes_no_document(kind: str, name: str) -> None:
    head = HEADS[kind]
    for length in range(1, len(head) + 1):
        if not head[:length].isascii() or b"\0" in head[:length]:
            with pytest.raises(UnsupportedFormat):
                read_bytes(head[:length], name)


@given(st.binary(max_size=200))
def test_a_signature_is_believed_whatever_comes_after_it(rest: bytes) -> None:
    assert guess_media_type("notes.txt", b"\x89PNG\r\n\x1a\n" + rest) == "image/png"


@given(st.binary(min_size=1, max_size=200))
def test_a_file_named_as_a_picture_is_text_only_where_nothing_is_guessed(data: bytes) -> None:
    marked = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE))
    if guess_media_type("logo.png", data).startswith("text/") and not marked:
        assert "\0" not in data.decode("utf-8")
