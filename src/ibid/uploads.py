"""Files that were sent to a library: each kept in its folder for as long as its document is."""

from __future__ import annotations

import hashlib
import secrets
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final
from urllib.parse import unquote, urlsplit

UPLOADS = "uploads"
"""The folder in that of the library."""

NAME_BYTES: Final = 200
"""Of the name of a file that is kept; file systems take 255."""


@dataclass(frozen=True, slots=True)
class Uploads:
    """The folder of files that were sent."""

    folder: Path

    def keep(self, id: str, name: str, stream: IO[bytes]) -> Path:
        """The place where a file for this id is kept from now on."""
        place = self._of(id) / secrets.token_hex(8)
        place.mkdir(mode=0o700, parents=True)
        path = place / _name_file(name)
        with path.open("xb") as file:
            shutil.copyfileobj(stream, file)
        return path

    def forget_others(self, id: str, path: Path | None) -> None:
        """Erase the files of an id, but for the one at `path`."""
        with suppress(FileNotFoundError):
            for place in self._of(id).iterdir():
                if path is None or place != path.parent:
                    shutil.rmtree(place, ignore_errors=True)

    def _of(self, id: str) -> Path:
        return self.folder / hashlib.blake2b(id.encode(), digest_size=12).hexdigest()


def _name_file(name: str) -> str:
    """The last part of a name as a file may be called: its end is what tells the type."""
    kept = "".join(letter for letter in Path(name.replace("\0", "")).name if letter.isprintable())
    return kept.encode("utf-8", "ignore")[-NAME_BYTES:].decode("utf-8", "ignore") or "file"


def find_file(source: str | None) -> Path | None:
    """The file on this machine that a document was read from; None where there is none."""
    url = urlsplit(source or "")
    if url.scheme != "file" or url.fragment:
        return None
    path = Path(unquote(url.path))
    return path if path.is_file() else None
