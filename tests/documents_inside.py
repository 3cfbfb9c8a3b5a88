"""Compound files for tests, of one stream: as programs wrap what they embed."""

from __future__ import annotations

import struct

_SECTOR = 512
_END, _FREE, _FAT = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD
_LEAST = 4096  # bytes; smaller streams would lie elsewhere


def make_compound(name: str, content: bytes) -> bytes:
    """A compound file whose only stream has this name and, filled up with zeros, this content."""
    content = content.ljust(_LEAST, b"\0")
    sectors = -(-len(content) // _SECTOR)
    chain = [_FAT, _END, *range(3, sectors + 2), _END]
    fat = struct.pack("<128I", *chain, *[_FREE] * (128 - len(chain)))
    header = struct.pack(
        "<8s16x5H6x10I",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        *(0x3E, 3, 0xFFFE, 9, 6),
        *(0, 1, 1, 0, _LEAST, _END, 0, _END, 0),
        0,
    )
    header = header[:-4] + struct.pack("<109I", 0, *[_FREE] * 108)
    directory = _make_entry("Root Entry", 5, _END, 0, child=1) + _make_entry(
        name, 2, 2, len(content)
    )
    return header + fat + directory.ljust(_SECTOR, b"\0") + content.ljust(sectors * _SECTOR, b"\0")


def _make_entry(name: str, kind: int, start: int, size: int, *, child: int = _FREE) -> bytes:
    text = f"{name}\0".encode("utf-16-le")
    return struct.pack(
        "<64sHBB3I16xI16xIQ", text, len(text), kind, 1, _FREE, _FREE, child, 0, start, size
    )


def make_native(path: str, content: bytes) -> bytes:
    """What the Object Packager wraps a file in."""
    label = path.rpartition("\\")[2].encode() + b"\0"
    body = (
        b"\2\0" + label + path.encode() + b"\0" + struct.pack("<HHI", 0, 3, len(path) + 1)
        + path.encode() + b"\0" + struct.pack("<I", len(content)) + content
    )  # fmt: skip
    return struct.pack("<I", len(body)) + body
