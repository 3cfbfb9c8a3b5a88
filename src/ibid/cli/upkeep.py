"""Verbs of upkeep: history, diff, stale, vacuum, verify, reindex, export, import."""

from __future__ import annotations

from pathlib import Path

import click

from ibid.cli.call import Call, Outcome, verb
from ibid.cli.words import count_words, make_table
from ibid.cli.writing import show_progress
from ibid.protocols import Problem
from ibid.records import OWNER
from ibid.shapes import shape_difference, shape_outcome, shape_revision, shape_stale

FAILED = 1


@verb
@click.argument("id")
def history_command(call: Call, id: str) -> Outcome:
    """Tell what a document was, version by version.

    ID is one that it bears or bore; moves are followed.
    """
    with call.open_library() as library:
        shapes = [shape_revision(one) for one in library.history(id, call.principals)]
    words = make_table(
        (
            f"version {shape['version']}",
            shape["written_at"] or "before what is held",
            shape["id"],
            count_words(shape["characters"], "character"),
            f"until version {shape['removed_in']}" if shape["removed_in"] else "today",
        )
        for shape in shapes
    )
    return Outcome({"id": id, "revisions": shapes}, words)


@verb
@click.argument("old", type=int)
@click.argument("new", type=int)
@click.argument("id", required=False)
def diff_command(call: Call, old: int, new: int, id: str | None) -> Outcome:
    """Tell what differs between two versions.

    With an ID, show how the text of that document changed.
    """
    with call.open_library() as library:
        if id is not None:
            lines = library.diff_text(id, old, new, call.principals)
            shape = {"id": id, "old": old, "new": new, "diff": lines}
            return Outcome(shape, "\n".join(lines) or "nothing differs")
        found = library.diff(old, new, call.principals)
    kinds = {
        "added": found.added,
        "updated": found.updated,
        "changed in metadata": found.metadata_changed,
        "removed": found.removed,
        "moved": [f"{moved.old_id} to {moved.new_id}" for moved in found.moved],
    }
    words = [f"{kind}: {id}" for kind, ids in kinds.items() for id in ids]
    return Outcome(shape_difference(found), "\n".join(words) or "nothing differs")


@verb
@click.option("--days", type=float, default=365.0, help="Old is what was not modified for so long.")
def stale_command(call: Call, days: float) -> Outcome:
    """List the documents to update or archive.

    Old ones, those that a newer one says nearly as well, and, for the owner, those that no kept
    answer was drawn from.
    """
    with call.open_library() as library:
        report = library.stale(days, call.principals)
    words = make_table((one.info.id, "; ".join(one.reasons)) for one in report.documents)
    return Outcome(shape_stale(report), words or "nothing is stale")


@verb
@click.option("--days", type=float, help="Keep versions replaced in the last so many days.")
@click.option("--cited", is_flag=True, help="Also drop what kept answers cite; they forget it.")
def vacuum_command(call: Call, days: float | None, cited: bool) -> Outcome:
    """Drop versions that were replaced long ago.

    What only they held leaves every file of the library. The last version always stays.
    """
    with call.open_library() as library:
        shape = shape_outcome(library.vacuum(days, cited=cited))
    words = (
        f"{count_words(shape['versions'], 'version')} dropped, with"
        f" {count_words(shape['revisions'], 'revision')} and"
        f" {count_words(shape['passages'], 'passage')}; version {shape['version']} is the oldest"
    )
    if shape["cited"]:
        words += f"\n{count_words(shape['cited'], 'revision')} kept for answers that cite them"
    return Outcome(shape, words)


@verb
@click.option("--repair", is_flag=True, help="Make anew what is derived from the documents.")
def verify_command(call: Call, repair: bool) -> Outcome:
    """Check every invariant of the library.

    Tables, texts, vectors and postings must agree, and no file may be left over. Exit code 1 when a
    problem is left.
    """
    mended: list[Problem] = []
    with call.open_library(sends=("embedder",) if repair else ()) as library:
        problems = library.verify(repair=repair, on_repair=mended.extend)
    mended = [one for one in mended if one not in problems]
    shape = {"ok": not problems, "problems": [shape_outcome(one) for one in problems]}
    if repair:
        shape["repaired"] = [shape_outcome(one) for one in mended]
    words = make_table((one.part, one.where, one.message) for one in problems)
    if mended:
        lines = make_table((one.part, one.where, one.message) for one in mended)
        words = f"repaired:\n{lines}\n{words or 'the library is whole now'}"
    if any(one.repairable for one in problems) and not repair:
        words += "\n`ibid verify --repair` makes anew what is derived"
    return Outcome(shape, words or "the library is whole", FAILED if problems else 0)


@verb
@click.option("--embedder", help="The embedder: a name, or a folder with its model.")
def reindex_command(call: Call, embedder: str | None) -> Outcome:
    """Cut, analyse and embed every text anew, then switch over.

    The new parts are those that the settings name. The library serves as it was meanwhile; a run
    that was stopped goes on where it was.
    """
    flags = {"embedder.name": embedder}
    with (
        call.open_library(sends=("embedder",), flags=flags, reindexing=True) as library,
        show_progress("texts", "re-indexing") as on_progress,
    ):
        shape = shape_outcome(library.reindex(on_progress=on_progress))
    words = (
        f"version {shape['version']}: {count_words(shape['contents'], 'text')},"
        f" {count_words(shape['passages'], 'passage')}, {shape['embedded']} embedded"
    )
    return Outcome(shape, words)


@verb
@click.argument("file", type=click.Path(path_type=Path))
def export_command(call: Call, file: Path) -> Outcome:
    """Write the library as one portable file.

    It holds the documents of the last version with access, vectors and sources; earlier versions
    and the log of answers stay behind.
    """
    if call.principals is not OWNER and call.principals:
        raise click.UsageError("an export holds the whole library, whoever asks: leave out --as")
    with call.open_library() as library:
        shape = shape_outcome(library.export(file))
    return Outcome(shape, f"{count_words(shape['documents'], 'document')} in {file}")


@verb
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def import_command(call: Call, file: Path) -> Outcome:
    """Take in the documents of an exported file.

    Nothing is read or embedded anew. Documents that the library holds already stay as they are.
    """
    with call.open_library(create=True) as library:
        shape = shape_outcome(library.import_file(file))
    words = f"version {shape['version']}: {count_words(shape['documents'], 'document')} added"
    if shape["unchanged"]:
        words += f", {shape['unchanged']} unchanged"
    return Outcome(shape, words)
