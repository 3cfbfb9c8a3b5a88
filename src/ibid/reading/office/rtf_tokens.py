"""The tokens of an RTF file: groups, control words, and text with its many encodings."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

OPEN: Final = "{"
CLOSE: Final = "}"
TEXT: Final = ""
HEX: Final = "'"

_TOKEN: Final = re.compile(
    rb"\\([a-zA-Z]{1,32})(-?[0-9]{1,10})?\ ?|\\'([0-9a-fA-F]{2})|\\(.)|([{}])"
    rb"|([^\\{}\r\n]+)|[\r\n]+",
    re.S,
)

# Windows character sets of fonts; those left out are the file's own.
_CODE_PAGES: Final = {
    77: "mac-roman",
    128: "cp932",
    129: "cp949",
    130: "johab",
    134: "gb18030",
    136: "cp950",
    161: "cp1253",
    162: "cp1254",
    163: "cp1258",
    177: "cp1255",
    178: "cp1256",
    186: "cp1257",
    204: "cp1251",
    222: "cp874",
    238: "cp1250",
    254: "cp437",
}


class Token(NamedTuple):
    """One token: a brace, text and hexadecimal text with their bytes, or a word with its number."""

    word: str
    data: bytes = b""
    number: int | None = None


def read_tokens(data: bytes) -> Iterator[Token]:
    """The tokens of a file in their order; raw data of pictures is jumped over."""
    position = 0
    while match := _TOKEN.search(data, position):
        position = match.end()
        word, number, byte, symbol, brace, text = match.groups()
        if text is not None:
            yield Token(TEXT, text)
        elif word is not None:
            value = int(number) if number is not None else None
            if word == b"bin":
                position += max(value or 0, 0)
            else:
                yield Token(word.decode("ascii"), b"", value)
        elif byte is not None:
            yield Token(HEX, bytes.fromhex(byte.decode("ascii")))
        elif brace is not None:
            yield Token(brace.decode("ascii"))
        elif symbol in (b"\\", b"{", b"}"):
            yield Token(TEXT, symbol)
        elif symbol is not None:
            yield Token(symbol.decode("latin-1"))


def find_code_page(character_set: int) -> str | None:
    """The encoding of a font's character set; None for that of the file."""
    return _CODE_PAGES.get(character_set)


def name_code_page(number: int | None) -> str:
    """The encoding of a numbered code page, Windows' western one where it isn't known."""
    special = {10000: "mac-roman", 65001: "utf-8", 936: "gb18030"}
    name = special.get(number or 0, f"cp{number}")
    try:
        codecs.lookup(name)
    except LookupError:
        return "cp1252"
    return name


def join_surrogates(text: str) -> str:
    """The text with the halves of characters that RTF writes one by one put together."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
