"""Good files that were cut short or damaged, and noise under every name: refused in words."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from ibid.reading.pool import FileToRead, ReaderPool
from small_files import MAKERS, make_file

CUTS: Final = 16
DAMAGES: Final = 16
WALL_S: Final = 8.0
MEMORY_BYTES: Final = 512 << 20
_READERLESS: Final = ("msg", "xls", "doc", "zip", "png", "")
_SIGNATURES: Final = (
    b"",
    b"PK\3\4",
    b"%PDF-1.7\n",
    b"{\\rtf1 ",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
)


@pytest.fixture(scope="module")
def pool() -> Iterator[ReaderPool]:
    with ReaderPool(wall_s=WALL_S, memory_bytes=MEMORY_BYTES) as pool:
        yield pool


def check_all(pool: ReaderPool, folder: Path, files: list[bytes], name: str) -> None:
    """Every file is read or refused by a reader that knows why; none surprises or kills it."""
    offered = []
    for number, data in enumerate(files):
        path = folder / f"{number}"
        path.write_bytes(data)
        offered.append(FileToRead(path, name))
    results = zip(files, pool.read(offered), strict=True)
    failed = ("the reader", "took longer")
    bad = {str(r.error): data for data, r in results if str(r.error).startswith(failed)}
    assert {said: (len(data), data[:60]) for said, data in bad.items()} == {}


@pytest.mark.parametrize("extension", sorted(MAKERS))
def test_a_file_cut_short(pool: ReaderPool, tmp_path: Path, extension: str) -> None:
    whole = make_file(extension)
    lengths = {1, len(whole) - 1, *(len(whole) * i // CUTS for i in range(1, CUTS))}
    check_all(pool, tmp_path, [whole[:length] for length in sorted(lengths)], f"a.{extension}")


@pytest.mark.parametrize("extension", sorted(MAKERS))
def test_a_damaged_file(pool: ReaderPool, tmp_path: Path, extension: str) -> None:
    chance = random.Random(extension)
    whole = make_file(extension)
    check_all(pool, tmp_path, [damage(whole, chance) for _ in range(DAMAGES)], f"a.{extension}")


def damage(data: bytes, chance: random.Random) -> bytes:
    """The bytes with a few of them changed, or a piece of them doubled, moved or left out."""
    out = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        start = chance.randrange(len(out))
        end = min(start + chance.choice((1, 1, 2, 8, 64)), len(out))
        piece = out[start:end]
        out[start:end] = chance.choice((chance.randbytes(len(piece)), piece * 2, piece[::-1], b""))
        out = out or bytearray(b"a")
    return bytes(out)


@pytest.mark.parametrize("extension", [*sorted(MAKERS), *_READERLESS])
def test_noise_under_any_name(pool: ReaderPool, tmp_path: Path, extension: str) -> None:
    chance = random.Random(extension)
    files = []
    for signature in _SIGNATURES:
        files.append(signature + chance.randbytes(chance.randint(1, 5000)))
        files.append(signature + bytes(chance.choices(b" \n\t<>{}[]\"'\\/&;:#*_|=-.a1", k=3000)))
    check_all(pool, tmp_path, files, f"a.{extension}")
