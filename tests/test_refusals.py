"""What is given wrongly is refused whole, and what was hidden once is opened by nothing."""

from __future__ import annotations

import os
import threading
from datetime import UTC, datetime
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest

import ibid
from ibid.answering.no_answer import NO_ANSWER
from ibid.library import Library
from ibid.testing.embedders import HashingEmbedder
from ibid.testing.generators import ScriptedGenerator

ANN = frozenset({"user:ann"})


def open_library(place: Path, **parts: Any) -> Library:
    return ibid.open(place / "library", embedder=HashingEmbedder(), **parts)


@pytest.mark.parametrize(
    "fields",
    [
        {"allow": "user:ann"},
        {"allow": [""]},
        {"allow": ["*"]},
        {"tags": {"a": float("nan")}},
        {"metadata": {"a": object()}},
        {"modified_at": datetime.max.replace(tzinfo=UTC)},
        {"blocks": (ibid.Block(ibid.BlockKind.PARAGRAPH, 0, 999),)},
        {"blocks": (ibid.Block(ibid.BlockKind.PARAGRAPH, -3, 4),)},
        {"blocks": (ibid.Block(ibid.BlockKind.PARAGRAPH, 0, 4),)},
        {"id": "a\ud800"},
    ],
    ids=lambda fields: next(iter(fields)),
)
def test_a_document_that_cannot_be_kept_is_refused(tmp_path: Path, fields: dict[str, Any]) -> None:
    with open_library(tmp_path) as library:
        with pytest.raises(ibid.InputError):
            library.ingest(ibid.Document(**{"id": "a", "text": "The gull sleeps.", **fields}))
        assert library.documents(ibid.OWNER) == []


def test_what_is_no_text_is_replaced_in_titles_and_tags(tmp_path: Path) -> None:
    bad = ibid.Document(id="a", text="The gull.", title="\ud800 x", tags={"t": "\udfff"})
    with open_library(tmp_path) as library:
        library.ingest(bad)
        (info,) = library.documents()
        assert (info.title, info.tags) == ("\ufffd x", {"t": "\ufffd"})


def test_one_such_file_stops_no_sync(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "bad.md").write_text('---\ntitle: "\\ud800"\n---\nThe gull.')
    (folder / "good.md").write_text("The seal.")
    with open_library(tmp_path) as library:
        assert library.sync(folder).added == ("bad.md", "good.md")


def test_access_given_as_one_text_is_refused(tmp_path: Path) -> None:
    with open_library(tmp_path) as library:
        library.ingest(ibid.Document(id="a", text="The gull."))
        with pytest.raises(ibid.BadSetting, match="not a set"):
            library.set("a", allow="user:ann")


@pytest.mark.parametrize("k", [2**31, 10**10, 10**23])
def test_a_huge_k_finds_what_there_is(tmp_path: Path, k: int) -> None:
    with open_library(tmp_path) as library:
        library.ingest([ibid.Document(id=str(n), text=f"The gull {n}.") for n in range(40)])
        for mode in ("lexical", "dense", "hybrid"):
            assert len(library.search("gull", k=k, mode=mode)) == 40


def test_versions_and_modes_that_are_none_are_bad_queries(tmp_path: Path) -> None:
    with open_library(tmp_path) as library:
        for version in (-1, 7, 10**30):
            with pytest.raises(ibid.BadQuery, match="no version"):
                library.search("gull", version=version)
        with pytest.raises(ibid.BadQuery, match="no mode"):
            library.search("gull", mode="x")  # type: ignore[arg-type]  # the point of the test


def test_a_new_document_opens_nothing_of_an_old_one(tmp_path: Path) -> None:
    with open_library(tmp_path) as library:
        library.ingest(ibid.Document(id="a", text="The secret zebra.", allow=ANN))
        library.remove("a")
        library.ingest(ibid.Document(id="a", text="The open gull."), flags={"allow": None})
        assert library.search("gull")
        assert library.search("zebra", mode="lexical", version=1) == []
        assert library.search("zebra", mode="lexical", version=1, principals=ANN)


def test_what_comes_back_does_so_for_those_it_was_for(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.md").write_text("The secret zebra.")
    with open_library(tmp_path) as library:
        library.sync(folder)
        library.set("a.md", allow=ANN)
        library.remove("a.md")
        assert library.sync(folder).added == ("a.md",)
        assert library.documents() == []
        assert [info.id for info in library.documents(ANN)] == ["a.md"]


def write_mail(path: Path, *names: str) -> None:
    mail = EmailMessage()
    mail["Subject"] = "Plans"
    mail.set_content("See the files.")
    for name in names:
        mail.add_attachment(f"The zebra of {name}.".encode(), "text", "plain", filename=name)
    path.write_bytes(bytes(mail))


def test_attachments_share_the_access_and_the_end_of_their_mail(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    write_mail(folder / "m.eml", "a.txt")
    with open_library(tmp_path) as library:
        assert set(library.sync(folder).added) == {"m.eml", "m.eml/a.txt"}
        library.set("m.eml", allow=ANN)
        write_mail(folder / "m.eml", "a.txt", "new.txt")
        library.sync(folder)
        assert library.documents() == []
        seen = [info.id for info in library.documents(ANN)]
        assert sorted(seen) == ["m.eml", "m.eml/a.txt", "m.eml/new.txt"]
        assert set(library.remove("m.eml").removed) == set(seen)


def test_a_source_of_hidden_documents_does_not_show(tmp_path: Path) -> None:
    folder = tmp_path / "hidden plans"
    folder.mkdir()
    (folder / "a.md").write_text("---\nallow: [user:ann]\n---\nThe zebra.")
    with open_library(tmp_path) as library:
        library.sync(folder)
        assert library.sources() == []
        assert [source.documents for source in library.sources(ANN)] == [1]


def test_a_model_that_finds_no_answer_abstains_with_its_cost(tmp_path: Path) -> None:
    generator = ScriptedGenerator([f"{NO_ANSWER}."])
    with open_library(tmp_path, generator=generator) as library:
        library.ingest(ibid.Document(id="a", text="The gull sleeps on the pier."))
        answer = library.ask("When does the gull sleep?")
        assert answer.status is ibid.AnswerStatus.ABSTAINED
        assert answer.prompt_hash
        assert answer.citations == ()
        assert NO_ANSWER in generator.prompts[0].messages[0].content


def test_a_strict_answer_is_not_seen_before_it_is_strict(tmp_path: Path) -> None:
    said = "The gull sleeps on the pier [1]. It eats 40 herrings [1]."
    shown: list[str] = []
    with open_library(tmp_path, generator=ScriptedGenerator([said])) as library:
        library.ingest(ibid.Document(id="a", text="The gull sleeps on the pier."))
        answer = library.ask("Where does the gull sleep?", strict=True, on_text=shown.append)
        assert "".join(shown) == answer.text == "The gull sleeps on the pier [1]."


def test_what_a_full_disk_left_is_in_nobodys_way(tmp_path: Path) -> None:
    with open_library(tmp_path) as library:
        library.ingest(ibid.Document(id="a", text="The gull."))
        library.remove("a")
        library.ingest(ibid.Document(id="b", text="The seal."))
    (generation,) = (tmp_path / "library" / "lexical").iterdir()
    for file in generation.glob("*.term"):
        (generation / f"{file.stem}.9.del").touch()
    with open_library(tmp_path) as library:
        library.ingest(ibid.Document(id="c", text="The gull again."))
        assert [hit.document_id for hit in library.search("gull", mode="lexical")] == ["c"]
        assert [hit.document_id for hit in library.search("seal", mode="lexical")] == ["b"]


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="the system lists no descriptors")
def test_threads_that_end_leave_no_connection_open(tmp_path: Path) -> None:
    with open_library(tmp_path) as library:
        library.ingest(ibid.Document(id="a", text="The gull."))
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(20):
            thread = threading.Thread(target=library.search, args=("gull",))
            thread.start()
            thread.join()
        assert len(os.listdir("/proc/self/fd")) < before + 10


def test_a_closed_library_says_so(tmp_path: Path) -> None:
    library = open_library(tmp_path)
    library.close()
    library.close()
    with pytest.raises(ibid.LibraryError, match="was closed"):
        library.search("gull")
