"""What kind of file it is: from its name and, where that can't be trusted, from its first bytes."""

from __future__ import annotations

import mimetypes
import re
from pathlib import PurePath
from typing import Final

from ibid.reading.encodings import BYTE_ORDER_MARKS, guess_wide_encoding, sniff_text

HEAD_BYTES: Final = 8192
"""As many of the first bytes as `guess_media_type` can make use of."""

UNKNOWN: Final = "application/octet-stream"

_OFFICE: Final = "application/vnd.openxmlformats-officedocument."

_EXTENSIONS: Final = {
    "text/plain": "txt text log",
    "text/markdown": "md markdown mdown mkd mdx",
    "text/html": "html htm",
    "application/xhtml+xml": "xhtml xht",
    "application/pdf": "pdf",
    "text/csv": "csv",
    "text/tab-separated-values": "tsv tab",
    "text/x-rst": "rst rest",
    "text/asciidoc": "adoc asciidoc",
    "text/x-tex": "tex latex ltx",
    "text/vtt": "vtt",
    "text/x-subrip": "srt",
    "text/x-source": (
        "py pyi js mjs cjs jsx ts tsx java kt kts scala go rs c h cc cpp cxx hpp cs swift m rb php"
        " pl lua r jl sh bash zsh fish ps1 sql hs ml ex exs erl clj dart vue css scss less proto"
        " tf groovy gradle cmake"
    ),
    "application/json": "json",
    "application/jsonl": "jsonl ndjson",
    "application/x-ipynb+json": "ipynb",
    "application/xml": "xml rss atom",
    "application/yaml": "yaml yml",
    "application/toml": "toml",
    "application/msword": "doc dot",
    "application/vnd.ms-excel": "xls xlt",
    "application/vnd.ms-powerpoint": "ppt pps pot",
    f"{_OFFICE}wordprocessingml.document": "docx docm dotx dotm",
    f"{_OFFICE}spreadsheetml.sheet": "xlsx xlsm xltx xltm xlsb",
    f"{_OFFICE}presentationml.presentation": "pptx pptm ppsx ppsm potx potm",
    "application/vnd.oasis.opendocument.text": "odt ott",
    "application/vnd.oasis.opendocument.spreadsheet": "ods ots",
    "application/vnd.oasis.opendocument.presentation": "odp otp",
    "application/epub+zip": "epub",
    "application/rtf": "rtf",
    "application/postscript": "ps eps",
    "application/vnd.ms-outlook": "msg",
    "application/mbox": "mbox",
    "message/rfc822": "eml",
    "image/svg+xml": "svg",
    "image/heic": "heic",
    "application/gzip": "gz tgz",
    "font/woff2": "woff2",
}
_TYPE_BY_EXTENSION: Final = {
    extension: media_type for media_type, row in _EXTENSIONS.items() for extension in row.split()
}
# The built-in table alone: what the machine's own files say would differ from place to place.
_BUILT_IN: Final = mimetypes.MimeTypes()

_TEXTUAL: Final = frozenset(
    {
        "application/json",
        "application/jsonl",
        "application/x-ipynb+json",
        "application/xml",
        "application/xhtml+xml",
        "application/yaml",
        "application/toml",
    }
)

_OLE: Final = "application/x-ole-storage"
_SIGNATURES: Final = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"II*\0", "image/tiff"),
    (b"MM\0*", "image/tiff"),
    (b"\x1f\x8b", "application/gzip"),
    (b"\xfd7zXZ\0", "application/x-xz"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (b"\x7fELF", "application/x-executable"),
    (b"SQLite format 3\0", "application/vnd.sqlite3"),
    (b"PK\x03\x04", "application/zip"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", _OLE),
    (b"%PDF-", "application/pdf"),
    (b"{\\rtf", "application/rtf"),
)
# A text may well begin like these: they count only before bytes that are none.
_WEAK_SIGNATURES: Final = (
    (b"GIF8", "image/gif"),
    (b"BM", "image/bmp"),
    (b"BZh", "application/x-bzip2"),
    (b"OggS", "audio/ogg"),
    (b"ID3", "audio/mpeg"),
    (b"RIFF", "application/x-riff"),
)
# Boxes that many formats share: there the name says which it is.
_CONTAINERS: Final = frozenset({"application/zip", _OLE, "application/x-riff"})
# A zip file that says first of all what is in it, as books and OpenDocument files do.
_NAMED_ZIP: Final = re.compile(rb"PK\x03\x04.{26}mimetype(application/[\w.+-]+?)(?:\s|PK)", re.S)
# Zip files and compound files of Office hold parts by which they are known.
_OFFICE_PART: Final = re.compile(rb"PK\x03\x04.{26}(word|xl|ppt)/", re.S)
_OFFICE_PARTS: Final = {
    b"word": f"{_OFFICE}wordprocessingml.document",
    b"xl": f"{_OFFICE}spreadsheetml.sheet",
    b"ppt": f"{_OFFICE}presentationml.presentation",
}
_OLE_STREAMS: Final = {
    "__properties_version1.0": "application/vnd.ms-outlook",
    "WordDocument": "application/msword",
    "PowerPoint Document": "application/vnd.ms-powerpoint",
    "Workbook": "application/vnd.ms-excel",
}
# Kinds of which no text has the name, and how few bytes of any other kind say too little: there a
# text is one that needs no guess.
_MEDIA: Final = ("image/", "audio/", "video/", "font/")
_FEW: Final = 32
_PDF_HEADER_WITHIN: Final = 1024  # bytes, as PDF viewers search
_HTML_START: Final = re.compile(
    r"(?:<\?xml[^>]*>\s*)?(?:<!--(?:(?!-->).)*+-->\s*)*+<(?:!doctype\s+html|html|head|body)\b",
    re.I | re.S,
)
_HEADER: Final = r"(?:[!-9;-~]+:[^\n]*\n(?:[ \t][^\n]*\n)*)"
# A text that begins so is that, also where its name only says that it is a text.
_STARTS: Final = (
    (re.compile(r"WEBVTT(?:[ \t][^\n]*)?\n"), "text/vtt"),
    (re.compile(r"\d+\n\d\d:\d\d:\d\d,\d{3} --> \d\d:\d\d:\d\d,\d{3}"), "text/x-subrip"),
    (re.compile(rf"From \S+ [^\n]*\d\d:\d\d[^\n]*\n{_HEADER}{{2}}"), "application/mbox"),
    (re.compile(rf"(?={_HEADER}*?Message-ID:)(?={_HEADER}*?From:)", re.I), "message/rfc822"),
)


def guess_media_type(name: str, head: bytes) -> str:
    """The media type of a file by its name and its first bytes (`HEAD_BYTES` of them suffice).

    A signature in the bytes wins over the name. A text takes the type of a name that is known to
    be one of a text, unless it is called plain and is clearly a mail or subtitles; else it is
    HTML, XML or the like by how it begins. Other bytes take the type of the name unless that is
    one of a text. An empty file has the type of its name.
    """
    named = _guess_by_name(name)
    text = bool(head) and sniff_text(head, declared=_must_be_sure(named, head))
    signed = _find_signature(head, text)
    if signed in _CONTAINERS and named and named != "application/pdf" and not is_textual(named):
        return named
    if signed:
        return signed
    if text:
        return _guess_text(named, head)
    if named and (not head or not is_textual(named)):
        return named
    return UNKNOWN


def find_extension(media_type: str) -> str:
    """The extension that files of a type have by rule, with its dot; empty for an unknown type."""
    extensions = _EXTENSIONS.get(media_type, "").split()
    return f".{extensions[0]}" if extensions else ""


def is_textual(media_type: str) -> bool:
    """True for the types whose files hold text that a person can read as it stands."""
    return media_type.startswith("text/") or media_type in _TEXTUAL


def _guess_by_name(name: str) -> str | None:
    extension = PurePath(name).suffix.lower().removeprefix(".")
    return _TYPE_BY_EXTENSION.get(extension) or _BUILT_IN.guess_type("x." + extension)[0]


def _must_be_sure(named: str | None, head: bytes) -> bool:
    """True where bytes that are no UTF-8 are rather taken for something else than for a text."""
    if named is None or not is_textual(named):
        return len(head) < _FEW or (named or "").startswith(_MEDIA)
    return False


def _find_signature(head: bytes, text: bool) -> str | None:
    known = _SIGNATURES if text else _SIGNATURES + _WEAK_SIGNATURES
    if (named := _NAMED_ZIP.match(head)) and (found := named[1].decode("ascii")) in _EXTENSIONS:
        return found
    for signature, media_type in known:
        if head.startswith(signature) or _is_cut(head, signature):
            return _look_inside(media_type, head)
    if not text and b"%PDF-" in head[:_PDF_HEADER_WITHIN]:
        return "application/pdf"
    return None


def _is_cut(head: bytes, signature: bytes) -> bool:
    """True for a file so short that it ends within the signature, where that can't be text."""
    return not head.isascii() and signature.startswith(head)


def _look_inside(media_type: str, head: bytes) -> str:
    """The type of what is in a container, where its first bytes tell."""
    if media_type == "application/zip" and (part := _OFFICE_PART.search(head)):
        return _OFFICE_PARTS[part[1]]
    if media_type == _OLE:
        for stream, inner in _OLE_STREAMS.items():
            if stream.encode("utf-16-le") in head:
                return inner
    return media_type


def _guess_text(named: str | None, head: bytes) -> str:
    """The type of a file whose first bytes are text."""
    if named in _EXTENSIONS and named not in ("application/pdf", "text/plain"):
        return named
    start = _decode_head(head).replace("\r\n", "\n").lstrip()
    known = next((media_type for pattern, media_type in _STARTS if pattern.match(start)), None)
    if known or named == "text/plain":
        return known or "text/plain"
    if _HTML_START.match(start):
        return "text/html"
    if named == "application/pdf":
        return named
    return "application/xml" if start.startswith("<?xml") else "text/plain"


def _decode_head(head: bytes) -> str:
    for mark, encoding in BYTE_ORDER_MARKS:
        if head.startswith(mark):
            return head[len(mark) :].decode(encoding, "replace")
    wide = guess_wide_encoding(head) if b"\0" in head else None
    return head.decode(wide or "latin-1", "replace")
