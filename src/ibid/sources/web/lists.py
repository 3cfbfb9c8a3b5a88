"""Lists of pages: sitemaps, indexes of sitemaps, and texts with a URL a line."""

from __future__ import annotations

import zlib
from typing import Final, NoReturn
from urllib.parse import urlsplit

from ibid.errors import InputError
from ibid.record import record

MAX_LIST_BYTES: Final = 50 * 1024 * 1024
"""What a sitemap may take unpacked, by its protocol (sitemaps.org)."""

_GZIP: Final = b"\x1f\x8b"
_GZIP_WINDOW: Final = 31  # zlib's number for gzip with its largest window


@record
class Listing:
    """What a list names, in its order: pages, and further lists; a `sitemap` only of its host."""

    pages: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()
    sitemap: bool = False


def parse_list(data: bytes, url: str) -> Listing:
    """What a sitemap, an index of sitemaps or a text list names; each may be packed by gzip.

    Raises InputError for anything else: what isn't understood whole must not empty a library.
    """
    if data.startswith(_GZIP):
        data = _unpack(data, url)
    start = data.removeprefix(b"\xef\xbb\xbf").lstrip()
    return _parse_sitemap(start, url) if start.startswith(b"<") else _parse_lines(start, url)


def _unpack(data: bytes, url: str) -> bytes:
    packed = zlib.decompressobj(_GZIP_WINDOW)
    try:
        found = packed.decompress(data, MAX_LIST_BYTES + 1)
    except zlib.error as error:
        _refuse(url, f"is no whole gzip file: {error}")
    if len(found) > MAX_LIST_BYTES:
        _refuse(url, f"is larger than {MAX_LIST_BYTES:,} bytes unpacked")
    if not packed.eof:
        _refuse(url, "ends in the middle of its gzip file")
    return found


def _parse_sitemap(data: bytes, url: str) -> Listing:
    from lxml import etree  # noqa: PLC0415 - only for those who sync a website

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        _refuse(url, f"is neither a sitemap nor a text list: {error}")
    kind = etree.QName(root).localname
    inner = {"urlset": "url", "sitemapindex": "sitemap"}.get(kind)
    if inner is None:
        _refuse(url, f"is a page or document (<{kind}>), no list of pages")
    named = [
        (found.text or "").strip()
        for entry in root.iterchildren(f"{{*}}{inner}")
        for found in entry.iterchildren("{*}loc")
    ]
    for number, one in enumerate(named, start=1):
        _check_url(one, url, f"entry {number}")
    found = tuple(dict.fromkeys(named))
    if kind == "urlset":
        return Listing(pages=found, sitemap=True)
    return Listing(lists=found, sitemap=True)


def _parse_lines(data: bytes, url: str) -> Listing:
    try:
        lines = data.decode("utf-8").splitlines()
    except UnicodeDecodeError as error:
        _refuse(url, f"is no text in UTF-8: {error}")
    named: dict[str, None] = {}
    for number, line in enumerate(map(str.strip, lines), start=1):
        if line and not line.startswith("#"):
            _check_url(line, url, f"line {number}")
            named[line] = None
    return Listing(pages=tuple(named))


def _check_url(found: str, url: str, where: str) -> None:
    try:
        parts = urlsplit(found)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in found
        parts.port  # noqa: B018 - it is checked when it is looked at
    except ValueError:
        usable = False
    if not usable or any(character.isspace() for character in found):
        _refuse(url, f"names no page in {where}: {found[:100]!r}")


def _refuse(url: str, why: str) -> NoReturn:
    raise InputError(
        f"{url} {why}",
        hint="nothing was changed; give the address of a sitemap, or of a text with a URL a line",
    )
