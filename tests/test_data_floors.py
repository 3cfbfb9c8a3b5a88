"""Floors on real data: a whole documentation folder, and collections with judged queries."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

import ibid
from ibid.evaluation.metrics import mean_over_queries, ndcg_at
from ibid.records import OWNER, IngestReport, Query, SearchMode
from ibid.testing.embedders import HashingEmbedder

DATA: Final = Path(
    os.environ.get("IBID_DATA", Path(__file__).parents[2] / "shared" / "data")
).resolve()
FOLDER: Final = DATA / "folders" / "opentelemetry" / "content"
RETRIEVAL: Final = DATA / "retrieval"

MODES: Final[tuple[SearchMode, ...]] = ("lexical", "dense", "hybrid")

pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(not DATA.is_dir(), reason=f"no data sets at {DATA}; set IBID_DATA"),
]


# -- a documentation folder ---------------------------------------------------------------------


@dataclass(frozen=True)
class Synced:
    """A copy of the folder and the library that it was synced into."""

    folder: Path
    library: ibid.Library
    report: IngestReport


@pytest.fixture(scope="module")
def synced(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Synced]:
    folder = tmp_path_factory.mktemp("folder") / "content"
    shutil.copytree(FOLDER, folder)
    place = tmp_path_factory.mktemp("library")
    with ibid.open(place, embedder=HashingEmbedder()) as library:
        yield Synced(folder, library, library.sync(folder))


def test_every_file_is_accounted_for(synced: Synced) -> None:
    report = synced.report
    named = [*report.added, *(skipped.id for skipped in report.skipped)]
    files = [path.relative_to(synced.folder).as_posix() for path in synced.folder.rglob("*.md")]
    assert len(files) == 768
    assert sorted(named) == sorted(files)
    assert report.failed == ()
    assert {info.id for info in synced.library.documents(OWNER)} == set(report.added)


def test_a_file_with_a_title_is_never_skipped(synced: Synced) -> None:
    texts = {
        skipped.id: (synced.folder / skipped.id).read_text() for skipped in synced.report.skipped
    }
    assert not [id for id, text in texts.items() if "\ntitle: " in text]


def test_passages_are_slices_of_their_documents_and_none_was_cut(synced: Synced) -> None:
    assert synced.report.passages.truncated == 0
    for info in synced.library.documents(OWNER)[::7]:
        document = synced.library.document(info.id, OWNER)
        for passage in synced.library.passages(info.id, OWNER):
            assert document.text[passage.span] == passage.text


def test_a_second_sync_finds_nothing_to_do(synced: Synced) -> None:
    again = synced.library.sync(synced.folder)
    assert again.unchanged == len(synced.report.added)
    assert again.passages.embedded == again.passages.added == 0
    assert (again.added, again.updated, again.removed, again.failed) == ((), (), (), ())
    assert again.version == synced.library.status(OWNER).version


def test_an_edit_embeds_only_the_passages_that_changed(synced: Synced) -> None:
    id = max(synced.library.documents(OWNER), key=lambda info: info.passages).id
    path = synced.folder / id
    path.write_text(
        path.read_text(encoding="utf-8").rstrip() + "\n\nA closing remark on quokkas.\n",
        encoding="utf-8",
    )
    report = synced.library.sync(synced.folder)
    assert report.updated == (id,)
    assert 1 <= report.passages.embedded <= 2
    assert report.passages.added > 10
    assert find(synced.library, "quokkas", "lexical")[0] == id


def test_a_deleted_file_is_in_no_result_any_more(synced: Synced) -> None:
    library = synced.library
    id = min(
        (info for info in library.documents(OWNER) if info.passages > 2), key=lambda info: info.id
    ).id
    text = library.passages(id, OWNER)[1].text
    assert all(id in find(library, text, mode) for mode in MODES)
    (synced.folder / id).unlink()
    assert library.sync(synced.folder).removed == (id,)
    assert not any(id in find(library, text, mode) for mode in MODES)


def test_documents_of_another_source_survive_a_sync(synced: Synced, tmp_path: Path) -> None:
    library = synced.library
    library.ingest(ibid.Document(id="note", text="A note that no folder holds."))
    second = tmp_path / "second"
    shutil.copytree(synced.folder / "en" / "docs" / "concepts", second / "concepts")
    added = library.sync(second).added
    assert added
    assert all(id.startswith("second/") for id in added)
    assert library.sync(synced.folder).removed == ()
    present = {info.id for info in library.documents(OWNER)}
    assert {"note", *added} <= present


def find(library: ibid.Library, text: str, mode: SearchMode) -> list[str]:
    """The documents of the best hundred passages, each once, best first."""
    hits = library.run_search(Query(text, OWNER), mode=mode, k=100).hits
    return list(dict.fromkeys(hit.document_id for hit in hits))


# -- retrieval ----------------------------------------------------------------------------------


def test_keyword_search_on_scifact(tmp_path: Path) -> None:
    # Keyword search looks at no vector, so the embedder may be one that costs nothing.
    with ibid.open(tmp_path / "library", embedder=HashingEmbedder()) as library:
        assert measure_ndcg(library, "scifact", "lexical") >= 0.69


def test_hybrid_search_on_cranfield(tmp_path: Path) -> None:
    with ibid.open(tmp_path / "library") as library:
        assert measure_ndcg(library, "cranfield", "hybrid") >= 0.43


def measure_ndcg(library: ibid.Library, name: str, mode: SearchMode) -> float:
    """nDCG@10 with default settings, one document each, a document counted by its best passage."""
    library.ingest(
        ibid.Document(id=row["id"], text=row["text"], title=row["title"] or None)
        for row in read_lines(RETRIEVAL / name / "corpus.jsonl")
        if row["text"].strip()
    )
    queries = {row["id"]: row["text"] for row in read_lines(RETRIEVAL / name / "queries.jsonl")}
    qrels = read_qrels(RETRIEVAL / name / "qrels.tsv")
    run = {id: find(library, queries[id], mode)[:10] for id in qrels}
    return mean_over_queries(lambda ranking, judged: ndcg_at(ranking, judged, 10), run, qrels)


def read_lines(path: Path) -> Sequence[Mapping[str, str]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def read_qrels(path: Path) -> dict[str, dict[str, float]]:
    qrels: dict[str, dict[str, float]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        query, document, relevance = line.split("\t")[:3]
        if relevance.lstrip("-").isdigit():
            qrels.setdefault(query, {})[document] = float(relevance)
    return qrels
