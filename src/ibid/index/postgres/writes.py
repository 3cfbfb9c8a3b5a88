"""Rows in: how documents, contents, passages and files are written.

Plain functions over a connection; the caller holds the transaction. What there is much of is
gathered in `Rows` and written at the end, table by table.
"""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ibid.index.codec import dump_json
from ibid.index.columns import list_file
from ibid.index.filter_tree import attribute_values
from ibid.index.postgres.bulk import insert_rows
from ibid.index.postgres.database import is_storable
from ibid.index.postgres.postings import NewPostings
from ibid.protocols import FileState, IndexedPassage, Manifest, SourceInfo
from ibid.records import Document

if TYPE_CHECKING:
    from ibid.index.postgres.database import Connection
    from ibid.protocols import Vectors

_COLUMNS: Final[Mapping[str, Mapping[str, str]]] = {
    "attributes": {"revision": "int8", "name": "text", "text": "text", "number": "float8"},
    "passages": {
        **dict.fromkeys(("row", "first_row", "content"), "int8"),
        **dict.fromkeys(("ordinal", "start_at", "end_at", "body"), "int4"),
        **dict.fromkeys(("prefix", "headings", "lead"), "text"),
        "page": "int4",
        **dict.fromkeys(("place", "rule", "context"), "text"),
        **dict.fromkeys(("context_key", "text_hash"), "bytea"),
        **dict.fromkeys(("terms", "lead_terms"), "int4"),
    },
    "mentions": {"entity": "int8", "row": "int8", "role": "int2"},
    "vectors": {"row": "int8", "embedding": "halfvec"},
}
"""The columns that are written of each table, with their types, in the order of writing."""

_FILES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("source", "path"), "text"),
    **dict.fromkeys(("size", "modified_ns", "inode"), "int8"),
    **dict.fromkeys(("status", "bytes_hash", "content_hash", "error", "message"), "text"),
    "container": "text",
    "changed_ns": "int8",
    "tag": "text",
}
_FILE_AGAIN: Final = "(source, digest) DO UPDATE SET " + ", ".join(
    f"{column} = excluded.{column}" for column in _FILES
)


@dataclass(slots=True)
class Sizes:
    """How much was added, for the statistics of BM25."""

    passages: int = 0
    terms: int = 0
    documents: int = 0
    document_terms: int = 0


@dataclass(slots=True)
class Rows:
    """Rows that wait to be written, by table, and what they add up to."""

    tables: dict[str, list[tuple[object, ...]]] = field(
        default_factory=lambda: {table: [] for table in _COLUMNS}
    )
    postings: dict[str, NewPostings] = field(
        default_factory=lambda: {"postings": NewPostings(), "document_postings": NewPostings()}
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
        self.postings[table].add(row, terms)
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

    def write(self, connection: Connection) -> None:
        """Write all that waits."""
        for table, rows in self.tables.items():
            insert_rows(connection, table, _COLUMNS[table], rows)
            rows.clear()
        for table, postings in self.postings.items():
            postings.write(connection, table)


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
    last = {
        file.path: list_file(source, file._replace(message=file.message.replace("\0", "\ufffd")))
        for file in files
    }
    insert_rows(connection, "files", _FILES, list(last.values()), conflict=_FILE_AGAIN)


def forget_files(connection: Connection, source: str, paths: Iterable[str]) -> None:
    """Remember nothing of these files any more."""
    connection.execute(
        "DELETE FROM files WHERE source = %s AND path = ANY (%s)", (source, list(paths))
    )


_OF_DOCUMENTS: Final = """revisions r JOIN documents d ON d.id = r.document
    JOIN sources s ON s.name = d.source"""
_PATH: Final = (
    "CASE s.prefix WHEN '' THEN r.name ELSE substr(r.name, length(s.prefix) + 2) END"
    " AND d.id = ANY (%s)"
)


def forget_files_of(connection: Connection, documents: Sequence[int]) -> None:
    """Remember nothing any more of the files that these documents came from, and hand none out."""
    connection.execute(
        f"DELETE FROM files f USING {_OF_DOCUMENTS} WHERE f.source = s.name AND f.path = {_PATH}",
        (list(documents),),
    )
    connection.execute(
        "UPDATE queued q SET outcome = 'null', data = ''"
        f" FROM runs u, {_OF_DOCUMENTS}"
        f" WHERE u.id = q.run AND u.source = s.name AND q.path = {_PATH}",
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
