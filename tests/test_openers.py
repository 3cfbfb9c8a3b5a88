"""Names become parts; what is handed over is used as it is; offline, nothing remote is opened."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Final

import pytest

import ibid
from conftest import open_hashing, run_ibid
from ibid.embedding.remote import RemoteEmbedder
from ibid.openers import EMBEDDERS, GENERATORS
from ibid.openers.rerankers import RERANKERS
from ibid.settings import load_settings
from ibid.testing.embedders import HashingEmbedder
from ibid.testing.generators import ScriptedGenerator
from ibid.wire import Wire

PAGE: Final = ibid.Document("leave", "Parental leave lasts sixteen weeks.")
FAR: Final = RemoteEmbedder(Wire("https://models.example/v1"), "some-model")
SECRET: Final = "sk-verysecret-0123456789"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "library"


def open_and_ask(place: Path, **parts: Any) -> ibid.Answer:
    """The answer of a library with these parts; a part may be opened as late as it is needed."""
    with ibid.open(place, **{"embedder": HashingEmbedder(), **parts}) as library:
        return library.ask("How long is parental leave?")


def test_an_unknown_embedder_is_told_the_known_ones(place: Path) -> None:
    with pytest.raises(ibid.BadSetting, match="'nonesuch'") as refused:
        ibid.open(place, embedder="nonesuch")
    assert all(name in refused.value.hint for name in EMBEDDERS)


def test_an_unknown_generator_is_told_the_known_ones(place: Path) -> None:
    with pytest.raises(ibid.BadSetting, match="'nonesuch'") as refused:
        open_and_ask(place, generator="nonesuch")
    assert all(name in refused.value.hint for name in GENERATORS)


def test_an_unknown_reranker_is_told_the_known_ones(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_hashing(place) as library:
        library.ingest(PAGE)
        with pytest.raises(ibid.BadSetting, match="'nonesuch'") as refused:
            library.search("leave", rerank="nonesuch")
        assert all(name in refused.value.hint for name in RERANKERS)
        assert library.search("parental leave", rerank="proximity")[0].document_id == "leave"
        assert library.search("parental leave", rerank="none")[0].document_id == "leave"
    monkeypatch.setenv("IBID_SEARCH_RERANK", "nonesuch")
    with pytest.raises(ibid.BadSetting, match="nonesuch"):
        open_hashing(place)


def test_a_part_that_cannot_be_opened_leaves_the_library_usable(place: Path) -> None:
    for _ in range(3):
        with pytest.raises(ibid.BadSetting):
            ibid.open(place, embedder="nonesuch")
    with open_hashing(place) as library:
        library.ingest(PAGE)


@pytest.mark.parametrize("part", ["embedder", "generator"])
def test_an_endpoint_without_an_address_names_the_variables(
    place: Path, part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"IBID_{part.upper()}_NAME", "openai")
    parts = {"embedder": None} if part == "embedder" else {}
    with pytest.raises(ibid.BadSetting, match=part) as refused:
        open_and_ask(place, **parts)
    assert f"IBID_{part.upper()}_BASE_URL" in refused.value.hint


def test_an_address_that_no_engine_serves_is_a_bad_setting() -> None:
    with pytest.raises(ibid.BadSetting, match="mysql://"):
        ibid.open("mysql://localhost/library", embedder=HashingEmbedder())


def test_a_server_that_is_not_there_is_told_without_its_password() -> None:
    pytest.importorskip("psycopg_pool", reason="needs the extra postgres")
    with pytest.raises(ibid.LibraryError, match=r"127\.0\.0\.1:9/library") as refused:
        ibid.open("postgresql://ann:hidden@127.0.0.1:9/library", embedder=HashingEmbedder())
    assert "hidden" not in str(refused.value) + refused.value.hint


def test_a_database_library_without_its_driver_names_the_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module in list(sys.modules):
        if module.startswith("ibid.index.postgres"):
            monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(ibid.BadSetting, match="postgres") as refused:
        ibid.open("postgresql://localhost/library", embedder=HashingEmbedder())
    assert "ibid-rag[postgres]" in refused.value.hint


# -- handed over --------------------------------------------------------------------------------


def embed_letters(texts: list[str]) -> Any:
    return [[text.lower().count(letter) + 0.1 for letter in "abcdefgh"] for text in texts]


def test_a_plain_function_is_an_embedder_known_by_its_name(place: Path) -> None:
    with ibid.open(place, embedder=embed_letters) as library:
        library.ingest(PAGE)
        made = library.status().manifest
        assert (made.embedder, made.dimension) == ("test_openers.embed_letters", 8)
        assert library.search("leave", mode="dense")[0].document_id == "leave"
    with ibid.open(place, embedder=embed_letters) as library:
        assert library.search("leave", mode="dense")[0].document_id == "leave"
    with pytest.raises(ibid.EmbedderMismatch, match="embed_letters"):
        open_hashing(place)


def test_a_function_that_gives_no_vectors_is_malformed_output(place: Path) -> None:
    def embed(texts: list[str]) -> Any:
        return [[float("nan")] * 4 for _ in texts]

    with ibid.open(place, embedder=embed) as library:
        with pytest.raises(ibid.MalformedOutput):
            library.ingest(PAGE)
        assert library.status().version == 0


def test_a_plain_function_is_a_generator(place: Path) -> None:
    prompts: list[str] = []

    def write(prompt: str) -> str:
        prompts.append(prompt)
        return "Parental leave lasts sixteen weeks [1]."

    with ibid.open(place, embedder=HashingEmbedder(), generator=write) as library:
        library.ingest(PAGE)
        answer = library.ask("How long is parental leave?")
    assert answer.text == "Parental leave lasts sixteen weeks [1]."
    (citation,) = answer.citations
    assert citation.verdict is ibid.Verdict.SUPPORTED
    assert citation.quote == PAGE.text
    assert PAGE.text in prompts[0]


def test_an_object_is_a_generator(place: Path) -> None:
    generator = ScriptedGenerator(["Leave lasts twenty weeks [1]."])
    with ibid.open(place, embedder=HashingEmbedder(), generator=generator) as library:
        library.ingest(PAGE)
        answer = library.ask("How long is parental leave?")
    assert answer.generator == "scripted"
    assert [c.verdict for c in answer.citations] == [ibid.Verdict.UNSUPPORTED]
    assert len(generator.prompts) == 1


def test_without_a_generator_the_answer_is_in_the_words_of_the_documents(place: Path) -> None:
    with open_hashing(place) as library:
        library.ingest(PAGE)
        answer = library.ask("How long is parental leave?")
    assert answer.generator == "extractive"
    assert answer.text == "Parental leave lasts sixteen weeks [1]."


# -- offline and secrets --------------------------------------------------------------------------


def test_offline_refuses_a_remote_generator(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_hashing(place) as library:
        library.ingest(PAGE)
    environ = {
        "IBID_GENERATOR_NAME": "openai",
        "IBID_GENERATOR_BASE_URL": "http://models.example/v1",
        "IBID_GENERATOR_MODEL": "some-model",
    }
    found = run_ibid("ask", "How long?", "--offline", library=place, code=4, environ=environ)
    assert found["error"]["type"] == "ModelUnavailable"
    assert "models.example" in found["error"]["message"]
    for name, value in {**environ, "IBID_OFFLINE": "1"}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ibid.ModelUnavailable, match="offline"):
        open_and_ask(place)
    monkeypatch.setenv("IBID_GENERATOR_NAME", "extractive")
    assert open_and_ask(place).status is ibid.AnswerStatus.ANSWERED


def test_offline_refuses_what_is_handed_over_too(place: Path) -> None:
    far = ScriptedGenerator([])
    far.remote = "https://models.example/v1"
    settings = load_settings({"offline": True})
    with pytest.raises(ibid.ModelUnavailable, match=r"models\.example"):
        open_and_ask(place, generator=far, settings=settings)
    with pytest.raises(ibid.ModelUnavailable, match=r"models\.example"):
        open_and_ask(place, embedder=FAR, settings=settings)


def test_a_remote_part_is_told_of(place: Path) -> None:
    far = ScriptedGenerator([])
    far.remote = "https://models.example/v1"
    with ibid.open(place, embedder=HashingEmbedder(), generator=far) as library:
        assert library.find_remote("generator") == "https://models.example/v1"
        assert library.find_remote("embedder") is None


@pytest.mark.parametrize("verb", ["config", "doctor"])
def test_no_secret_is_ever_shown(place: Path, verb: str) -> None:
    environ = {f"IBID_{part}_API_KEY": SECRET for part in ("GENERATOR", "EMBEDDER")}
    found = run_ibid(verb, library=place, environ=environ)
    assert SECRET not in str(found)


def test_a_password_in_an_address_is_refused_and_not_repeated(place: Path) -> None:
    environ = {"IBID_GENERATOR_BASE_URL": f"https://ann:{SECRET}@models.example/v1"}
    found = run_ibid("config", library=place, code=2, environ=environ)
    assert found["error"]["type"] == "BadSetting"
    assert SECRET not in str(found)


def test_config_tells_each_value_and_where_it_came_from(place: Path) -> None:
    found = run_ibid("config", library=place, environ={"IBID_SEARCH_K": "7"})
    rows = {row["key"]: row for row in found["settings"]}
    assert (rows["search.k"]["value"], rows["search.k"]["origin"]) == (7, "IBID_SEARCH_K")
    assert rows["search.rrf_k"]["origin"] == "default"
    assert found["library"] == str(place)
    found = run_ibid("config", library=place, code=2, environ={"IBID_SEARCH_KK": "7"})
    assert "search" in found["error"]["hint"].lower()
