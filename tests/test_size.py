"""How large an index gets and how it is asked: worked numbers, the verb, access."""

from __future__ import annotations

from pathlib import Path

import pytest

import ibid
from command_line import call
from ibid.errors import BadSetting
from ibid.evaluation.approach import ASKING_TOKENS, choose_approach
from ibid.evaluation.sizing import choose_engine, read_overlap, size_embedded, size_vectors
from ibid.testing.embedders import HashingEmbedder


def size(*arguments: str | Path) -> dict[str, object]:
    done = call("size", *arguments, "--json")
    assert done.code == 0, done.err
    return done.json


def test_the_call_gives_the_worked_numbers() -> None:
    planned = ("--documents", "200000", "--tokens", "1500", "--chunk", "400", "--overlap", "15%")
    shape = size(*planned, "--dimension", "768", "--hnsw-m", "32")
    assert shape["passages"] == 882_353
    assert shape["vector_bytes"] == 2_710_588_416
    assert shape["link_bytes"] == 225_882_368
    assert shape["total_bytes"] == 2_710_588_416 + 225_882_368
    assert shape["forms"] == {
        "float32": 2_710_588_416,
        "float16": 1_355_294_208,
        "int8": 677_647_104,
    }
    assert shape["engine"] == "embedded"
    assert shape["exact"] is False
    assert "approximate" in str(shape["advice"])
    words = call("size", *planned, "--dimension", "768", "--hnsw-m", "32").out
    assert "882,353" in words
    assert "2.7 GB" in words


def test_ten_million_passages() -> None:
    assert size_vectors(10_000_000, 768) == {
        "float32": 30_720_000_000,
        "float16": 15_360_000_000,
        "int8": 7_680_000_000,
    }


def test_ibids_own_folder_holds_halves_and_beyond_the_exact_ones_clusters() -> None:
    assert size_embedded(1000, 384) == 1000 * 384 * 2
    assert size_embedded(300_001, 384) == 300_001 * (384 * 2 + 10)


def test_the_engine_follows_from_the_memory_of_one_machine() -> None:
    assert choose_engine(1_000_000, 384)[0] == "embedded"
    assert choose_engine(20_000_000, 768)[0] == "postgres"


def test_an_overlap_is_a_number_or_a_part() -> None:
    assert read_overlap("60", 400) == read_overlap("15%", 400) == 60
    for wrong in ("much", "15%%", "%", "nan%", "1.5"):
        with pytest.raises(BadSetting, match="overlap"):
            read_overlap(wrong, 400)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--documents", "10"), "go together"),
        (("--documents", "10", "--tokens", "100", "--overlap", "200"), "no passages"),
        (("--documents", "10", "--tokens", "100", "--overlap", "some"), "no number"),
    ],
)
def test_what_can_not_be_is_refused(arguments: tuple[str, ...], told: str) -> None:
    done = call("size", *arguments)
    assert done.code == 2
    assert told in done.err


def test_a_small_collection_is_sent_whole_and_a_large_one_searched() -> None:
    small = choose_approach(20_000, sent=1_200, window=200_000)
    assert small.way == "whole"
    assert choose_approach(150_000, sent=1_200, window=200_000).way == "search"
    assert choose_approach(900_000, sent=1_200, window=200_000).way == "search"


def test_restricted_and_changing_documents_are_searched() -> None:
    for restricted, changing in ((True, False), (False, True)):
        approach = choose_approach(20_000, sent=1_200, restricted=restricted, changing=changing)
        assert approach.way == "search"
        assert len(approach.reasons) == 4


def test_costs_are_tokens_times_prices() -> None:
    [cost] = choose_approach(100_000, sent=1_200, input_prices={"some-model": 2.5}).costs
    assert cost.model == "some-model"
    assert cost.searched == pytest.approx((1_200 + ASKING_TOKENS) * 1000 * 2.5 / 1e6)
    assert cost.whole == pytest.approx((100_000 + ASKING_TOKENS) * 1000 * 2.5 / 1e6)


def test_a_library_is_sized_as_far_as_the_caller_sees_it(tmp_path: Path) -> None:
    with ibid.open(tmp_path / "library", embedder=HashingEmbedder()) as library:
        assert library.size().size.passages == 0
        library.ingest(ibid.Document(id="open", text="The harbour opens at six."))
        library.ingest(
            ibid.Document(id="shut", text="The vault opens at nine.", allow=frozenset({"user:ann"}))
        )
        seen = library.size()
        assert (seen.documents, seen.size.passages, seen.approach.way) == (1, 1, "whole")
        all_of_it = library.size(ibid.OWNER)
        assert (all_of_it.documents, all_of_it.size.passages) == (2, 2)
        assert all_of_it.approach.way == "search"
        assert all_of_it.size.vector_bytes == 2 * 4 * all_of_it.dimension


def test_prices_come_from_the_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ibid.open(tmp_path / "library") as library:
        library.ingest(ibid.Document(id="open", text="The harbour opens at six."))
    (tmp_path / "library" / "config.toml").write_text(
        '[prices."a-model"]\ninput = 3.0\noutput = 9.0\n'
    )
    shape = size("--library", tmp_path / "library")
    approach = shape["approach"]
    assert isinstance(approach, dict)
    assert [cost["model"] for cost in approach["costs"]] == ["a-model"]
    assert "a-model" in call("size", "--library", tmp_path / "library").out
