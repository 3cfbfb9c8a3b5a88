"""Rows in: how documents, contents, passages and files are written.

Plain functions over a connection; the caller holds the transaction. What there is much of is
gathered in `Rows` and copied at the end, table by table.
"""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ibid.index.codec import dump_json
from ibid.index.columns import signed
from ibid.index.filter_tree import attribute_values
from ibid.index.postgres.database import is_storable
from ibid.index.postgres.terms import count_terms
from ibid.protocols import FileState, IndexedPassage, Manifest, SourceInfo
from ibid.records import JSON, Document

if TYPE_CHECKING:
    from ibid.index.postgres.database import Connection
    from ibid.protocols import Vectors

_COPIES: Final[Mapping[str, tuple[str, Sequence[str]]]] = {
    "attributes": ("revision, name, text, number", ("int8", "text", "text", "float8")),
    "passages": (
        "row, first_row, content, ordinal, start_at, end_at, body, prefix, headings, lead, page,"
        " place, rule, context, context_key, text_hash, terms, lead_terms",
        (
            *("int8", "int8", "int8", "int4", "int4", "int4", "int4", "text", "text", "text"),
            *("int4", "text", "text", "text", "bytea", "bytea", "int4", "int4"),
        ),
    ),
    "postings": ("term, row, count, length", ("int8", "int8", "int4", "int4")),
    "document_postings": ("term, row, count, length", ("int8", "int8", "int4", "int4")),
    "mentions": ("entity, row, role", ("int8", "int8", "int2")),
    "vectors": ("row, embedding", ("int8", "halfvec")),
}
"""The columns that are copied into each table, with their types, in the order of writing."""


@dataclass(slots=True)
class Sizes:
    """How much was added, for the statistics of BM25."""

    passages: int = 0
    terms: int = 0
    documents: int = 0
    document_terms: int = 0


@dataclass(slots=True)
class Rows:
    """Rows that wait to be copied, by table, and what they add up to."""

    tables: dict[str, list[tuple[object, ...]]] = field(
        default_factory=lambda: {table: [] for table in _COPIES}
    )
    sizes: Sizes = field(default_factory=Sizes)

    def add_passages(
        self, content: int, first_row: int, passages: Sequence[IndexedPassage]
    ) -> None:
        """The passages of a content in rows from `first_row` on, with postings and mentions."""
        lead: list[str] = []
        for row, indexed in enumerate(passages, start=first_row):
            terms = indexed.terms.split()
            leading = indexed.terms.partition("\n")[0].split()
            lead += leading
            counts = (len(terms), len(leading))
            self.tables["passages"].append(
                (row, first_row, content, *_list_columns(indexed), *counts)
            )
            self.add_postings("postings", row, terms)
            self.tables["mentions"] += [
                (entity, row, int(role)) for entity, role in indexed.entities.items()
            ]
        if passages:
            self.add_postings("document_postings", first_row, lead)

    def add_postings(self, table: str, row: int, terms: list[str]) -> None:
        """The postings of a passage, or of a document as its first row."""
        length = len(terms)
        self.tables[table] += [
            (term, row, count, length) for term, count in count_terms(terms).items()
        ]
        if table == "postings":
            self.sizes.passages += 1
            self.sizes.terms += length
        else:
            self.sizes.documents += 1
            self.sizes.document_terms += length

    def add_vectors(self, vectors: Iterable[tuple[int, Vectors]]) -> None:
        """The vectors of these rows."""
        from pgvector import HalfVector  # noqa: PLC0415 - loads numpy

        self.tables["vectors"] += [(row, HalfVector(vector)) for row, vector in vectors]

    def add_attributes(self, revision: int, document: Document) -> None:
        """Tags and metadata for filters; what no filter can ask for is left out."""
        self.tables["attributes"] += [
            (revision, f"{kind}.{name}", text, number)
            for kind, values in (("tag", document.tags), ("metadata", document.metadata))
            for name, value in values.items()
            for text, number in attribute_values(value)
            if is_storable(name) and is_storable(text)
        ]

    def copy(self, connection: Connection) -> None:
        """Write all that waits."""
        for table, (columns, types) in _COPIES.items():
            if not self.tables[table]:
                continue
            statement = f"COPY {table} ({columns}) FROM STDIN (FORMAT binary)"
            with connection.cursor() as cursor, cursor.copy(statement) as copy:
                copy.set_types(types)
                for values in self.tables[table]:
                    copy.write_row(values)
            self.tables[table].clear()


def _list_columns(indexed: IndexedPassage) -> tuple[object, ...]:
    passage = indexed.passage
    return (
        passage.ordinal,
        passage.start,
        passage.end,
        passage.body,
        passage.prefix,
        json.dumps(passage.headings, ensure_ascii=False),
        passage.lead,
        passage.page,
        passage.place,
        passage.rule,
        passage.context,
        passage.context_key,
        indexed.text_hash,
    )


# -- documents ----------------------------------------------------------------------------------


def read_last_access(connection: Connection, name: str) -> frozenset[str] | None:
    """Who could see the last document of this name, which is no more; None: everyone."""
    found = connection.execute(
        "SELECT d.allow FROM revisions r JOIN documents d ON d.id = r.document"
        " WHERE r.name = %s ORDER BY r.id DESC LIMIT 1",
        (name,),
    ).fetchone()
    return frozenset(found[0]) if found is not None and found[0] is not None else None


def narrow_past(
    connection: Connection, name: str, identity: int, allow: frozenset[str] | None
) -> None:
    """Let nobody see more of the earlier documents of this name than of today's one.

    What they were restricted to stays as well: a new document opens nothing of an old one.
    """
    if allow is None:
        return
    for past, before in connection.execute(
        "SELECT DISTINCT d.id, d.allow FROM revisions r JOIN documents d ON d.id = r.document"
        " WHERE r.name = %s AND d.id != %s AND NOT EXISTS"
        " (SELECT FROM revisions l WHERE l.document = d.id AND l.removed_in IS NULL)",
        (name, identity),
    ).fetchall():
        both = allow if before is None else allow & frozenset(before)
        connection.execute("UPDATE documents SET allow = %s WHERE id = %s", (sorted(both), past))


def set_access(
    connection: Connection,
    identity: int,
    allow: frozenset[str] | None,
    overrides: Mapping[str, JSON],
) -> None:
    """Set who may see a document, at every version, and what was said of it by hand."""
    listed = None if allow is None else sorted(allow)
    connection.execute(
        "UPDATE documents SET allow = %s::text[], overrides = %s WHERE id = %s",
        (listed, dump_json(overrides), identity),
    )


def end_revision(connection: Connection, revision: int, version: int) -> None:
    """Let a revision live no more from this version on."""
    connection.execute("UPDATE revisions SET removed_in = %s WHERE id = %s", (version, revision))


# -- sources and files --------------------------------------------------------------------------


def write_source(connection: Connection, source: SourceInfo) -> None:
    """Record a source, or what changed of it."""
    connection.execute(
        "INSERT INTO sources (name, location, prefix, synced_at, recipe) VALUES (%s,%s,%s,%s,%s)"
        " ON CONFLICT (name) DO UPDATE SET location = excluded.location,"
        " prefix = excluded.prefix, synced_at = excluded.synced_at, recipe = excluded.recipe",
        (
            source.name,
            source.location,
            source.prefix,
            source.synced_at.timestamp() if source.synced_at else None,
            source.recipe,
        ),
    )


def write_files(connection: Connection, source: str, files: Iterable[FileState]) -> None:
    """Remember what a source knows of these files."""
    forget = "DELETE FROM files WHERE source = %s AND digest = md5(%s) AND path = %s"
    states = list(files)
    with connection.cursor() as cursor:
        cursor.executemany(forget, [(source, file.path, file.path) for file in states])
        cursor.executemany(
            "INSERT INTO files (source, path, size, modified_ns, inode, status, bytes_hash,"
            " content_hash, error, message, container, changed_ns, tag)"
            " VALUES (%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s)",
            [_list_file(source, file) for file in states],
        )


def _list_file(source: str, file: FileState) -> tuple[object, ...]:
    return (
        source,
        file.path,
        file.stat.size,
        file.stat.modified_ns,
        signed(file.stat.inode),
        file.status,
        file.bytes_hash,
        file.content_hash,
        file.error,
        file.message.replace("\0", "\ufffd"),
        file.container,
        file.stat.changed_ns,
        file.stat.tag,
    )


def forget_files(connection: Connection, source: str, paths: Iterable[str]) -> None:
    """Remember nothing of these files any more."""
    connection.execute(
        "DELETE FROM files WHERE source = %s AND path = ANY (%s)", (source, list(paths))
    )


def forget_files_of(connection: Connection, documents: Sequence[int]) -> None:
    """Remember nothing any more of the files that these documents came from."""
    connection.execute(
        "DELETE FROM files f USING revisions r, documents d, sources s"
        " WHERE d.id = r.document AND s.name = d.source AND f.source = s.name AND f.path ="
        " CASE s.prefix WHEN '' THEN r.name ELSE substr(r.name, length(s.prefix) + 2) END"
        " AND d.id = ANY (%s)",
        (list(documents),),
    )


# -- versions -----------------------------------------------------------------------------------


def write_manifest(connection: Connection, manifest: Manifest) -> None:
    """Record what the library is made with."""
    connection.execute(
        "UPDATE library SET manifest = %s", (dump_json(dataclasses.asdict(manifest)),)
    )


def publish(connection: Connection, version: int, *, next_row: int, added: Sizes) -> None:
    """Make this the last version; with the transaction's commit, readers see it."""
    connection.execute(
        "INSERT INTO versions SELECT %s, %s, %s, v.passages + %s, v.terms + %s, v.documents + %s,"
        " v.document_terms + %s FROM versions v JOIN library l ON l.version = v.version",
        (
            version,
            time.time(),
            next_row,
            added.passages,
            added.terms,
            added.documents,
            added.document_terms,
        ),
    )
    connection.execute("UPDATE library SET version = %s, next_row = %s", (version, next_row))
