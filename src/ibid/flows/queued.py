"""The way of a folder's files through workers: handed out with their bytes, and what came of them.

What the folder lost, and files that one of the lost may have become, are seen to here: that takes a
look at all of them together. A few files wait at once, however many there are.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Final

from ibid.errors import InputError, UnreadableDocument
from ibid.flows.carry import Sync
from ibid.flows.options import OnProgress, Progress, Workers
from ibid.flows.plan import Plan, find_movable, name_document
from ibid.flows.stopwatch import Stopwatch
from ibid.protocols import (
    Embedder,
    Fetched,
    FileRun,
    FileState,
    Index,
    QueuedFile,
    SourceFile,
    Taken,
)
from ibid.reading.child import load_whole
from ibid.records import Failed, Skipped
from ibid.sources.rules import RULES_FILE, read_rules

FILES_AHEAD: Final = 256
BYTES_AHEAD: Final = 256 * 10**6
"""What waits for workers at once, at most."""

PAUSE_SECONDS: Final = 0.1
"""Between two looks at what workers have done."""


@dataclass(slots=True)
class _Waiting:
    """What waits for workers: the sizes of files by their paths; and how many were done."""

    sizes: dict[str, int]
    done: int = 0

    @property
    def is_full(self) -> bool:
        return len(self.sizes) >= FILES_AHEAD or sum(self.sizes.values()) >= BYTES_AHEAD


def hand_out(
    sync: Sync,
    workers: Workers,
    index: Index,
    embedder: Embedder,
    watch: Stopwatch,
    on_progress: OnProgress,
) -> None:
    """Carry a sync out by workers; returns when all of its files are done.

    Raises InputError where the rules of the folder change meanwhile, and what `on_wait` raises.
    """
    here, there = _divide(sync)
    replace(sync, plan=replace(sync.plan, read=here)).carry_out(index, embedder, watch, _ignore)
    waiting, aside = _Waiting({}, done=len(here)), list[SourceFile]()
    total = len(sync.plan.read)

    def settle(run: FileRun) -> None:
        taken = run.settle()
        for one in taken:
            del waiting.sizes[one.path]
            _count(sync, one, index)
        waiting.done += len(taken)
        if taken:
            on_progress(Progress(waiting.done, total, index.snapshot().version))
        else:
            workers.on_wait()
            time.sleep(PAUSE_SECONDS)

    source, rules = sync.source, _read_rules(sync)
    with (
        watch.timing("reading"),
        workers.queue.begin(source.name, source.prefix, rules) as run,
        sync.folder.fetch(there, max_bytes=sync.options.ingest.max_file_bytes) as arriving,
    ):
        for fetched in arriving:
            while waiting.is_full:
                settle(run)
            file = _load(fetched, sync)
            if file is None:
                aside.append(fetched.file)
            else:
                waiting.sizes[file.path] = len(file.data)
                run.put(file)
        while waiting.sizes:
            settle(run)
    # What can't be read, or is too large, is told as in any sync.
    replace(sync, plan=Plan(read=aside)).carry_out(index, embedder, watch, _ignore)
    on_progress(Progress(total, total, index.snapshot().version))


def _ignore(progress: Progress) -> None:
    """Part of a run tells nobody of its own progress."""


def _divide(sync: Sync) -> tuple[list[SourceFile], list[SourceFile]]:
    """The files that a gone document may be now, and all others."""
    known, plan = sync.known, sync.plan
    movable = find_movable(plan, known).values()
    sizes = {known.files[plan.gone[id]].stat.size for id in movable}
    here = [file for file in plan.read if file.path not in known.files and file.stat.size in sizes]
    taken = {file.path for file in here}
    return here, [file for file in plan.read if file.path not in taken]


def _read_rules(sync: Sync) -> str:
    """The text of the folder's rules, the ones that the plan was made by."""
    if read_rules(sync.folder).hash != sync.rules.hash:
        raise InputError(f"{RULES_FILE} has just changed", hint="sync again")
    return sync.folder.read_text(RULES_FILE) or ""


def _load(fetched: Fetched, sync: Sync) -> QueuedFile | None:
    """A file with its bytes and what is known of it; None for one that can't be had."""
    path, known, source = fetched.file.path, sync.known, sync.source
    if fetched.error is not None:
        return None
    try:
        data, stat = load_whole(str(fetched.path), sync.options.ingest.max_file_bytes)
    except UnreadableDocument:
        return None
    finally:
        if fetched.copy:
            fetched.path.unlink(missing_ok=True)
    inside = known.inside.get(path, ())
    ids = [name_document(source, one) for one in (path, *inside)]
    return QueuedFile(
        source=source.name,
        prefix=source.prefix,
        path=path,
        uri=fetched.uri,
        stat=fetched.stat or stat,
        data=data,
        media_type=fetched.media_type,
        inside=tuple(inside),
        hashes={id: known.hashes[id] for id in ids if id in known.hashes},
    )


def _count(sync: Sync, taken: Taken, index: Index) -> None:
    """Add what became of a file to the tally; from what is remembered, where nobody told."""
    if taken.report is not None:
        sync.tally.take_report(taken.report)
        return
    files = index.files(sync.source.name)
    inside = (path for path, state in files.items() if state.container == taken.path)
    for path in (taken.path, *inside):
        if path in files:
            _count_state(sync, name_document(sync.source, path), files[path])


def _count_state(sync: Sync, id: str, state: FileState) -> None:
    tally, before = sync.tally, sync.known.hashes.get(id)
    if state.status == "failed":
        tally.failed.append(Failed(id, state.error, state.message))
    elif state.status == "skipped":
        tally.skipped.append(Skipped(id, state.message))
    elif before == state.content_hash:
        tally.unchanged += 1
    else:
        (tally.added if before is None else tally.updated).append(id)
