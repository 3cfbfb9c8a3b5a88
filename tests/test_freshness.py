"""Freshness in answers: the time of what is cited, and a warning when its file has changed."""

from __future__ import annotations

import email.message
import os
import shutil
from pathlib import Path

import pytest

import ibid
from conftest import open_hashing, write
from ibid.shapes import shape_answer

QUESTION = "How long does parental leave last?"


@pytest.fixture
def place(tmp_path: Path, folder: Path) -> Path:
    """Where a closed library of a synced folder lies."""
    write(folder, {"hr/leave.md": "# Leave\n\nParental leave lasts sixteen weeks.\n"})
    write(folder, {"travel.md": "Trains are booked through the portal.\n"})
    with open_hashing(tmp_path / "library") as library:
        library.sync(folder)
        library.ingest(ibid.Document("note", "Sick leave needs a doctor's note."))
    return tmp_path / "library"


def warn(place: Path, question: str = QUESTION, **options: object) -> list[str]:
    """The warnings about files that an answer comes with."""
    with open_hashing(place) as library:
        answer = library.ask(question, k=1, mode="lexical", **options)  # type: ignore[arg-type]  # as given
        assert answer.citations
        return [warning for warning in answer.warnings if "ibid sync" in warning]


def test_what_is_cited_tells_when_it_was_changed(place: Path, folder: Path) -> None:
    with open_hashing(place) as library:
        answer = library.ask(QUESTION, k=1)
        expected = library.describe("hr/leave.md").modified_at
        assert expected is not None
        assert answer.citations[0].modified_at == expected
        assert library.answer(answer.id).answer.citations[0].modified_at == expected
    shape = shape_answer(answer)
    said = expected.isoformat().replace("+00:00", "Z")
    assert shape["citations"][0]["modified_at"] == shape["sources"][0]["modified_at"] == said
    assert expected.timestamp() == pytest.approx((folder / "hr/leave.md").stat().st_mtime)


def test_a_cited_file_that_changed_is_named(place: Path, folder: Path) -> None:
    assert warn(place) == []
    write(folder, {"travel.md": "Trains are booked by the office.\n"})
    assert warn(place) == [], "it is not cited"
    write(folder, {"hr/leave.md": "# Leave\n\nParental leave lasts twenty weeks.\n"})
    (warning,) = warn(place)
    assert warning.startswith("hr/leave.md was changed after it was read")
    assert f"ibid sync {folder}" in warning
    with open_hashing(place) as library:
        library.sync(folder)
    assert warn(place) == []


def test_a_file_of_the_same_size_or_the_same_time_is_changed_too(place: Path, folder: Path) -> None:
    file = folder / "hr/leave.md"
    before = file.stat()
    file.write_text(file.read_text().replace("sixteen", "fifteen"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    assert len(warn(place)) == 1
    file.write_text(file.read_text() + "More.\n")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert len(warn(place)) == 1


def test_a_cited_file_that_is_gone_is_named_and_a_folder_that_is_gone_says_nothing(
    place: Path, folder: Path
) -> None:
    (folder / "hr/leave.md").unlink()
    (warning,) = warn(place)
    assert "gone" in warning
    shutil.rmtree(folder)
    assert warn(place) == []


def test_documents_of_no_folder_and_past_versions_are_not_looked_at(
    place: Path, folder: Path
) -> None:
    assert warn(place, "What does sick leave need?") == []
    write(folder, {"hr/leave.md": "# Leave\n\nParental leave lasts twenty weeks.\n"})
    assert warn(place, version=1) == []


def test_a_second_folder_and_attachments_are_found_on_disk(tmp_path: Path, place: Path) -> None:
    mails = tmp_path / "mails"
    mails.mkdir()
    mail = email.message.EmailMessage()
    mail["Subject"] = "Bikes"
    mail.set_content("The plan is attached.")
    mail.add_attachment("Bikes are lent for three days.", filename="plan.txt")
    (mails / "bikes.eml").write_bytes(bytes(mail))
    with open_hashing(place) as library:
        library.sync(mails)
    question = "For how many days are bikes lent?"
    assert warn(place, question) == []
    (mails / "bikes.eml").write_bytes(bytes(mail) + b"\n")
    (warning,) = warn(place, question)
    assert warning.startswith("mails/bikes.eml")
