"""Every verb: the fields of its JSON, its words, and what a caller may not see in either."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from command_line import HANDBOOK, call
from ibid import openers
from ibid.answering.functions import FunctionGenerator

REPORT = {
    "schema_version", "version", "added", "updated", "metadata_changed", "moved", "removed",
    "unchanged", "skipped", "failed", "passages", "seconds",
}  # fmt: skip
INFO = {
    "id", "title", "source", "media_type", "version", "modified_at", "archived", "allow", "tags",
    "passages", "characters",
}  # fmt: skip
PASSAGE = {"start", "end", "headings", "page", "text"}
PLACE = {"document_id", "passage_id", "title", "headings", "page", "start", "end"}
STATUS = {
    "schema_version", "library", "engine", "version", "documents", "passages", "embedder",
    "analyzer", "chunking", "bytes",
}  # fmt: skip
ANSWER = {
    "schema_version", "answer_id", "question", "status", "text", "citations", "sources", "request",
    "version", "embedder", "generator", "settings_hash", "prompt_hash", "warnings", "timings_ms",
    "tokens",
}  # fmt: skip

HIDDEN = "hr/pay-bands.md"
PEOPLE = ("--as", "group:people")


@pytest.fixture(scope="module")
def handbook(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library of the sample handbook, which no test of this module changes."""
    place = tmp_path_factory.mktemp("verbs") / "library"
    assert call("sync", HANDBOOK, "--library", place).code == 0
    return place


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small folder, the current one, beside a library of its own."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("# Ferns\n\nFerns like shade and damp soil.\n")
    (folder / "b.md").write_text("# Roses\n\nRoses are cut back in March.\n")
    (folder / "logo.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("IBID_LIBRARY", str(tmp_path / "library"))
    return folder


def fields(found: dict[str, Any], expected: set[str]) -> dict[str, Any]:
    """The same, all of whose expected fields are there."""
    assert expected - set(found) == set()
    return found


# -- verbs that write ---------------------------------------------------------------------------


def test_add_update_set_remove(folder: Path) -> None:
    added = fields(call("add", "a.md", "--allow", "group:garden", "--json").json, REPORT)
    assert (added["version"], added["added"], added["updated"]) == (1, ["a.md"], [])
    assert fields(added["passages"], {"added", "removed", "embedded", "truncated"})["added"] == 1
    assert {"reading", "chunking", "embedding", "writing", "total"} <= set(added["seconds"])

    again = call("add", "a.md", "b.md", "--json")
    assert (again.code, again.json["error"]["type"]) == (1, "DuplicateDocument")
    assert call("show", "b.md").code == 1, "one id that exists refuses the whole call"

    (folder / "a.md").write_text("# Ferns\n\nFerns like shade.\n")
    assert call("update", "a.md", "--json").json["updated"] == ["a.md"]
    garden = ("--as", "group:garden")
    assert call("list", "--json").json["documents"] == []
    assert call("list", *garden, "--json").json["documents"][0]["allow"] == ["group:garden"]

    changed = call("set", "a.md", "--public", "--tag", "bed=2", "--archived", "--json").json
    assert fields(changed, REPORT)["metadata_changed"] == ["a.md"]
    (info,) = call("list", "--json").json["documents"]
    assert (info["allow"], info["tags"], info["archived"]) == (None, {"bed": "2"}, True)
    assert call("search", "ferns").code == 3
    assert call("search", "ferns", "--include-archived").code == 0
    call("set", "a.md", "--not-archived", "--tag", "bed=", "--nobody")
    assert call("show", "a.md").code == 1
    assert call("show", "a.md", "--as", "*", "--json").json["tags"] == {}

    assert fields(call("remove", "a.md", "--purge", "--json").json, REPORT)["removed"] == ["a.md"]
    assert call("show", "a.md", "--as", "*").code == 1


def test_add_outside_the_current_folder_needs_an_id(folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "c.md"
    outside.write_text("Moss grows on the north side.")
    assert call("add", outside, "--json").code == 2
    assert call("add", outside, "--id", "moss", "--json").json["added"] == ["moss"]


def test_sync_sources_forget(folder: Path) -> None:
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 no more")
    foretold = call("sync", folder, "--dry-run", "--json")
    assert foretold.json["version"] == 0
    assert {"a.md", "b.md", "broken.pdf"} <= set(foretold.json["added"])

    done = call("sync", folder, "--json")
    report = fields(done.json, REPORT)
    assert done.code == 1, "a file that can't be read fails the call; the rest is committed"
    assert report["added"] == ["a.md", "b.md"]
    assert [line["id"] for line in report["skipped"]] == ["logo.png"]
    assert fields(report["failed"][0], {"id", "error", "message"})["id"] == "broken.pdf"
    assert "files done" in done.err

    (folder / "broken.pdf").unlink()
    (folder / "a.md").rename(folder / "ferns.md")
    assert call("sync", folder, "--json").json["moved"] == [{"from": "a.md", "to": "ferns.md"}]
    assert "2 unchanged" in call("sync", folder, "--checksum").out

    (source,) = call("sources", "--json").json["sources"]
    assert (source["name"], source["prefix"], source["documents"]) == ("notes", "", 2)
    assert source["location"] == folder.as_uri()
    assert call("sync", folder.parent, "--prefix", "", "--json").code == 2, "a prefix in use"
    assert sorted(call("forget", "notes", "--json").json["removed"]) == ["b.md", "ferns.md"]
    assert call("sources").out == "no folder was synced yet\n"


def test_an_empty_library_finds_nothing(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert call("sync", tmp_path / "empty", "--json").json["version"] == 0
    assert call("list").out == "no documents\n"
    for verb in ("search", "ask"):
        assert call(verb, "ferns", "--json").code == 3


# -- verbs that read ----------------------------------------------------------------------------


def test_search(handbook: Path) -> None:
    here = ("--library", handbook)
    done = call("search", "parental leave", "-k", "2", *here, "--json")
    assert done.code == 0
    found = fields(done.json, {"query", "version", "mode", "hits", "timings_ms"})
    assert {"embed", "lexical", "dense", "fuse", "rerank", "total"} <= set(found["timings_ms"])
    assert [hit["rank"] for hit in found["hits"]] == [1, 2]
    best = fields(
        found["hits"][0], PLACE | {"rank", "score", "text", "source", "metadata", "contributions"}
    )
    assert best["document_id"] == "leave.md"
    assert best["headings"] == ["Leave", "Parental leave"]
    given = best["contributions"]
    assert set(given) == {"lexical", "dense", "feedback"}
    assert all(set(one) == {"rank", "score", "share"} for one in given.values())
    assert sum(one["share"] for one in given.values()) == pytest.approx(best["score"])
    shown = call("show", "leave.md", *here, "--json").json["text"]
    assert shown[best["start"] : best["end"]] == best["text"]

    lexical = call("search", "leave", "--mode", "lexical", *here, "--json").json
    assert set(lexical["hits"][0]["contributions"]) == {"lexical"}
    explained = call("search", "parental leave", "-k", "1", "--explain", *here).out
    assert "lexical   rank 1  score " in explained
    assert "version 1, hybrid; milliseconds: embed " in explained


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        (["--filter", 'tag.department = "finance"'], {"billing.md", "travel.md"}),
        (["--filter", 'id like "it/%"', "--mode", "dense"], {"it/errors.md", "it/security.md"}),
        (["--rerank", "proximity", "--filter", 'id = "leave.md"'], {"leave.md"}),
        (["--version", "0"], set()),
        (["--min-score", "1000"], set()),
    ],
)
def test_options_of_search(handbook: Path, options: list[str], ids: set[str]) -> None:
    done = call("search", "help desk leave euros", *options, "--library", handbook, "--json")
    assert {hit["document_id"] for hit in done.json["hits"]} == ids
    assert done.code == (0 if ids else 3)


def test_ask(handbook: Path) -> None:
    ask = ("ask", "--library", handbook, "--strict", "--sources", "4")
    question = "How long is parental leave?"
    done = call(*ask, question, "--json")
    assert done.code == 0
    answer = fields(done.json, ANSWER)
    assert (answer["status"], answer["generator"]) == ("answered", "extractive")
    assert answer["request"] == {
        "filter": None, "principals": [], "mode": "hybrid", "k": 4, "history": [], "whole": False,
    }  # fmt: skip
    text = call("show", "leave.md", "--library", handbook, "--json").json["text"]
    for citation in answer["citations"]:
        fields(citation, PLACE | {"marker", "claim", "quote", "verdict", "reason", "url"})
        claim = answer["text"][citation["claim"]["start"] : citation["claim"]["end"]]
        assert claim
        assert "[" not in claim, "a claim excludes its markers"
        assert citation["verdict"] == "supported"
        assert text[citation["start"] : citation["end"]] == citation["quote"]
    numbers = [fields(source, PLACE | {"text"})["number"] for source in answer["sources"]]
    assert numbers == list(range(1, len(numbers) + 1))

    in_words = call(*ask, question).out
    assert f"{answer['text']}\n\n[1] leave.md, Leave > Parental leave, characters " in in_words
    assert "no language model was used" in in_words
    assert call(*ask, question, "--stream").out == in_words


def test_ask_abstains(handbook: Path) -> None:
    ask = ("ask", "Which airline does the company own?", "--library", handbook)
    done = call(*ask, "--json")
    assert done.code == 3
    assert (done.json["status"], done.json["citations"]) == ("abstained", [])
    assert done.json["warnings"]
    in_words = call(*ask)
    assert in_words.code == 3
    assert in_words.out == done.json["text"] + "\n", "warnings are no part of what is asked for"
    assert in_words.err == f"note: {done.json['warnings'][0]}\n"


def test_what_a_model_writes_is_marked(handbook: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = (
        "Each parent gets 28 weeks of paid parental leave [1]. A car is paid [9]. Nobody knows."
    )
    model = FunctionGenerator(lambda prompt: written)
    monkeypatch.setitem(openers.GENERATORS, "openai", lambda settings, embedder: model)
    ask = ("ask", "How long is parental leave?", "--generator", "openai", "--library", handbook)
    verdicts = [citation["verdict"] for citation in call(*ask, "--json").json["citations"]]
    assert verdicts == ["unsupported", "no-such-source", "uncited"]
    done = call(*ask)
    assert "characters 379-434  (NOT supported: the claim says 28 weeks" in done.out
    assert "[9] A car is paid  (NOT supported: there is no source 9" in done.out
    assert "[?] Nobody knows.  (no source cited: " in done.out
    assert "no language model" not in done.out
    assert done.err == "note: 3 of 3 citations could not be confirmed\n"
    assert call(*ask, "--strict").code == 3, "nothing is left of it"


def test_list_show_status(handbook: Path) -> None:
    here = ("--library", handbook)
    documents = call("list", *here, "--json").json["documents"]
    assert len(documents) == 6
    assert all(fields(info, INFO) for info in documents)
    only = call("list", "--filter", "media_type = 'text/html'", *here, "--json").json["documents"]
    assert [info["id"] for info in only] == ["visitors.html"]

    shown = fields(call("show", "leave.md", *here, "--json").json, INFO - {"passages"})
    assert all(fields(passage, PASSAGE) for passage in shown["passages"])
    assert {block["kind"] for block in shown["blocks"]} == {"heading", "paragraph"}
    assert call("show", "leave.md", "--text", *here).out == shown["text"] + "\n"
    assert call("show", "leave.md", "--passages", *here).out.startswith("[0] 0-")
    assert "access      public" in call("show", "leave.md", *here).out

    status = fields(call("status", *here, "--json").json, STATUS)
    assert set(status["embedder"]) == {"name", "dimension", "weights"}
    assert (status["documents"], "restricted_documents" in status) == (6, False)
    whole = call("status", "--as", "*", *here, "--json").json
    assert (whole["documents"], whole["restricted_documents"]) == (7, 1)


def test_what_is_hidden_shows_nowhere(handbook: Path) -> None:
    here = ("--library", handbook)
    question = "What does pay band B pay?"
    calls = [
        ("list",), ("status",), ("sources",), ("show", HIDDEN),
        ("list", "--filter", f"id = '{HIDDEN}'"), ("search", question, "-k", "100"),
        ("search", question, "--mode", "lexical"), ("search", question, "--mode", "dense"),
        ("search", question, "--explain"), ("ask", question), ("ask", question, "--stream"),
    ]  # fmt: skip
    for arguments in calls:
        for form in ((), ("--json",)):
            done = call(*arguments, *here, "--as", "user:eve", *form)
            said = (done.out + done.err).replace(HIDDEN, "", 2 if HIDDEN in arguments else 0)
            assert not any(word in said for word in ("pay-bands", "Pay bands", "41,000"))
            held = call(*arguments, *here, *PEOPLE, *form)
            assert done.out != held.out, f"{arguments}: who may see it sees it"
    absent, hidden = (call("show", id, *here, "--json").json for id in ("hr/nosuch.md", HIDDEN))
    assert hidden["error"]["message"].replace(HIDDEN, "hr/nosuch.md") == absent["error"]["message"]
    assert call("ask", question, *here, *PEOPLE).code == 0


# -- verbs without a library --------------------------------------------------------------------


def test_convert() -> None:
    done = call("convert", HANDBOOK / "visitors.html", "--json")
    document = fields(done.json, {"text", "blocks", "title", "metadata"})
    assert document["title"] == "Visitors"
    spans = [(block["start"], block["end"]) for block in document["blocks"]]
    assert spans[0][0] == 0
    assert spans[-1][1] == len(document["text"])
    assert all(before[1] == after[0] for before, after in pairwise(spans))
    assert call("convert", HANDBOOK / "visitors.html").out == document["text"] + "\n"


@pytest.mark.parametrize("by", ["structure", "sentences", "words", "characters"])
def test_chunk(by: str) -> None:
    file = HANDBOOK / "leave.md"
    text = call("convert", file, "--json").json["text"]
    passages = call("chunk", file, "--by", by, "--size", "60", "--json").json["passages"]
    assert all(fields(passage, PASSAGE) for passage in passages)
    assert all(text[p["start"] : p["end"]] == p["text"] for p in passages)
    sized = ("--size", "60", "--overlap", "0", "--explain")
    explained = call("chunk", file, "--by", by, *sized)
    assert explained.out.endswith(f"by {by}, at most 60, 0 of it repeated\n")
    given = call("chunk", file, "--by", by, *sized, "--json").json["passages"]
    assert all(passage["pieces"] > 0 for passage in given)


def test_a_file_that_cannot_be_read_fails(tmp_path: Path) -> None:
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.7 no more")
    done = call("convert", tmp_path / "broken.pdf", "--json")
    assert (done.code, done.json["error"]["type"]) == (1, "UnreadableDocument")


# -- verbs about ibid ---------------------------------------------------------------------------


def test_config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config.toml").write_text("[search]\nk = 7\n")
    monkeypatch.setenv("IBID_ASK_SOURCES", "3")
    found = call("config", "--library", tmp_path, "--offline", "--json").json
    rows = {row["key"]: (row["value"], row["origin"]) for row in found["settings"]}
    assert rows["search.k"] == (7, str(tmp_path / "config.toml"))
    assert rows["ask.sources"] == (3, "IBID_ASK_SOURCES")
    assert rows["offline"] == (True, "flag")
    assert "search.k = 7 " in call("config", "--library", tmp_path).out


def test_doctor(handbook: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = call("doctor", "--library", handbook, "--json")
    assert (done.code, done.json["ok"]) == (0, True)
    monkeypatch.setenv("IBID_SEARCH_K", "many")
    sick = call("doctor", "--library", handbook)
    assert sick.code == 1
    assert "WRONG" in sick.out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell: str) -> None:
    assert "_IBID_COMPLETE" in call("completion", shell, "--json").json["script"]
