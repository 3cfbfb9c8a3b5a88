"""A library as one portable file, and back: documents, passages, vectors, sources and golden cases.

The file is a ZIP of plain JSON lines and of vectors in float16, and knows no engine: what one
wrote another takes in, and nothing is read or embedded anew. It holds the last version and who may
see what; earlier versions and the log of answers stay behind.
"""

from __future__ import annotations

import dataclasses
import json
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ibid.errors import DuplicateDocument, FormatTooNew, IbidError, InputError
from ibid.evaluation.golden import dump_golden, parse_golden
from ibid.flows.golden import add_cases, read_golden
from ibid.flows.hashing import HASH_BYTES, hash_text
from ibid.flows.ingest import enumerate_ids, find_stored
from ibid.flows.manifest import check_manifest
from ibid.flows.options import EVERYTHING
from ibid.flows.prepare import index_passage
from ibid.flows.register import find_free_name
from ibid.plain import from_plain, to_plain
from ibid.protocols import (
    FileStat,
    FileState,
    Index,
    Manifest,
    PutDocument,
    SourceInfo,
    StoredDocument,
)
from ibid.records import Blocks, Document, Passage
from ibid.version import VERSION

if TYPE_CHECKING:
    from ibid.protocols import Vectors

FORMAT: Final = 1

BATCH: Final = 256
"""Documents that are written or read at a time."""

MANIFEST: Final = "manifest.json"
DOCUMENTS: Final = "documents.jsonl"
SOURCES: Final = "sources.jsonl"
HASHES: Final = "vectors.hashes"
VECTORS: Final = "vectors.float16"
GOLDEN: Final = "golden.jsonl"


@dataclass(frozen=True, slots=True)
class Transferred:
    """What a file holds, or what was taken from it; `version` is the library's, `golden` counts
    golden cases."""

    version: int
    documents: int
    passages: int
    sources: int
    unchanged: int = 0
    golden: int = 0


# -- out ----------------------------------------------------------------------------------------


def export_library(path: Path, *, index: Index, golden: Path | None = None) -> Transferred:
    """Write the last version of a library into a new file; other writers wait meanwhile.

    `golden` is the library's file of golden cases, which goes along where it is there.
    The file appears whole or not at all. Raises InputError for a path that exists or can't be
    written, and for a library without any document.
    """
    made = index.manifest
    if made is None:
        raise InputError("the library holds no document", hint="sync a folder first")
    if path.exists():
        raise InputError(f"{path} exists", hint="name another file, or remove it")
    part = path.with_name(f"{path.name}.part")
    try:
        with index.writing(), zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
            transferred = _write_archive(archive, made, index)
            if golden is not None and golden.exists():
                cases = read_golden(golden)
                archive.writestr(GOLDEN, "".join(dump_golden(cases)))
                transferred = replace(transferred, golden=len(cases))
        part.replace(path)
    except OSError as error:
        raise InputError(f"{path} can't be written: {error}", hint="name another place") from error
    finally:
        part.unlink(missing_ok=True)
    return transferred


def _write_archive(archive: zipfile.ZipFile, made: Manifest, index: Index) -> Transferred:
    snapshot = index.snapshot()
    hashes: dict[bytes, None] = {}
    documents = passages = 0
    with archive.open(DOCUMENTS, "w", force_zip64=True) as file:
        for info in snapshot.documents(EVERYTHING):
            stored = snapshot.document(info.id, EVERYTHING)
            cut = snapshot.document_passages(info.id, EVERYTHING)
            hashes |= dict.fromkeys(hash_text(passage.indexed_text) for passage in cut)
            file.write(_dump_line(_pack_document(stored, cut)))
            documents += 1
            passages += len(cut)
    with archive.open(SOURCES, "w", force_zip64=True) as file:
        sources = index.sources()
        for source in sources:
            files = [_pack_file(state) for state in index.files(source.name).values()]
            file.write(_dump_line({"source": to_plain(source), "files": files}))
    _write_vectors(archive, list(hashes), index)
    header = {"format": FORMAT, "ibid": VERSION, "manifest": dataclasses.asdict(made)}
    archive.writestr(MANIFEST, json.dumps(header, indent=1))
    return Transferred(snapshot.version, documents, passages, len(sources))


def _write_vectors(archive: zipfile.ZipFile, hashes: Sequence[bytes], index: Index) -> None:
    import numpy as np  # noqa: PLC0415 - what writes no vectors has no need of it

    archive.writestr(HASHES, b"".join(hashes))
    # Stored as they are: they would shrink by little, and are read here and there.
    with archive.open(zipfile.ZipInfo(VECTORS), "w", force_zip64=True) as file:
        for start in range(0, len(hashes), BATCH):
            some = hashes[start : start + BATCH]
            found = index.find_vectors(some)
            file.write(
                np.stack([found[text_hash] for text_hash in some], dtype=np.float16).tobytes()
            )


def _pack_document(stored: StoredDocument, passages: Sequence[Passage]) -> dict[str, Any]:
    document = stored.document
    return {
        "document": to_plain(replace(document, blocks=()))
        | {"blocks": Blocks.of(document.blocks).rows},
        "content_hash": stored.content_hash,
        "language": stored.language,
        "source": stored.source,
        "overrides": to_plain(stored.overrides),
        "passages": to_plain(passages),
    }


def _pack_file(state: FileState) -> dict[str, Any]:
    return state._asdict() | {"stat": state.stat._asdict()}


def _unpack_file(plain: Mapping[str, Any]) -> FileState:
    """The state of a file; what this ibid does not know of it is left out."""
    known = {name: value for name, value in plain.items() if name in FileState._fields}
    return FileState(**known | {"stat": FileStat(**plain["stat"])})


def _dump_line(values: Mapping[str, Any]) -> bytes:
    return f"{json.dumps(values, ensure_ascii=False, separators=(',', ':'))}\n".encode()


# -- in -------------------------------------------------------------------------------------------


def import_library(
    path: Path, *, index: Index, opened: Manifest, golden: Path | None = None
) -> Transferred:
    """Take the documents of an exported file into a library that was opened as `opened` says.

    Its golden cases are added to those in `golden`.

    Those that the library holds with the same text stay as they are, so a killed import goes on
    where it was. Raises DuplicateDocument, with nothing changed, for an id that holds another
    text; InputError for a file that was not exported or is damaged, FormatTooNew, EmbedderMismatch.
    """
    try:
        with zipfile.ZipFile(path) as archive, index.writing():
            transferred = _Import(archive, index).take_in(opened)
            if golden is None or GOLDEN not in archive.namelist():
                return transferred
            lines = archive.read(GOLDEN).decode("utf-8").split("\n")
            added, _ = add_cases(golden, parse_golden(lines, f"{path}, {GOLDEN}"))
            return replace(transferred, golden=len(added))
    except (OSError, zipfile.BadZipFile, zlib.error, KeyError, TypeError, ValueError) as error:
        if isinstance(error, IbidError):
            raise
        raise InputError(
            f"{path} can't be imported: {error}", hint="give a file that `ibid export` wrote"
        ) from error


class _Import:
    """An opened file on its way into a library."""

    def __init__(self, archive: zipfile.ZipFile, index: Index) -> None:
        self._archive = archive
        self._index = index
        self._places: dict[bytes, int] = {}
        self._names: dict[str, str] = {}

    def take_in(self, opened: Manifest) -> Transferred:
        """Check the whole file, then write it in batches, and what is known of its files last."""
        made = self._check(opened)
        held, new = self._find_held()
        self._name_sources()
        self._put_sources(with_files=False)
        passages = 0
        for batch in self._read_batches(new):
            vectors = self._read_vectors(batch, made.dimension or 0)
            self._index.commit(batch, vectors, manifest=made)
            passages += sum(len(put.passages) for put in batch)
        sources = self._put_sources(with_files=True)
        version = self._index.snapshot().version
        return Transferred(version, len(new), passages, sources, unchanged=held)

    def _check(self, opened: Manifest) -> Manifest:
        header = json.loads(self._archive.read(MANIFEST))
        if (bad := self._archive.testzip()) is not None:
            raise ValueError(f"{bad} in it is damaged")
        if header["format"] > FORMAT:
            raise FormatTooNew(
                f"the file has format {header['format']}; this ibid reads up to {FORMAT}",
                hint="install a newer ibid",
            )
        made = from_plain(Manifest, header["manifest"])
        check_manifest(made, opened)
        check_manifest(self._index.manifest, made)
        rows = self._archive.getinfo(HASHES).file_size // HASH_BYTES
        if self._archive.getinfo(VECTORS).file_size != rows * 2 * (made.dimension or 0):
            raise ValueError("it holds other vectors than it names")
        return made

    def _find_held(self) -> tuple[int, set[str]]:
        """How many documents the library holds as they are, and the ids of those that are new."""
        snapshot = self._index.snapshot()
        hashes = {line["document"]["id"]: line["content_hash"] for line in self._read(DOCUMENTS)}
        stored = find_stored(snapshot, hashes)
        other = [id for id, held in stored.items() if held.content_hash != hashes[id]]
        if other:
            raise DuplicateDocument(
                f"{enumerate_ids(other)} in the library already, with another text",
                hint="nothing was changed; import into a library of its own, or remove them first",
            )
        return len(stored), hashes.keys() - stored.keys()

    def _read_batches(self, new: set[str]) -> Iterator[list[PutDocument]]:
        puts = (
            _unpack(line, self._names)
            for line in self._read(DOCUMENTS)
            if line["document"]["id"] in new
        )
        while batch := list(islice(puts, BATCH)):
            yield batch

    def _read_vectors(self, puts: Sequence[PutDocument], dimension: int) -> dict[bytes, Vectors]:
        import numpy as np  # noqa: PLC0415 - loaded late, as above

        if not self._places:
            hashes = self._archive.read(HASHES)
            self._places = {
                hashes[at : at + HASH_BYTES]: at // HASH_BYTES
                for at in range(0, len(hashes), HASH_BYTES)
            }
        wanted = {indexed.text_hash for put in puts for indexed in put.passages}
        width = 2 * dimension
        found = {}
        with self._archive.open(VECTORS) as file:
            for text_hash in sorted(wanted, key=self._places.__getitem__):
                file.seek(self._places[text_hash] * width)
                row = np.frombuffer(file.read(width), np.float16)
                found[text_hash] = row.astype(np.float32)
        return found

    def _name_sources(self) -> None:
        """Find what each source of the file is called in the library.

        One that lies at the same place is the same; a name that another has is not taken from it.
        Raises InputError for a prefix that another has: a sync of one would remove what is the
        other's.
        """
        known = self._index.sources()
        taken = {info.name for info in known}
        for line in self._read(SOURCES):
            source = from_plain(SourceInfo, line["source"])
            same = next((info for info in known if info.location == source.location), None)
            for info in known:
                if info is not same and info.prefix == source.prefix:
                    raise InputError(
                        f"{source.location} in the file and {info.location} in the library have"
                        f" the same prefix {info.prefix!r}",
                        hint="nothing was changed; import into a library of its own",
                    )
            if same is not None and same.prefix != source.prefix:
                raise InputError(
                    f"{source.location} has the prefix {source.prefix!r} in the file and"
                    f" {same.prefix!r} in the library",
                    hint="nothing was changed; import into a library of its own",
                )
            name = same.name if same is not None else find_free_name(source.name, taken)
            taken.add(name)
            self._names[source.name] = name

    def _put_sources(self, *, with_files: bool) -> int:
        """Record the sources; with their files only when all their documents are in."""
        lines = list(self._read(SOURCES))
        for line in lines:
            synced_at = line["source"]["synced_at"]
            source = replace(
                from_plain(SourceInfo, line["source"]),
                name=self._names[line["source"]["name"]],
                synced_at=synced_at and datetime.fromisoformat(synced_at),
            )
            self._index.put_source(source)
            if with_files:
                files = [_unpack_file(file) for file in line["files"]]
                self._index.commit([], {}, source=source.name, files=files)
        return len(lines)

    def _read(self, name: str) -> Iterator[dict[str, Any]]:
        with self._archive.open(name) as file:
            for line in file:
                yield json.loads(line)


def _unpack(line: Mapping[str, Any], names: Mapping[str, str]) -> PutDocument:
    """The change that writes a document of the file, as it would be written anew.

    `names` tells what its source is called in the library.
    """
    document = from_plain(Document, line["document"])
    language = line["language"]
    passages = [from_plain(Passage, passage) for passage in line["passages"]]
    return PutDocument(
        document=document,
        content_hash=line["content_hash"],
        passages=[index_passage(passage, document.title, language) for passage in passages],
        language=language,
        source=None if line["source"] is None else names[line["source"]],
        overrides=line["overrides"],
        create=True,
        opens=True,
    )
