"""Every file that has made tools stumble reads with what it must contain, or says why not."""

from __future__ import annotations

import csv
import os
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from ibid.reading.pdf import ocr
from ibid.reading.pool import FileRead, FileToRead, ReaderPool
from ibid.records import Document
from system import require

FILES: Final = (
    Path(os.environ.get("IBID_DATA", Path(__file__).parents[2] / "shared" / "data")) / "files"
)
MANIFEST: Final = FILES / "manifest.tsv"
FORMATS: Final = Path(__file__).parents[1] / "docs" / "FORMATS.md"
LEAST_READ: Final = 0.97

NOT_READ: Final[dict[str, str]] = {}
"""Rows that don't read as they should, and why; docs/FORMATS.md says the same."""

# What is said of a file that is meant to fail, by what the manifest says of it.
_FAILURES: Final = {
    "must be reported as damaged": "damaged",
    "must be reported as encrypted": "encrypted|protected by a password",
    "must be reported as an empty file": "the file is empty",
    "must be refused as binary": "unsupported type application/octet-stream",
    "must yield no chunk": "the file is empty|no text",
    "no text on the page (poppler and pypdf agree)": "no text",
}
# Where the manifest describes what must be there instead of quoting it.
_QUOTES: Final = {"rtf/tika__testRTFUnicodeGothic.rtf": "\U00010332\U0001033f\U00010344"}
_NEEDED_LANGUAGE: Final = {"pdf/pdfminer.six__issue-791-non-unicode-cmap.pdf": "ces"}
_PASSWORD: Final = re.compile(r"with password (\S+)")
_TABLE_RULE: Final = re.compile(r"^\|(?: --- \|)+$", re.M)

pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(not MANIFEST.is_file(), reason=f"no files at {FILES}; set IBID_DATA"),
]


@dataclass(frozen=True, slots=True)
class Row:
    """A file of the manifest: what it must contain, or the pattern of what it must fail with."""

    file: str
    contains: str
    failure: str | None
    password: str | None
    scanned: bool


def read_manifest() -> list[Row]:
    """The rows of the manifest, in its order."""
    if not MANIFEST.is_file():
        return []
    with MANIFEST.open(encoding="utf-8", newline="") as lines:
        return [_make_row(*fields) for fields in list(csv.reader(lines, delimiter="\t"))[1:]]


def _make_row(file: str, _source: str, _licence: str, _tricky: str, contains: str, how: str) -> Row:
    password = _PASSWORD.search(how)
    return Row(
        file,
        _QUOTES.get(file, contains),
        _FAILURES.get(how),
        password[1] if password else None,
        scanned="tesseract" in how or "OCR" in how,
    )


ROWS: Final = read_manifest()


@pytest.fixture(scope="module")
def pool() -> Iterator[ReaderPool]:
    with ReaderPool() as pool:
        yield pool


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.file)
def test_a_row_reads_or_fails_as_it_must(pool: ReaderPool, row: Row) -> None:
    if row.scanned:
        require("tesseract")
        needed = _NEEDED_LANGUAGE.get(row.file)
        if needed and needed not in ocr.find_languages():
            pytest.skip(f"tesseract has no data for the language {needed}")
    (result,) = pool.read([FileToRead(FILES / row.file, row.file, password=row.password)])
    wrong = find_fault(row, result)
    if row.file in NOT_READ:
        assert wrong is not None, "it reads now: take it off NOT_READ and docs/FORMATS.md"
    else:
        assert wrong is None


def find_fault(row: Row, result: FileRead) -> str | None:
    """What is wrong with what came of a file; None when it is as it must be."""
    if row.failure is not None:
        if result.error is None:
            return "read, though it must fail"
        said = str(result.error)
        return None if re.search(row.failure, said) else said
    if result.document is None:
        return str(result.error)
    text = "\n".join(list_texts(result.document))
    return None if fold(row.contains) in fold(text) else f"not in it: {row.contains}"


def list_texts(document: Document) -> list[str]:
    return [document.text, *(text for inner in document.attachments for text in list_texts(inner))]


def fold(text: str) -> str:
    """The text as two are compared: NFKC, no white space, no lines between the cells of a table."""
    text = _TABLE_RULE.sub("", text).replace("|", "")
    text = unicodedata.normalize("NFKC", text).replace("\xad", "")
    return "".join(text.split())


def test_nearly_all_rows_read() -> None:
    assert set(NOT_READ) <= {row.file for row in ROWS}
    assert len(NOT_READ) <= len(ROWS) * (1 - LEAST_READ)


def test_the_others_are_documented() -> None:
    page = FORMATS.read_text()
    missing = [file for file, why in NOT_READ.items() if f"| `{file}` | {why} |" not in page]
    assert missing == []
