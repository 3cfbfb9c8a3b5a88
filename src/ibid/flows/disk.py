"""Expected texts in the files of synced folders: not synced, changed since, or not read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from ibid.flows.diagnosis import Expected, Stage, name_some
from ibid.flows.plan import name_document
from ibid.protocols import FileState, Index, SourceFile, SourceInfo
from ibid.reading.pool import FileToRead, ReaderPool
from ibid.sources.folder import FolderSource

LOOKED_AT: Final = 200
"""Files that are read for one text, at most."""

MOST_BYTES: Final = 20_000_000
"""Size of the largest file that is read for it."""


def find_on_disk(expected: Expected, index: Index) -> list[Stage] | None:
    """The stages for a text that no document holds, by the files of the sources; None where no file
    says anything of it.

    A file that failed, or is skipped, and holds the text fails to be read; so does one that failed
    and can't be looked into, where no file holds it. A new or changed one is not indexed yet. It is
    the owner's to ask: what lies in a folder is not what a library shows.
    """
    failed: list[str] = []
    for source in index.sources():
        folder = _find_folder(source)
        if folder is None:
            continue
        states = index.files(source.name)
        for file in FolderSource(folder).scan():
            if file.path.endswith("/"):
                continue
            id = name_document(source, file.path)
            state = states.get(file.path)
            reason = _tell_unread(file, state)
            if reason is not None:
                if _holds_raw(folder / file.path, id, expected):
                    advice = "mend what the reason names, then run `ibid sync` again"
                    return [Stage("read", False, f"{id} was not read: {reason}", advice)]
                if state is not None and state.status == "failed":
                    failed.append(f"{id} ({reason})")
    return _look_into_new(expected, index) or _tell_failed(failed)


def _tell_failed(failed: list[str]) -> list[Stage] | None:
    if not failed:
        return None
    return [
        Stage(
            "read",
            False,
            f"no document holds these words; not read were {name_some(failed)}",
            "if it is in one of these, mend what the reason names and run `ibid sync` again",
        )
    ]


def _tell_unread(file: SourceFile, state: FileState | None) -> str | None:
    """Why a file is no document; None for one that is, or could be."""
    if file.skip is not None:
        return file.skip
    if state is None or state.status == "read" or state.stat != file.stat:
        return None
    return state.message or state.error


def _look_into_new(expected: Expected, index: Index) -> list[Stage] | None:
    files = list(_list_new(index))[:LOOKED_AT]
    if not files:
        return None
    with ReaderPool() as pool:
        for (id, folder, _, how), read in zip(
            files, pool.read([file for _, _, file, _ in files]), strict=True
        ):
            if read.document is None or not expected.find(read.document.text, id):
                continue
            return [
                Stage("read", True, f"in the file {id}"),
                Stage("chunk", True, "not cut yet"),
                Stage(
                    "index",
                    False,
                    f"{id} was {how}: the library does not hold what it says now",
                    f"run `ibid sync {folder}`",
                ),
            ]
    return None


def _list_new(index: Index) -> Iterator[tuple[str, Path, FileToRead, str]]:
    """The files that are new, or not as they were read: id, folder, file, and which of the two."""
    for source in index.sources():
        folder = _find_folder(source)
        if folder is None:
            continue
        states = index.files(source.name)
        for file in FolderSource(folder).scan():
            state = states.get(file.path)
            if file.skip is not None or (state is not None and state.stat == file.stat):
                continue
            how = "never synced" if state is None else "changed after it was read"
            place = folder / file.path
            wanted = FileToRead(place, place.name, MOST_BYTES)
            yield name_document(source, file.path), folder, wanted, how


def _find_folder(source: SourceInfo) -> Path | None:
    url = urlsplit(source.location)
    folder = Path(unquote(url.path))
    return folder if url.scheme == "file" and folder.is_dir() else None


def _holds_raw(path: Path, id: str, expected: Expected) -> bool:
    """Whether a file that can't be read as its format holds the text as plain bytes."""
    if expected.document_id is not None:
        return expected.document_id == id
    try:
        if path.stat().st_size > MOST_BYTES:
            return False
        text = path.read_bytes().decode("utf-8", "replace")
    except OSError:
        return False
    return bool(expected.find(text, id))
