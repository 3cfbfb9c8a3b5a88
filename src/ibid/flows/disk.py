"""Expected texts in the files of synced folders: not synced, changed since, or not read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from ibid.flows.diagnosis import Expected, Stage, name_some
from ibid.flows.plan import name_document
from ibid.protocols import Index, SourceInfo
from ibid.reading.pool import FileToRead, ReaderPool
from ibid.sources.folder import FolderSource
from ibid.sources.rules import read_rules

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
    new: list[_Found] = []
    for found in _list_files(index):
        if found.reason is None:
            new.append(found)
        elif _holds_raw(found.place, found.id, expected):
            advice = "mend what the reason names, then run `ibid sync` again"
            return [Stage("read", False, f"{found.id} was not read: {found.reason}", advice)]
        elif found.failed:
            failed.append(f"{found.id} ({found.reason})")
    return _look_into(new[:LOOKED_AT], expected) or _tell_failed(failed)


@dataclass(frozen=True, slots=True)
class _Found:
    """A file whose document the library does not hold as it is: `reason` says why it is not read,
    None that it was not looked at since `how`."""

    id: str
    folder: Path
    place: Path
    how: str
    reason: str | None = None
    failed: bool = False


def _list_files(index: Index) -> Iterator[_Found]:
    """The files of all sources that are no documents, or not as they were read."""
    for source in index.sources():
        folder = _find_folder(source)
        if folder is None:
            continue
        listed = FolderSource(folder)
        states, rules = index.files(source.name), read_rules(listed)
        for file in listed.scan():
            if file.path.endswith("/"):
                continue
            state = states.get(file.path)
            id, place = name_document(source, file.path), folder / file.path
            ignored = "ignored by ibid.toml" if rules.for_path(file.path).ignore else None
            how = "never synced" if state is None else "changed after it was read"
            if (reason := file.skip or ignored) is not None:
                yield _Found(id, folder, place, how, reason)
            elif state is None or state.stat != file.stat:
                yield _Found(id, folder, place, how)
            elif state.status != "read":
                reason = state.message or state.error
                yield _Found(id, folder, place, how, reason, state.status == "failed")


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


def _look_into(files: Sequence[_Found], expected: Expected) -> list[Stage] | None:
    """The stages for a text in a file that is new or changed, None where none holds it."""
    if not files:
        return None
    wanted = [FileToRead(found.place, found.place.name, MOST_BYTES) for found in files]
    with ReaderPool() as pool:
        for found, read in zip(files, pool.read(wanted), strict=True):
            if read.document is not None and expected.find(read.document.text, found.id):
                return _tell_unsynced(found)
    return None


def _tell_unsynced(found: _Found) -> list[Stage]:
    return [
        Stage("read", True, f"in the file {found.id}"),
        Stage("chunk", True, "not cut yet"),
        Stage(
            "index",
            False,
            f"{found.id} was {found.how}: the library does not hold what it says now",
            f"run `ibid sync {found.folder}`",
        ),
    ]


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
