"""Which rows hold a phrase: those with all of its terms, and then by their texts."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ibid.index.embedded import reads
from ibid.language.phrases import holds_form, holds_phrase, list_alternatives

if TYPE_CHECKING:
    from ibid.index.embedded.files import SearchFiles


def flag_holding(
    phrase: str,
    among: NDArray[np.bool_],
    files: SearchFiles,
    connection: sqlite3.Connection,
    *,
    exactly: bool,
) -> NDArray[np.bool_]:
    """A flag for each row, set for those `among` these whose passage holds the phrase.

    Unless `exactly`, one word is found in all its forms, as the keyword search finds it.
    """
    languages = {None, *reads.count_languages(connection)}
    alternatives = list_alternatives(phrase, languages)
    rows = files.postings.find_rows(files.searcher, alternatives)
    rows = rows[rows < len(among)]
    rows = rows[among[rows]]
    if exactly or any(len(terms) > 1 for terms in alternatives):
        rows = np.array(_keep_holding(rows.tolist(), phrase, connection), np.int64)
    flags = np.zeros_like(among)
    flags[rows] = True
    return flags


def find_titled(
    connection: sqlite3.Connection, version: int, phrases: Sequence[str]
) -> NDArray[np.int64]:
    """The revisions of a version whose title holds one of the phrases, a word in all its forms."""
    found = [
        revision
        for revision, title, language in connection.execute(
            "SELECT r.id, r.title, c.language FROM revisions r JOIN contents c ON c.id = r.content"
            f" WHERE r.title IS NOT NULL AND {reads.LIVE}",
            (version, version),
        )
        if any(holds_form(title, phrase, language) for phrase in phrases)
    ]
    return np.array(found, np.int64)


def _keep_holding(rows: list[int], phrase: str, connection: sqlite3.Connection) -> list[int]:
    """The rows whose texts hold the phrase."""
    kept: list[int] = []
    for some in reads.in_parts(rows):
        passages = reads.read_passages(connection, some, dict.fromkeys(some, ""))
        kept += [row for row in some if holds_phrase(passages[row].indexed_text, phrase)]
    return kept
