"""The lab: the worked examples through it and through its verb, its controls, access."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import ibid
from command_line import call
from ibid.errors import BadSetting
from ibid.flows.lab import MOST_CHARACTERS, Lab, LabOptions
from ibid.language.presets import find_words
from ibid.records import Document
from ibid.shapes.inspection import shape_lab
from ibid.testing.embedders import HashingEmbedder
from test_conformance import DATA, EXAMPLES, FILE

NOTES = {
    "ferry": "The ferry leaves at seven. Dogs travel free. A ticket for a bicycle costs two coins.",
    "market": "The market opens on Friday. Bread, fish and flowers are sold until noon.",
}


def make_lab(notes: dict[str, str] = NOTES, **more: Any) -> Lab:
    documents = [Document(id=id, text=text) for id, text in notes.items()]
    return Lab(documents, HashingEmbedder(), **more)


def test_smaller_chunks_bring_the_evidence_up_or_cut_it() -> None:
    question, evidence = "What does a bicycle cost?", "costs two coins"
    whole = make_lab().run(question, evidence, LabOptions(size=30, overlap=0))
    assert (whole.evidence_rank, whole.split) == (1, False)
    assert [chunk.number for chunk in whole.chunks] == [0, 1]
    cut = make_lab().run(question, evidence, LabOptions(size=2, overlap=0))
    assert (cut.evidence_rank, cut.split) == (None, True)
    absent = make_lab().run(question, "costs nine coins", LabOptions())
    assert (absent.evidence_rank, absent.split) == (None, False)


@pytest.mark.parametrize("retriever", ["tfidf", "bm25", "dense", "hybrid"])
def test_each_retriever_finds_the_words_of_the_question(retriever: Any) -> None:
    options = LabOptions(unit="sentences", size=8, overlap=0, retriever=retriever)
    found = make_lab().run("When does the ferry leave?", "ferry leaves", options)
    assert found.evidence_rank == 1
    assert found.hits[0].chunk.document_id == "ferry"


def test_synonyms_find_what_shares_no_word() -> None:
    lab = make_lab(synonyms={"hound": ["dogs"]})
    options = LabOptions(unit="sentences", size=8, overlap=0)
    assert lab.run("hound", "Dogs travel free", options).hits == ()
    found = lab.run("hound", "Dogs travel free", LabOptions("sentences", 8, 0, expand=True))
    assert found.evidence_rank == 1


def test_reranking_tells_the_rank_before() -> None:
    notes = {
        "far": "Coins are old. Two of them were found. A bicycle stood there.",
        "near": "A bicycle: two coins, as the guard said when he came by that day, and left.",
    }
    question = "two coins bicycle"
    options = LabOptions(size=40, overlap=0, rerank=True, retriever="bm25")
    hits = make_lab(notes).run(question, "bicycle: two coins", options).hits
    assert sorted(hit.before for hit in hits) == [1, 2]
    assert hits[0].chunk.document_id == "near"


def test_moving_a_control_back_embeds_nothing() -> None:
    embedded: list[str] = []

    class Counting(HashingEmbedder):
        def embed(self, texts: Any, *, kind: Any) -> Any:
            embedded.extend(texts if kind == "passage" else ())
            return super().embed(texts, kind=kind)

    lab = Lab([Document(id="a", text=NOTES["ferry"])], Counting())
    for size in (5, 8, 5):
        lab.run("ferry", "", LabOptions(size=size, overlap=0, retriever="dense"))
    assert len(embedded) == len(set(embedded)) > 0


def test_what_can_not_be_is_refused() -> None:
    with pytest.raises(BadSetting, match="overlap"):
        LabOptions(size=5, overlap=5)
    with pytest.raises(BadSetting, match="retriever"):
        LabOptions(retriever="magic")  # type: ignore[arg-type]  # what a page might send
    with pytest.raises(BadSetting, match="ask for 1"):
        LabOptions(k=0)
    with pytest.raises(BadSetting, match="too many"):
        make_lab({"large": "word " * MOST_CHARACTERS})


def test_the_lab_of_a_library_holds_what_its_caller_sees(tmp_path: Path) -> None:
    with ibid.open(tmp_path / "library", embedder=HashingEmbedder()) as library:
        library.ingest(ibid.Document(id="open", text=NOTES["ferry"]))
        library.ingest(
            ibid.Document(id="shut", text=NOTES["market"], allow=frozenset({"user:ann"}))
        )
        for asker, seen in (((), {"open"}), ({"user:ann"}, {"open", "shut"})):
            shape = shape_lab(library.open_lab(asker).run("ferry", "", LabOptions()))
            assert {chunk["document_id"] for chunk in shape["chunks"]} == seen


def test_the_verb_reads_files(tmp_path: Path) -> None:
    for name, text in NOTES.items():
        (tmp_path / f"{name}.txt").write_text(text)
    arguments = ("lab", "When does the ferry leave?", tmp_path, "--evidence", "leaves at seven")
    done = call(*arguments, "--json")
    assert (done.code, done.json["evidence_rank"]) == (0, 1)
    assert "HOLDS THE EVIDENCE" in call(*arguments).out
    cut = call(*arguments, "--size", "1", "--overlap", "0")
    assert cut.code == 3
    assert "the evidence is cut" in cut.out


# -- the worked examples ------------------------------------------------------------------


needs_examples = pytest.mark.skipif(
    not EXAMPLES, reason=f"no worked examples at {FILE} (IBID_CONFORMANCE)"
)


@needs_examples
def test_worked_examples_by_the_lab() -> None:
    given = DATA["lab"]
    stop_words = set(given["stop_words"])
    lab = Lab(
        [Document(id=id, text=text) for id, text in given["documents"].items()],
        HashingEmbedder(),
        lambda text: [word for word in find_words(text) if word not in stop_words],
        given["synonyms"],
    )
    examples = {one["id"]: one for one in DATA["examples"] if one["id"].startswith("lab-")}
    for id in ("lab-tfidf-20", "lab-tfidf-30"):
        asked, expected = examples[id]["input"], examples[id]["expected"]
        options = LabOptions("words", asked["size"], asked["overlap"], k=len(expected["ranking"]))
        found = lab.run(asked["query"], asked["evidence"], options)
        assert len(found.chunks) == expected["chunks"]
        assert [
            (hit.chunk.document_id, pytest.approx(hit.score, abs=0.0005), hit.chunk.evidence)
            for hit in found.hits
        ] == [tuple(row) for row in expected["ranking"]]
    for size, recall in examples["lab-recall"]["expected"][
        "recall@3 by size (overlap=min(5,size//3))"
    ].items():
        options = LabOptions("words", int(size), min(5, int(size) // 3))
        ranks = [
            lab.run(one["query"], one["evidence"], options).evidence_rank
            for one in given["queries"]
        ]
        assert sum(rank is not None and rank <= 3 for rank in ranks) / len(ranks) == recall


@needs_examples
def test_worked_examples_by_the_verb(tmp_path: Path) -> None:
    given = DATA["lab"]
    folder = tmp_path / "notes"
    folder.mkdir()
    for id, text in given["documents"].items():
        (folder / f"{id}.txt").write_text(text)
    (tmp_path / "stop.txt").write_text("\n".join(given["stop_words"]))
    (tmp_path / "synonyms.txt").write_text(
        "\n".join(f"{word} => {', '.join(others)}" for word, others in given["synonyms"].items())
    )
    [missed] = [one for one in DATA["examples"] if one["id"] == "lab-miss"]
    asked, expected = missed["input"], missed["expected"]
    plain = ("lab", asked["query"], folder, "--evidence", asked["evidence"], "--json")
    controls = ("--size", "20", "--overlap", "5", "--stop-words", tmp_path / "stop.txt")
    done = call(*plain, *controls)
    assert (done.code, done.json["hits"], done.json["terms"]) == (3, [], expected["terms"])
    expanded = call(*plain, *controls, "--synonyms", tmp_path / "synonyms.txt").json
    name, score = expected["expanded_top"]
    top = expanded["hits"][0]
    assert (top["document_id"], top["score"]) == (f"{name}.txt", pytest.approx(score, abs=0.0005))
