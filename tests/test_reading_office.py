"""Archives from strangers: what is in them is known by its content, and none does harm."""

from __future__ import annotations

import io
import struct
import zipfile

import pytest
from lxml import etree

from ibid.errors import UnreadableDocument, UnsupportedFormat
from ibid.reading.archive import open_archive, parse_xml, stream_xml
from ibid.reading.media_types import guess_media_type
from ibid.reading.registry import read_bytes

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
OFFICE = "application/vnd.openxmlformats-officedocument."


def make_zip(*entries: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, content in entries:
            archive.writestr(name, content)
    return stream.getvalue()


def make_ole(*streams: str) -> bytes:
    return OLE + bytes(500) + b"".join(name.encode("utf-16-le") + bytes(64) for name in streams)


def test_entries_are_read_by_name() -> None:
    archive = open_archive(make_zip(("a/b.xml", b"one"), ("c", b"two")))
    assert archive.names == ("a/b.xml", "c")
    assert archive.read("c") == b"two"
    assert "c" in archive
    with pytest.raises(UnreadableDocument, match="missing"):
        archive.read("d")


def test_bombs_are_refused_before_they_are_unpacked() -> None:
    bomb = make_zip(("word/document.xml", bytes(20 << 20)))
    with pytest.raises(UnreadableDocument, match="a bomb"):
        open_archive(bomb)
    with pytest.raises(UnreadableDocument, match="a bomb"):
        read_bytes(bomb, "bomb.docx")
    with pytest.raises(UnreadableDocument, match="50000"):
        open_archive(make_zip(*((str(n), b"") for n in range(50_001))))


def test_sizes_in_the_directory_are_not_believed() -> None:
    data = bytearray(make_zip(("a", b"x" * 5000)))
    for signature, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        struct.pack_into("<I", data, data.index(signature) + offset, 10)
    with pytest.raises(UnreadableDocument, match="can't be unpacked"):
        open_archive(bytes(data)).read("a")
    struct.pack_into("<I", data, data.index(b"PK\x01\x02") + 24, 600 << 20)
    with pytest.raises(UnreadableDocument, match="512 MiB"):
        open_archive(bytes(data))


def test_encrypted_damaged_and_oddly_packed_entries_are_refused() -> None:
    data = bytearray(make_zip(("a", b"x" * 5000)))
    data[data.index(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(UnreadableDocument, match="protected by a password"):
        open_archive(bytes(data)).read("a")
    damaged = bytearray(make_zip(("a", b"hello"), method=zipfile.ZIP_STORED))
    damaged[damaged.index(b"hello")] ^= 1
    with pytest.raises(UnreadableDocument, match="can't be unpacked"):
        open_archive(bytes(damaged)).read("a")
    with pytest.raises(UnreadableDocument, match="not used here"):
        open_archive(make_zip(("a", b"hello"), method=zipfile.ZIP_LZMA)).read("a")


BOMB = (
    b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">'
    + b"".join(b'<!ENTITY %c "%s">' % (c, b"&%c;" % (c - 1) * 10) for c in range(98, 108))
    + b"]><x>&k;</x>"
)


def test_xml_reaches_nothing_outside_and_does_not_grow() -> None:
    outside = b'<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/hostname">]><x>a&e;b</x>'
    for root in (parse_xml(outside), *stream_xml(outside, ["x"])):
        assert len(etree.tostring(root)) < 200
    with pytest.raises(UnreadableDocument, match="broken XML"):
        parse_xml(BOMB)
    with pytest.raises(UnreadableDocument, match="broken XML"):
        parse_xml(b"<a>" * 10_000)
    with pytest.raises(UnreadableDocument, match="broken XML"):
        list(stream_xml(b"<a><b></a>", ["b"]))


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("a", make_zip(("[Content_Types].xml", b"x"), ("word/d.xml", b"x")), "wordprocessingml"),
        ("a.docx", make_zip(("xl/workbook.xml", b"x")), "spreadsheetml"),
        ("a.zip", make_zip(("ppt/presentation.xml", b"x")), "presentationml"),
        ("a.docm", make_zip(("x", b"x")), "wordprocessingml"),
        ("a.zip", make_zip(("x", b"x")), "application/zip"),
        ("a", make_ole("WordDocument"), "application/msword"),
        ("a.doc", make_ole("Workbook"), "application/vnd.ms-excel"),
        ("a", make_ole("__properties_version1.0", "WordDocument"), "application/vnd.ms-outlook"),
        ("a.docx", make_ole("EncryptedPackage"), "wordprocessingml"),
        ("a.txt", rb"{\rtf1 x}", "application/rtf"),
    ],
)
def test_the_content_says_what_it_is(name: str, data: bytes, expected: str) -> None:
    assert expected in guess_media_type(name, data)


def test_old_and_protected_office_files_say_what_to_do() -> None:
    for name in ("a.docx", "a.xlsx", "a.pptx"):
        with pytest.raises(UnreadableDocument, match="protected by a password; save it without"):
            read_bytes(make_ole("EncryptedPackage"), name)
    with pytest.raises(UnsupportedFormat, match=r"application/msword; save it as \.docx"):
        read_bytes(make_ole("WordDocument"), "a.doc")
    with pytest.raises(UnreadableDocument, match="under a newer name"):
        read_bytes(OLE + bytes(9000) + "WordDocument".encode("utf-16-le"), "a.docx")
