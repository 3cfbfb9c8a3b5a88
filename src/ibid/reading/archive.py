"""Zip files from strangers: opened within limits, and their XML parsed without reaching out."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from typing import Final

from lxml import etree

from ibid.errors import UnreadableDocument

_MAX_ENTRIES: Final = 50_000
_MAX_BYTES: Final = 512 << 20  # of all entries together, inflated
_MAX_RATIO: Final = 250  # inflated to packed bytes; XML of office files stays below 100
_RATIO_FROM: Final = 8 << 20  # bytes; smaller entries may well be as empty as they like
_PIECE: Final = 1 << 20
_METHODS: Final = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
_ENCRYPTED: Final = 0x1  # bit of the flags of an entry
_BROKEN: Final = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    NotImplementedError,  # zipfile's own, for a method of compression that it doesn't know
    OSError,
    OverflowError,
    ValueError,
)


class Archive:
    """A zip file in memory whose directory has been checked; `names` are its entries in order."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._left = _MAX_BYTES
        self.names: Final = tuple(archive.namelist())
        self._known = frozenset(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self._known

    def measure(self, name: str) -> int:
        """The size of an entry as the directory tells it, 0 for one that is missing."""
        return self._archive.getinfo(name).file_size if name in self else 0

    def read(self, name: str) -> bytes:
        """The bytes of one entry, counted as they are inflated.

        Raises UnreadableDocument for an entry that is missing, damaged, protected or too large.
        """
        if name not in self:
            raise UnreadableDocument(f"damaged: {name} is missing in it")
        entry = self._archive.getinfo(name)
        if entry.flag_bits & _ENCRYPTED:
            raise make_protected_error()
        if entry.compress_type not in _METHODS:
            raise UnreadableDocument(f"{name} in it is packed by a method that is not used here")
        data = bytearray()
        try:
            with self._archive.open(entry) as file:
                while piece := file.read(_PIECE):
                    data += piece
                    self._left -= len(piece)
                    if self._left < 0:
                        raise make_size_error()
        except UnreadableDocument:
            raise
        except _BROKEN as error:
            raise UnreadableDocument(f"damaged: {name} in it can't be unpacked") from error
        return bytes(data)


def open_archive(data: bytes) -> Archive:
    """The zip file that the bytes hold, its directory summed before anything is unpacked.

    Raises UnreadableDocument for a broken file and for one that would unpack to too much.
    """
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except _BROKEN as error:
        raise UnreadableDocument(
            "damaged or cut short: not a whole zip file", hint="get the file again"
        ) from error
    entries = archive.infolist()
    if len(entries) > _MAX_ENTRIES:
        raise UnreadableDocument(f"{len(entries)} files in it, over the limit of {_MAX_ENTRIES}")
    if sum(entry.file_size for entry in entries) > _MAX_BYTES:
        raise make_size_error()
    for entry in entries:
        if entry.file_size > max(_RATIO_FROM, entry.compress_size * _MAX_RATIO):
            raise UnreadableDocument(
                f"{entry.filename} in it unpacks to {_MAX_RATIO} times its size and more: a bomb"
            )
    return Archive(archive)


def parse_xml(data: bytes) -> etree._Element:
    """The root of an XML document; entities stay unresolved, and nothing is fetched.

    Raises UnreadableDocument for anything that isn't well formed.
    """
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        return etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise UnreadableDocument(f"damaged: broken XML ({error})") from error


def stream_xml(data: bytes, tags: Sequence[str]) -> Iterator[etree._Element]:
    """The elements of these names as they end; what lies behind them is let go.

    Raises UnreadableDocument for anything that isn't well formed, when it gets there.
    """
    events = etree.iterparse(
        io.BytesIO(data),
        tag=tags,
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        for _, node in events:
            yield node
            node.clear()
            parent = node.getparent()
            while parent is not None and node.getprevious() is not None:
                del parent[0]
    except etree.XMLSyntaxError as error:
        raise UnreadableDocument(f"damaged: broken XML ({error})") from error


def make_protected_error() -> UnreadableDocument:
    """The error for a file that only its password opens."""
    return UnreadableDocument(
        "the file is protected by a password", hint="save it without its password"
    )


def make_size_error() -> UnreadableDocument:
    """The error for an archive that holds more than may be unpacked."""
    return UnreadableDocument(f"unpacks to more than {_MAX_BYTES >> 20} MiB")
