"""Bytes to text: byte-order marks, UTF-8, what the file declares, then a guess that is checked."""

from __future__ import annotations

import codecs
import re
from typing import Final

from ibid.errors import UnsupportedFormat
from ibid.reading.guessed import guess_text, looks_written

BYTE_ORDER_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_WIDE: Final = ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be")
_SAMPLE: Final = 65_536  # bytes looked at for a guess
_HEAD: Final = 1024  # bytes; fewer of them are taken for a whole file
_LEAST_WIDE: Final = 4  # characters of a text in two or four bytes each that says so nowhere
_MAX_CONTROLS: Final = 0.01  # share of control characters above which it is no text
_MAX_BROKEN: Final = 0.1  # broken sequences of UTF-8 for each whole one that are forgiven
# Controls that no text has: not white space, escape, end of file or, in C1, next line.
_C0: Final = re.compile("[\0-\x08\x0e-\x19\x1c-\x1f]")
_C0_C1: Final = re.compile("[\0-\x08\x0e-\x19\x1c-\x1f\x7f-\x84\x86-\x9f]")
_C0_BYTES: Final = bytes(code for code in range(0x80) if _C0.match(chr(code)))
_C0_DEL_BYTES: Final = bytes(code for code in range(0x80) if _C0_C1.match(chr(code)))

# What a file means that declares the first: the encodings that browsers read in its place.
_MEANT: Final = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "tis-620": "cp874",
}


def decode_bytes(data: bytes, *, declared: str | None = None) -> str:
    """The text of the bytes, without a byte-order mark.

    `declared` is what the file says of itself; it counts only where the bytes bear it out.

    Raises UnsupportedFormat when they are no text in any encoding.
    """
    for mark, encoding in BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace")
    if b"\0" in data:
        wide = guess_wide_encoding(data[:_SAMPLE])
        if wide is None:
            raise UnsupportedFormat("binary, not text")
        return data.decode(wide, "replace")
    escaped = b"\x1b" in data and b"\x1b$" in data  # the first alone is found much faster
    text = _decode_as(data, "iso2022_jp") if escaped else None
    text = _decode_utf8(data) if text is None else text
    if text is None:
        text = _decode_declared(data, declared) or guess_text(data)
    if text is None or not looks_like_text(text[:_SAMPLE]):
        raise UnsupportedFormat("binary, not text")
    return text


def sniff_text(head: bytes, *, declared: bool = False) -> bool:
    """True when the first bytes of a file can be those of a text.

    With `declared` only when they are UTF-8 or begin with a mark, so that nothing is guessed.
    """
    if any(head.startswith(mark) for mark, _ in BYTE_ORDER_MARKS):
        return True
    if declared:
        return b"\0" not in head and _is_utf8(head)
    if b"\0" in head:
        return guess_wide_encoding(head) is not None
    return looks_like_text(head.decode("latin-1"), c1=True)


def guess_wide_encoding(data: bytes) -> str | None:
    """The UTF-16 or UTF-32 that the bytes are in without saying so; None for neither.

    Of two byte orders that both give text, the one with more spaces and line ends is right.
    """
    found: list[tuple[float, str]] = []
    for encoding in _WIDE:
        width = 4 if "32" in encoding else 2
        try:
            text = data[: len(data) // width * width].decode(encoding)
        except UnicodeDecodeError as error:
            if error.start < len(data) - width * 2:  # not just a pair cut in two at the end
                continue
            text = data[: error.start].decode(encoding)
        spaced = text.isascii() or any(map(text.__contains__, " \n。、"))
        if len(text) >= _LEAST_WIDE and spaced and looks_like_text(text) and looks_written(text):
            found.append((sum(map(text.count, " \n")) / len(text), encoding))
    return max(found, key=lambda pair: pair[0])[1] if found else None


def looks_like_text(text: str, *, c1: bool = False) -> bool:
    """True when hardly any character is a control; with `c1` those from 0x80 to 0x9F are allowed.

    A NUL is never text.
    """
    if "\0" in text:
        return False
    if text.isascii():
        data = text.encode("ascii")
        controls = len(data) - len(data.translate(None, delete=_C0_BYTES if c1 else _C0_DEL_BYTES))
    else:
        controls = len((_C0 if c1 else _C0_C1).findall(text))
    return controls <= len(text) * _MAX_CONTROLS


def _decode_utf8(data: bytes) -> str | None:
    """The bytes as UTF-8, with a few broken sequences forgiven; None for another encoding."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    whole = len(text) - broken - len(data.translate(None, delete=bytes(range(0x80, 0x100))))
    return text if broken <= whole * _MAX_BROKEN else None


def _is_utf8(head: bytes) -> bool:
    """True for the first bytes of a text in UTF-8; where they are many the last may be cut off."""
    whole = len(head) < _HEAD
    try:
        return looks_like_text(codecs.getincrementaldecoder("utf-8")().decode(head, final=whole))
    except UnicodeDecodeError:
        return False


def _decode_declared(data: bytes, declared: str | None) -> str | None:
    """The bytes in the encoding that the file says it is in; None where they don't bear it out."""
    text = _decode_as(data, declared) if declared else None
    return text if text is not None and looks_like_text(text[:_SAMPLE]) else None


def _decode_as(data: bytes, encoding: str) -> str | None:
    """The bytes in an encoding given by name; None where it is unknown or doesn't fit them."""
    try:
        name = codecs.lookup(encoding.strip()).name
        return data.decode(_MEANT.get(name, name))
    except (LookupError, UnicodeError):
        return None
