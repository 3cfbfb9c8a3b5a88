"""Verbs that change a library: add, update, sync, remove, set, sources, forget."""

from __future__ import annotations

import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

import click

from ibid.cli.call import Call, Outcome, Part, opens_files, verb
from ibid.cli.words import count_words, make_table
from ibid.errors import LibraryNotFound
from ibid.flows.options import describe_said
from ibid.records import JSON, IngestReport
from ibid.shapes import shape_report, shape_source

if TYPE_CHECKING:
    from ibid.flows.options import OnProgress, Progress
    from ibid.library import Library

FAILED = 1

_SENDS: Final[Sequence[Part]] = ("embedder", "contextualizer")

_EXISTING = click.Path(exists=True, readable=False, path_type=Path)
"""A path that is there; whether its files can be read is told of each file."""


class _Place(click.ParamType[str]):
    """A folder that is there, or the address of what lies elsewhere."""

    name = "folder"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if "://" not in value:
            _FOLDER.convert(value, param, ctx)
        return value


_FOLDER: Final = click.Path(exists=True, file_okay=False, readable=False)


def _said(function: Any) -> Any:
    """The options that speak of documents: who may see them, tags, archiving."""
    for option in (
        click.option(
            "--archived/--not-archived",
            default=None,
            help="Have them found only with --include-archived, or always.",
        ),
        click.option(
            "--tag",
            "tags",
            multiple=True,
            metavar="NAME=VALUE",
            help="Set a tag; NAME= takes it away. May be repeated.",
        ),
        click.option("--nobody", is_flag=True, help="Let nobody but the owner see them."),
        click.option("--public", is_flag=True, help="Let everyone see them."),
        click.option(
            "--allow",
            multiple=True,
            metavar="PRINCIPAL",
            help="Let only these see them; may be repeated.",
        ),
    ):
        function = option(function)
    return function


def _describe(options: dict[str, Any]) -> dict[str, JSON]:
    if options["nobody"] and (options["allow"] or options["public"]):
        raise click.UsageError("--nobody beside --allow or --public: say one of them")
    allow = options["allow"] or (() if options["nobody"] else None)
    return describe_said(
        allow=allow,
        public=options["public"],
        tags=dict(_split_tag(tag) for tag in options["tags"]),
        archived=options["archived"],
    )


def _split_tag(tag: str) -> tuple[str, str | None]:
    name, sign, value = tag.partition("=")
    if not sign or not name.strip():
        raise click.BadParameter(f"{tag!r} is no NAME=VALUE", param_hint="--tag")
    return name.strip(), value or None


@verb
@click.argument("paths", nargs=-1, required=True, type=_EXISTING)
@click.option("--id", help="The document's id, for one file.")
@opens_files
@_said
def add_command(
    call: Call, paths: tuple[Path, ...], id: str | None, password: str | None, **said: Any
) -> Outcome:
    """Create documents from files; an id that exists is refused.

    Folders are walked. An id is the file's path relative to the current folder, or --id.
    """
    with call.open_library(create=True, sends=_SENDS) as library:
        report = library.add_files(paths, id=id, flags=_describe(said), password=password)
    return _tell(report)


@verb
@click.argument("paths", nargs=-1, required=True, type=_EXISTING)
@click.option("--id", help="The document's id, for one file.")
@opens_files
@_said
def update_command(
    call: Call, paths: tuple[Path, ...], id: str | None, password: str | None, **said: Any
) -> Outcome:
    """Write documents over those with their ids.

    An id that is new is created. What isn't said of access, tags and archiving stays as it was.
    """
    with call.open_library(create=True, sends=_SENDS) as library:
        report = library.add_files(
            paths, id=id, overwrite=True, flags=_describe(said), password=password
        )
    return _tell(report)


@verb
@click.argument("folder", type=_Place())
@click.option("--prefix", help="What stands before the ids; the folder's name for a second one.")
@click.option("--dry-run", is_flag=True, help="Only tell what would be done.")
@click.option("--yes", is_flag=True, help="Also remove more than half of the documents.")
@click.option("--checksum", is_flag=True, help="Read every file, also those that look unchanged.")
@click.option("--ray", metavar="ADDRESS", help="Read and embed on a Ray cluster, or on `local`.")
@click.option("--watch", is_flag=True, help="Go on: sync whenever something changes, until Ctrl-C.")
@click.option(
    "--workers",
    type=click.IntRange(min=0),
    metavar="N",
    help="Have workers take the files in: N started here, beside those that run elsewhere.",
)
@opens_files
def sync_command(
    call: Call,
    folder: str,
    prefix: str | None,
    dry_run: bool,
    yes: bool,
    checksum: bool,
    password: str | None,
    ray: str | None,
    watch: bool,
    workers: int | None,
) -> Outcome:
    """Make the library equal to a folder.

    New and changed files are read, moved and removed ones followed; documents that came from
    elsewhere stay as they are. FOLDER may also be an address, such as s3://BUCKET/PREFIX.
    """
    if watch and (dry_run or yes or ray):
        raise click.UsageError("--watch beside --dry-run, --yes or --ray: leave one of them out")
    if ray not in (None, "local") and not dry_run:
        click.echo(f"texts go to the Ray cluster at {ray}", err=True)
    sends = () if dry_run else _SENDS
    with (
        _rehearse(call) if dry_run else nullcontext(call) as stage,
        stage.open_library(create=True, sends=sends) as library,
        show_progress() as on_progress,
        _start_workers(stage, library, None if dry_run else workers) as on_wait,
    ):
        if not dry_run and library.writes_contexts:
            expected = library.sync(folder, prefix=prefix, dry_run=True, allow_emptying=yes)
            click.echo(f"contexts: about {expected.context_tokens:,} tokens", err=True)
        sync = partial(
            library.sync,
            folder,
            prefix=prefix,
            dry_run=dry_run,
            allow_emptying=yes,
            checksum=checksum,
            password=password,
            workers=workers is not None and not dry_run,
            on_wait=on_wait,
            ray=None if dry_run else ray,
            on_progress=on_progress,
        )
        report = _watch(library, folder, sync) if watch else sync()
    return _tell(report, "would be " if dry_run else "")


def _watch(library: Library, folder: str, sync: Callable[[], IngestReport]) -> IngestReport:
    """Sync at every change until Ctrl-C or SIGTERM; the report of the last sync that did any."""
    stop = threading.Event()
    reports: list[IngestReport] = []

    def tell(report: IngestReport) -> None:
        reports[:] = [report]
        click.echo(_tell(report).words, err=True)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    library.watch(
        folder,
        sync,
        stop=stop,
        on_report=tell,
        on_refusal=lambda error: click.echo(f"not synced: {error}", err=True),
    )
    return reports[0] if reports else sync()


def _start_workers(
    call: Call, library: Library, count: int | None
) -> AbstractContextManager[Callable[[], None]]:
    """So many workers for a `with`, and what is called while a sync waits; None starts none."""
    if count is None:
        return nullcontext(lambda: None)
    from ibid.cli.worker import starting_workers

    return starting_workers(call, library, count)


@contextmanager
def _rehearse(call: Call) -> Iterator[Call]:
    """The call, on an empty library elsewhere when there is none yet: nothing is left behind."""
    try:
        call.open_library().close()
    except LibraryNotFound:
        place: AbstractContextManager[str | None] = TemporaryDirectory()
    else:
        place = nullcontext(call.place)
    with place as found:
        yield replace(call, places=() if found is None else (found,))


@verb
@click.argument("ids", nargs=-1, required=True)
@click.option("--purge", is_flag=True, help="Erase them from every version, for good.")
def remove_command(call: Call, ids: tuple[str, ...], purge: bool) -> Outcome:
    """Hide documents from now on, or erase them.

    A hidden document is still in the versions before; --purge erases it from all of them.
    """
    with call.open_library() as library:
        return _tell(library.remove(*ids, purge=purge))


@verb
@click.argument("ids", nargs=-1, required=True)
@_said
def set_command(call: Call, ids: tuple[str, ...], **said: Any) -> Outcome:
    """Set access, tags and archiving of documents.

    Nothing is read or embedded anew, and later syncs keep what was set.
    """
    described = _describe(said)
    if not described:
        raise click.UsageError("say what to set: --allow, --public, --tag, --archived …")
    with call.open_library() as library:
        return _tell(library.set_said(ids, described))


@verb
def sources_command(call: Call) -> Outcome:
    """List the folders that were synced.

    Their documents are counted as far as the caller sees them.
    """
    with call.open_library() as library:
        shapes = [shape_source(source) for source in library.sources(call.principals)]
    words = make_table(
        (
            shape["name"],
            count_words(shape["documents"], "document"),
            shape["location"],
            f"prefix {shape['prefix']}/" if shape["prefix"] else "",
        )
        for shape in shapes
    )
    return Outcome({"sources": shapes}, words or "no folder was synced yet")


@verb
@click.argument("source")
def forget_command(call: Call, source: str) -> Outcome:
    """Remove a source with its documents.

    SOURCE is its name or its location; `ibid sources` tells both. The folder stays as it is.
    """
    with call.open_library() as library:
        return _tell(library.forget(source))


def _tell(report: IngestReport, verb_form: str = "") -> Outcome:
    """What a run did, in words and as JSON; failures make it exit with 1."""
    counts = {
        "added": len(report.added),
        "updated": len(report.updated),
        "changed in metadata": len(report.metadata_changed),
        "moved": len(report.moved),
        "removed": len(report.removed),
        "unchanged": report.unchanged,
        "skipped": len(report.skipped),
        "failed": len(report.failed),
    }
    said = ", ".join(f"{count} {verb_form}{what}" for what, count in counts.items() if count)
    lines = [f"version {report.version}: {said or 'nothing to do'}"]
    if report.passages.added or report.passages.removed:
        lines.append(
            f"passages: {report.passages.added} added, {report.passages.removed} removed,"
            f" {report.passages.embedded} embedded"
        )
    reasons = Counter(skipped.reason for skipped in report.skipped)
    lines.extend(f"skipped: {number} {reason}" for reason, number in reasons.most_common())
    lines.extend(f"failed: {failed.id}: {failed.message}" for failed in report.failed)
    notes = tuple(f"{one.id}: {one.reason}" for one in report.incomplete)
    return Outcome(shape_report(report), "\n".join(lines), FAILED if report.failed else 0, notes)


@contextmanager
def show_progress(what: str = "files", doing: str = "reading files") -> Iterator[OnProgress]:
    """Progress on standard error: a bar on a terminal, else a line for each commit."""
    if not sys.stderr.isatty():
        yield lambda p: click.echo(
            f"version {p.version}: {p.done} of {p.total} {what} done", err=True
        )
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(doing, total=None)

        def advance(progress: Progress) -> None:
            bar.update(
                task,
                completed=progress.done,
                total=progress.total,
                description=f"version {progress.version}",
            )

        yield advance
