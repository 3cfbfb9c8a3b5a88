"""What a sync has to do, told from a listing of its files and what it knew of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from ibid.errors import InputError
from ibid.protocols import FileStat, FileState, Index, SourceFile, SourceInfo
from ibid.records import Failed, Skipped
from ibid.sources.rules import Rules

LEAST_GUARDED: Final = 10
"""Documents from which on a source is guarded against losing more than half of them at once."""


@dataclass(frozen=True, slots=True)
class Known:
    """What the library knows of a source: its files by path, its documents' content by id.

    `inside` are the paths of attachments by the file that they came in.
    """

    files: Mapping[str, FileState]
    hashes: Mapping[str, str]
    inside: Mapping[str, Sequence[str]]

    def recall(self, path: str) -> FileStat | None:
        """Which state of a file was looked at last, None for one that is new."""
        state = self.files.get(path)
        return None if state is None else state.stat


def know_source(index: Index, source: SourceInfo) -> Known:
    """What the library knows of a source now."""
    files = index.files(source.name)
    inside: defaultdict[str, list[str]] = defaultdict(list)
    for path, state in files.items():
        if state.container:
            inside[state.container].append(path)
    return Known(files, index.snapshot().content_hashes(source.name), inside)


@dataclass(slots=True)
class Plan:
    """The files to read, and what is settled without reading.

    `gone` maps the ids of documents whose file is no more to the file's last path; `forgotten`
    are the paths that the source knows no more.
    """

    read: list[SourceFile] = field(default_factory=list)
    unchanged: int = 0
    skipped: list[Skipped] = field(default_factory=list)
    failed: list[Failed] = field(default_factory=list)
    gone: dict[str, str] = field(default_factory=dict)
    forgotten: list[str] = field(default_factory=list)


def name_document(source: SourceInfo, path: str) -> str:
    """The id of the document that a source's file becomes."""
    return f"{source.prefix}/{path}" if source.prefix else path


def make_plan(
    listing: Iterable[SourceFile],
    known: Known,
    *,
    source: SourceInfo,
    rules: Rules,
    unreadable: Mapping[str, str],
    everything: bool,
) -> Plan:
    """The plan for a source; nothing is changed by making it.

    What lies below an unreadable folder is taken to be as it was. With `everything`, every file is
    read, however unchanged it looks.
    """
    plan = Plan()
    seen: set[str] = set()
    for file in listing:
        path = file.path
        skip = file.skip or ("ignored by ibid.toml" if rules.ignore(path) else None)
        if skip is not None:
            plan.skipped.append(Skipped(name_document(source, path), skip))
            continue
        seen.add(path)
        if path in known.inside:
            seen.update(known.inside[path])
        _settle_file(file, source, known, plan, everything=everything)
    for folder, reason in unreadable.items():
        id = name_document(source, folder)
        plan.failed.append(Failed(id, "UnreadableDocument", reason))
    for path, state in known.files.items():
        if path in seen or _is_shielded(path, unreadable):
            continue
        plan.forgotten.append(path)
        if state.status != "skipped" and (id := name_document(source, path)) in known.hashes:
            plan.gone[id] = path
    return plan


def _is_shielded(path: str, unreadable: Mapping[str, str]) -> bool:
    """Whether a path is, or lies below, what could not be looked at."""
    return path in unreadable or any(
        path.startswith(folder) for folder in unreadable if folder.endswith("/")
    )


def _settle_file(
    file: SourceFile,
    source: SourceInfo,
    known: Known,
    plan: Plan,
    *,
    everything: bool,
) -> None:
    """Tell whether a file is to be read; its attachments share its fate."""
    path = file.path
    state = known.files.get(path)
    id = name_document(source, path)
    if state is None or state.stat != file.stat or everything:
        plan.read.append(file)
    elif state.status == "failed":
        plan.failed.append(Failed(id, state.error, state.message))
    elif state.status == "skipped":
        plan.skipped.append(Skipped(id, state.message))
    elif known.hashes.get(id) != state.content_hash:
        plan.read.append(file)
    elif path not in known.inside:
        plan.unchanged += 1
    elif _hold_inside(path, source, known):
        plan.unchanged += 1 + len(known.inside[path])
    else:
        plan.read.append(file)


def _hold_inside(path: str, source: SourceInfo, known: Known) -> bool:
    """Whether the library still holds what the attachments of a file became when it was read."""
    return all(
        known.hashes.get(name_document(source, inside)) == known.files[inside].content_hash
        for inside in known.inside[path]
    )


def find_movable(plan: Plan, known: Known) -> dict[str, str]:
    """The gone documents that a file to be read may be now, by content hash: the sizes agree."""
    sizes = _count_new_sizes(plan, known)
    return {
        known.hashes[id]: id
        for id, path in plan.gone.items()
        if known.files[path].stat.size in sizes
    }


def _count_new_sizes(plan: Plan, known: Known) -> Counter[int]:
    return Counter(file.stat.size for file in plan.read if file.path not in known.files)


def guard_removals(plan: Plan, known: Known, *, source: SourceInfo) -> None:
    """Refuse a plan that would remove more than half of a source: a drive may be unmounted.

    A gone file counts as moved where there is a new one of its size. Raises InputError.
    """
    gone = Counter(known.files[path].stat.size for path in plan.gone.values())
    lost = (gone - _count_new_sizes(plan, known)).total()
    held = len(known.hashes)
    if held >= LEAST_GUARDED and lost * 2 > held:
        raise InputError(
            f"{lost} of the {held} documents of {source.location} would be removed",
            hint="nothing was changed; if they are really gone, sync again with --yes",
        )
