"""A page of a PDF as a picture, drawn by `python -m ibid.reading.pdf.picture` in its own process.

What a broken file may do to a reader it may do to who draws it: hang, crash, take all memory.
"""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ibid.errors import UnreadableDocument

if TYPE_CHECKING:
    import numpy as np

DOTS: Final = 144
"""Dots an inch, two for each point in which boxes are told."""

MOST_PIXELS: Final = 4000
"""Pixels of a picture's longer side: a page can be metres long."""

WALL_SECONDS: Final = 20.0
MEMORY_BYTES: Final = 1024**3
NO_SUCH_PAGE: Final = 3


def draw_page(path: Path, number: int) -> bytes | None:
    """The PNG of a page, counted from 1; None where the file has no such page.

    Raises UnreadableDocument for a file that can't be drawn within the limits.
    """
    command = [sys.executable, "-P", "-m", "ibid.reading.pdf.picture", str(path), str(number)]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=WALL_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise UnreadableDocument(
            f"page {number} took longer than {WALL_SECONDS:g} s to draw"
        ) from error
    if done.returncode == NO_SUCH_PAGE:
        return None
    if done.returncode != 0 or not done.stdout:
        raise UnreadableDocument(f"page {number} can't be drawn", hint="its text is still there")
    return done.stdout


def main() -> None:
    """Draw one page onto standard output."""
    from ibid.reading.child import set_limits  # noqa: PLC0415 - only for this process

    path, number = Path(sys.argv[1]), int(sys.argv[2])
    set_limits(MEMORY_BYTES)
    data = path.read_bytes()
    out = os.dup(1)
    os.dup2(2, 1)  # whatever a library prints is no part of the picture
    picture = _draw(data, number)
    if picture is None:
        sys.exit(NO_SUCH_PAGE)
    with os.fdopen(out, "wb") as stream:
        stream.write(picture)


def _draw(data: bytes, number: int) -> bytes | None:
    import pypdfium2  # noqa: PLC0415 - loads a library of its own

    document = pypdfium2.PdfDocument(data)
    if not 1 <= number <= len(document):
        return None
    page = document[number - 1]
    scale = min(DOTS / 72, MOST_PIXELS / max(page.get_size()))
    bitmap: Any = page.render(scale=scale, rev_byteorder=True, no_smoothtext=False)
    return encode_png(bitmap.to_numpy())


def encode_png(pixels: np.ndarray[Any, Any]) -> bytes:
    """A PNG of pixels (height, width, 3 or 4 or 1) of one byte for each colour."""
    height, width = pixels.shape[:2]
    depth = 1 if pixels.ndim == 2 else pixels.shape[2]
    kind = {1: 0, 3: 2, 4: 6}[depth]
    # A row begins with the filter it was put through: none.
    rows = b"".join(b"\0" + pixels[row].tobytes() for row in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 6)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_pack(name, body) for name, body in chunks)


def _pack(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


if __name__ == "__main__":
    main()
