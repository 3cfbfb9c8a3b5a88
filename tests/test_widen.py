"""Found by small pieces, shown with their section."""

from __future__ import annotations

from pathlib import Path

import ibid
from ibid.library import Library
from ibid.openers import open_library
from ibid.records import Query
from ibid.settings import load_settings
from ibid.testing.embedders import HashingEmbedder

MARKDOWN = """# Boats

## Rowing

The walrus rows on Mondays. It never tires.

The seal rows on Tuesdays.

## Sailing

The gull sails alone.
"""


def open_widened(place: Path, pieces: int) -> Library:
    flags = {"search.section_pieces": pieces, "chunking.size": 16}
    settings = load_settings(flags, environ={}, user_dir=place)
    return open_library(place / "library", embedder=HashingEmbedder(), settings=settings)


def find_text(place: Path, pieces: int) -> tuple[str, str]:
    (place / "boats.md").write_text(MARKDOWN)
    with open_widened(place, pieces) as library:
        library.add_files([place / "boats.md"], folder=place, overwrite=True)
        hits = library.run_search(Query("walrus"), mode="lexical").hits
        text = library.document("boats.md").text
        assert all(hit.passage.text == text[hit.passage.span] for hit in hits)
        return hits[0].passage.text, text


def test_a_passage_is_shown_alone_unless_asked(tmp_path: Path) -> None:
    found, _ = find_text(tmp_path, 0)
    assert "walrus" in found
    assert "seal" not in found


def test_the_widest_section_that_fits_is_shown(tmp_path: Path) -> None:
    section, _ = find_text(tmp_path, 25)
    assert section.endswith("It never tires.\n\nThe seal rows on Tuesdays.")
    whole, text = find_text(tmp_path, 10_000)
    assert whole == text.strip()


def test_hits_of_one_section_fill_one_place(tmp_path: Path) -> None:
    (tmp_path / "boats.md").write_text(MARKDOWN)
    with open_widened(tmp_path, 25) as library:
        library.add_files([tmp_path / "boats.md"], folder=tmp_path)
        hits = library.run_search(Query("rows"), mode="lexical").hits
        assert len(hits) == 1
        answer = library.ask("Who rows on Tuesdays?")
        assert answer.status is ibid.AnswerStatus.ANSWERED
        text = library.document("boats.md").text
        assert all(text[c.start : c.end] == c.quote for c in answer.citations)
