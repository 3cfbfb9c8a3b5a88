"""Every worked example of the conformance file, run against the functions of ibid.

The examples are data from outside the project: this file knows how to run each, not what it says.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest

import ibid
from ibid.answering.citations import check_citations
from ibid.chunking.options import Chunking
from ibid.chunking.packing import sentence_spans
from ibid.chunking.structure import chunk_by_structure
from ibid.chunking.windows import character_spans, count_windows, window_spans, word_spans
from ibid.errors import BadSetting, DuplicateDocument
from ibid.evaluation.metrics import (
    evidence_recall,
    mean_over_queries,
    ndcg_at,
    precision_at,
    recall_at,
    reciprocal_rank,
)
from ibid.evaluation.sizing import estimate_passages, size_index
from ibid.language.presets import find_hyphenated_words, find_words
from ibid.language.sentences import split_sentences_by_rule
from ibid.protocols import Scored
from ibid.ranking.bm25 import BM25
from ibid.ranking.expansion import expand_terms
from ibid.ranking.fusion import fuse_rrf
from ibid.ranking.order import best_first
from ibid.ranking.proximity import ProximityReranker
from ibid.ranking.tfidf import TfIdf
from ibid.reading.registry import read_bytes
from ibid.testing.embedders import HashingEmbedder

ROOT = Path(__file__).parents[1]
FILE = Path(os.environ.get("IBID_CONFORMANCE", ROOT.parent / "shared" / "conformance"))
FILE /= "worked_examples.json"
DATA: dict[str, Any] = json.loads(FILE.read_text("utf-8")) if FILE.exists() else {}
EXAMPLES: dict[str, dict[str, Any]] = {one["id"]: one for one in DATA.get("examples", [])}


@dataclass(frozen=True)
class Example:
    """One example with what its case may need: an empty folder, and the shared lab corpus."""

    input: dict[str, Any]
    expected: Any
    tolerance: float
    folder: Path
    lab: dict[str, Any]

    def near(self, value: Any) -> Any:
        # A value rounded half up lies a whole tolerance away: leave room for the last bit.
        return pytest.approx(value, abs=self.tolerance * (1 + 1e-9))


Case: TypeAlias = Callable[[Example], None]
CASES: dict[str, Case] = {}


def case(*ids: str) -> Callable[[Case], Case]:
    def register(function: Case) -> Case:
        CASES.update(dict.fromkeys(ids, function))
        return function

    return register


@pytest.mark.skipif(not EXAMPLES, reason=f"no worked examples at {FILE} (IBID_CONFORMANCE)")
@pytest.mark.parametrize("id", EXAMPLES or ["none"])
def test_worked_example(id: str, tmp_path: Path) -> None:
    assert id in CASES, f"no case runs the example {id}"
    one = EXAMPLES[id]
    tolerance = one.get("tolerance", 0.0)
    CASES[id](Example(one["input"], one["expected"], tolerance, tmp_path, DATA["lab"]))


# -- chunking ------------------------------------------------------------------------------


@case("chunk-chars-stop")
def run_character_windows(example: Example) -> None:
    text, size, overlap = (example.input[name] for name in ("text", "size", "overlap"))
    windows = [text[start:end] for start, end in character_spans(text, size, overlap)]
    assert windows == example.expected


@case("chunk-bad-overlap")
def run_bad_overlap(example: Example) -> None:
    size, overlap = example.input["size"], example.input["overlap"]
    for cut in (partial(window_spans, 100), partial(Chunking, "words")):
        with pytest.raises(BadSetting) as refused:
            cut(size, overlap)
        assert re.findall(r"\d+", refused.value.message) == [str(size), str(overlap)]


@case("chunk-count-1000", "chunk-count-45")
def run_window_count(example: Example) -> None:
    words, size, overlap = (example.input[name] for name in ("words", "size", "overlap"))
    text = "word " * words
    windows = [text[start:end].split() for start, end in word_spans(text, size, overlap)]
    assert len(windows) == count_windows(words, size, overlap) == example.expected["chunks"]
    stored = sum(map(len, windows))
    assert stored == example.expected.get("stored_words", stored)


class WordTokenizer:
    """Counts words, as the examples do."""

    def spans(self, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        return [[match.span() for match in re.finditer(r"\S+", text)] for text in texts]


def cut_sections(markdown: str, max_words: int = 80) -> list[str]:
    passages = chunk_by_structure(
        read_bytes(markdown.encode(), "policy.md"),
        Chunking("structure", max_words),
        tokenizer=WordTokenizer(),
        content_hash="0" * 8,
    )
    return [" ".join(passage.indexed_text.split()) for passage in passages]


@case("billing-sections")
def run_sections(example: Example) -> None:
    sections = cut_sections(example.input["markdown"], example.input["max_words"])
    assert sections == example.expected


# -- lexical ranking ---------------------------------------------------------------------


def cut_words(text: str, size: int, overlap: int) -> list[str]:
    return [text[start:end] for start, end in word_spans(text, size, overlap)]


@case("billing-14-days")
def run_bm25_over_three_chunkings(example: Example) -> None:
    markdown, answer = example.input["markdown"], example.input["must_contain"]
    chunkings = {
        "fixed-30": cut_words(markdown, 30, 0),
        "fixed-30-overlap-10": cut_words(markdown, 30, 10),
        "sections": cut_sections(markdown),
    }
    for name, expected in example.expected.items():
        texts = chunkings[name]
        hits = BM25(list(map(find_words, texts))).search(find_words(example.input["query"]))
        scores = [0.0] * len(texts)
        for hit in hits:
            scores[hit.row] = hit.score
        assert len(texts) == expected["chunks"]
        assert sorted(scores, reverse=True) == example.near(expected["scores"])
        assert (answer in texts[hits[0].row]) == expected["top1_has_answer"]


@case("billing-golden")
def run_golden(example: Example) -> None:
    texts = cut_sections(example.input["markdown"])
    index = BM25(list(map(find_words, texts)))
    for question, answer in example.input["golden"]:
        top = index.search(find_words(question), example.input["k"])
        assert evidence_recall([texts[hit.row] for hit in top], [answer], 1) == 1


class Lab:
    """The lab corpus cut in one way, with its stop words, synonyms and TF-IDF."""

    def __init__(self, lab: dict[str, Any], cut: Callable[[str], list[str]]) -> None:
        self.queries, self.synonyms = lab["queries"], lab["synonyms"]
        self._stop_words = set(lab["stop_words"])
        self.chunks = [
            (name, chunk) for name, text in lab["documents"].items() for chunk in cut(text)
        ]
        self._index = TfIdf([self.analyze(chunk) for _, chunk in self.chunks])

    def analyze(self, text: str) -> list[str]:
        return [word for word in find_words(text) if word not in self._stop_words]

    def search(self, query: str, *, expand: bool = False) -> list[Scored]:
        terms = self.analyze(query)
        return self._index.search(expand_terms(terms, self.synonyms) if expand else terms)

    def recall(self, k: int, *, expand: bool = False) -> float:
        found = [
            evidence_recall(
                [self.chunks[hit.row][1] for hit in self.search(one["query"], expand=expand)],
                [one["evidence"]],
                k,
            )
            for one in self.queries
        ]
        return sum(found) / len(found)


@case("lab-tfidf-20", "lab-tfidf-30")
def run_tfidf_and_proximity(example: Example) -> None:
    given = example.input
    lab = Lab(example.lab, partial(cut_words, size=given["size"], overlap=given["overlap"]))
    assert len(lab.chunks) == example.expected["chunks"]
    top = lab.search(given["query"])[: len(example.expected["ranking"])]
    for hit, (name, score, has_evidence) in zip(top, example.expected["ranking"], strict=True):
        assert lab.chunks[hit.row][0] == name
        assert hit.score == example.near(score)
        assert (given["evidence"] in lab.chunks[hit.row][1]) == has_evidence
    reranker = ProximityReranker(lab.analyze, lab.synonyms)
    scores = reranker.rerank(given["query"], [lab.chunks[hit.row][1] for hit in top])
    reranked = best_first(dict(enumerate(scores)))
    for new, (name, score) in zip(reranked, example.expected.get("reranked", ()), strict=False):
        assert lab.chunks[top[new.row].row][0] == name
        assert new.score == example.near(score)


@case("lab-miss")
def run_vocabulary_mismatch(example: Example) -> None:
    given, expected = example.input, example.expected
    lab = Lab(example.lab, partial(cut_words, size=given["size"], overlap=given["overlap"]))
    assert lab.analyze(given["query"]) == expected["terms"]
    assert lab.search(given["query"]) == expected["lexical_hits"]
    best = lab.search(given["query"], expand=True)[0]
    name, score = expected["expanded_top"]
    assert lab.chunks[best.row][0] == name
    assert best.score == example.near(score)
    with ibid.open(example.folder / "lab.ibid") as library:
        add_texts(library, example.lab["documents"])
        for mode in ("dense", "hybrid"):
            [hit] = library.search(given["query"], k=1, mode=mode)
            assert given["evidence"] in hit.passage.text


@case("lab-recall")
def run_evidence_recall(example: Example) -> None:
    def cut_sentences(text: str) -> list[str]:
        sentences = split_sentences_by_rule(text)
        return [text[start:end] for start, end in sentence_spans(text, sentences, 20)]

    cuts: dict[str, Callable[[str], list[str]]] = {
        "fixed 20/5": partial(cut_words, size=20, overlap=5),
        "sentences<=20": cut_sentences,
    }
    for name, cut in cuts.items():
        lab, expected = Lab(example.lab, cut), example.expected[name]
        assert len(lab.chunks) == expected["chunks"]
        assert lab.recall(1) == pytest.approx(expected["recall@1"])
        assert lab.recall(1, expand=True) == pytest.approx(expected["with_expansion"])
    [by_size] = [value for name, value in example.expected.items() if name not in cuts]
    for size, recall in by_size.items():
        overlap = min(5, int(size) // 3)
        lab = Lab(example.lab, partial(cut_words, size=int(size), overlap=overlap))
        assert lab.recall(3) == pytest.approx(recall)


# -- fusion --------------------------------------------------------------------------------


@case("rrf-sums")
def run_rrf(example: Example) -> None:
    rankings = example.input["rankings"]
    letters = list(dict.fromkeys(letter for ranking in rankings for letter in ranking))
    runs = {
        str(number): [Scored(letters.index(letter), 1.0) for letter in ranking]
        for number, ranking in enumerate(rankings)
    }
    fused = fuse_rrf(runs, k=example.input["k"])
    assert [letters[one.row] for one in fused] == list(example.expected)
    assert {letters[one.row]: one.score for one in fused} == example.near(example.expected)


@case("hybrid-miniature-1", "hybrid-miniature-2")
def run_hybrid(example: Example) -> None:
    ids, texts = zip(*example.input["documents"].items(), strict=True)
    query = example.input["query"]
    lexical = BM25(list(map(find_hyphenated_words, texts))).search(find_hyphenated_words(query))
    embedder = HashingEmbedder()
    vectors = embedder.embed(texts, kind="passage")
    likeness = vectors @ embedder.embed([query], kind="query")[0]
    dense = best_first({row: float(score) for row, score in enumerate(likeness)})
    assert [ids[hit.row] for hit in lexical] == example.expected["bm25"]
    assert [ids[hit.row] for hit in dense[:3]] == example.expected["dense_top3"]
    fused = fuse_rrf({"lexical": lexical, "dense": dense})
    for one, (id, score) in zip(fused[:3], example.expected["fused_top3"], strict=True):
        assert ids[one.row] == id
        assert one.score == example.near(score)


# -- measures and sizes ------------------------------------------------------------------


@case("mrr")
def run_mrr(example: Example) -> None:
    ranks = example.input["first_relevant_ranks"]
    runs = {str(query): [str(rank) for rank in range(1, 6)] for query in range(len(ranks))}
    qrels = {str(query): {str(rank): 1.0} for query, rank in enumerate(ranks)}
    assert mean_over_queries(reciprocal_rank, runs, qrels) == example.near(example.expected)


@case("ndcg")
def run_metrics(example: Example) -> None:
    relevance = example.input["relevance"]
    ranking = [str(place) for place in range(len(relevance))]
    judged = {id: float(grade) for id, grade in zip(ranking, relevance, strict=True)}
    missing = example.input["relevant"] - sum(relevance)
    judged |= {f"not found {number}": 1.0 for number in range(missing)}
    measured = {
        "recall@1": recall_at(ranking, judged, 1),
        "recall@3": recall_at(ranking, judged, 3),
        "recall@5": recall_at(ranking, judged, 5),
        "precision@3": precision_at(ranking, judged, 3),
        "rr": reciprocal_rank(ranking, judged),
        "ndcg@5": ndcg_at(ranking, judged, 5),
    }
    assert measured == example.near(example.expected)


@case("index-size", "index-size-10m")
def run_sizes(example: Example) -> None:
    given, expected = example.input, example.expected
    passages = given.get("chunks") or estimate_passages(
        given["documents"],
        given["tokens_per_document"],
        given["chunk_tokens"],
        round(given["overlap"] * given["chunk_tokens"]),
    )
    assert passages == expected.get("chunks", passages)
    size = size_index(
        passages,
        given["dimensions"],
        bytes_per_number=given["bytes_per_number"],
        hnsw_m=given.get("hnsw_m", 0),
    )
    assert size.vector_bytes == expected["vector_bytes"]
    assert size.link_bytes == expected.get("link_bytes", 0)
    assert "approximate" in size.advice


# -- answers -------------------------------------------------------------------------------


@case("citation-check")
def run_citation_check(example: Example) -> None:
    assert check_citations(example.input["answer"], example.input["sources"]) == example.expected


# -- the whole library -------------------------------------------------------------------


class CountingEmbedder:
    """Counts words of a vocabulary, and keeps the texts that it was asked to embed."""

    def __init__(self, *vocabulary: str) -> None:
        self.vocabulary = vocabulary
        self.texts: list[str] = []

    def __call__(self, texts: list[str]) -> np.ndarray[Any, Any]:
        self.texts.extend(texts)
        counts = [[text.lower().count(word) for word in self.vocabulary] for text in texts]
        return np.asarray(counts, dtype=np.float32).reshape(len(texts), len(self.vocabulary))


def refuse_to_generate(prompt: str) -> str:
    raise AssertionError(f"the model was called with {prompt!r}")


def add_texts(library: Any, texts: Mapping[str, str]) -> None:
    library.ingest([ibid.Document(id=id, text=text) for id, text in texts.items()])


@case("toy-embedding")
def run_toy_embedding(example: Example) -> None:
    embedder = CountingEmbedder(*example.input["vocabulary"])
    with ibid.open(example.folder / "toy.ibid", embedder=embedder) as library:
        add_texts(library, {str(row): text for row, text in enumerate(example.input["chunks"])})
        hits = library.search(example.input["query"], k=example.input["top_k"], mode="dense")
        found = [(int(hit.document_id), hit.score) for hit in hits]
    assert [row for row, _ in found] == [one["chunk"] for one in example.expected]
    expected = [one["score"] for one in example.expected]
    assert [score for _, score in found] == example.near(expected)


@case("ingest-duplicate-id")
def run_duplicate_id(example: Example) -> None:
    first, second = example.input["ingest"]
    embedder = CountingEmbedder("kettle", "teapot")
    with ibid.open(example.folder / "two.ibid", embedder=embedder) as library:
        library.ingest(ibid.Document(id=first, text="The kettle is blue."))
        with pytest.raises(DuplicateDocument, match=second):
            library.ingest(ibid.Document(id=second, text="The teapot is red."))
        [hit] = library.search("kettle")
        assert hit.passage.text == "The kettle is blue."
        library.update(ibid.Document(id=first, text="The teapot is red."))
        assert [hit.passage.text for hit in library.search("teapot")] == ["The teapot is red."]
        assert [hit.passage.text for hit in library.search("kettle", mode="lexical")] == []


@case("retrieve-empty")
def run_empty_library(example: Example) -> None:
    embedder = CountingEmbedder("kettle")
    with ibid.open(
        example.folder / "new.ibid", embedder=embedder, generator=refuse_to_generate
    ) as library:
        assert list(library.search("Where is the kettle?")) == example.expected
        answer = library.ask("Where is the kettle?")
    assert answer.status == "abstained"
    assert list(answer.citations) == []


@case("dedupe-exact")
def run_same_text_twice(example: Example) -> None:
    text = "The kettle descales itself every month."
    embedder = CountingEmbedder("kettle", "month")
    with ibid.open(example.folder / "same.ibid", embedder=embedder) as library:
        library.ingest(ibid.Document(id="a", text=text, tags={"room": "kitchen"}))
        before = len(embedder.texts)
        hr = frozenset({"group:hr"})
        library.ingest(ibid.Document(id="b", text=text, tags={"room": "office"}, allow=hr))
        assert len(embedder.texts) - before == example.expected["texts_embedded_for_second"]
        listed = library.documents(principals=ibid.OWNER)
        assert len(listed) == example.expected["documents_listed"]
        assert [one.tags["room"] for one in listed] == ["kitchen", "office"]
        assert [one.id for one in library.documents()] == ["a"]
        answer = library.ask("How often does the kettle descale?", principals=ibid.OWNER)
        assert len(answer.sources) == example.expected["places_in_sources"]


@case("zero-vector")
def run_zero_vector(example: Example) -> None:
    embedder = CountingEmbedder("kettle", "teapot")
    with ibid.open(example.folder / "zero.ibid", embedder=embedder) as library:
        add_texts(library, {"none": "Nothing known.", "match": "A kettle."})
        for query in ("kettle", "nothing the embedder knows"):
            hits = library.search(query, mode="dense")
            assert all(math.isfinite(hit.score) for hit in hits)
        assert library.search("kettle", mode="dense")[0].document_id == "match"


@case("stable-ties")
def run_ties(example: Example) -> None:
    texts = {"z": "kettle one", "a": "kettle two", "m": "kettle six"}
    embedder = CountingEmbedder("kettle")
    with ibid.open(example.folder / "ties.ibid", embedder=embedder) as library:
        add_texts(library, texts)
        for mode in ("dense", "lexical", "hybrid"):
            hits = library.search("kettle", mode=mode)
            assert [hit.document_id for hit in hits] == list(texts)
