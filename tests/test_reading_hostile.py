"""No file hurts: each ends within the limits, fails alone, and leaves the parent as it was."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

from hostile_files import CASES
from hostile_pdfs import ANY
from ibid.reading.pool import FileRead, FileToRead, ReaderPool
from ibid.records import Document
from small_files import docx_parts, epub_parts, make_file, odf_parts, xlsx_parts, zip_parts

WALL_S: Final = 8.0
MEMORY_BYTES: Final = 512 << 20
MAX_GROWTH: Final = 100 << 20  # bytes that the parent may take while a file is read
SECRET: Final = "the secret of this machine"
_STATUS: Final = Path("/proc/self/status")
_CLEAR_PEAK: Final = Path("/proc/self/clear_refs")


@pytest.fixture(scope="module")
def pool() -> Iterator[ReaderPool]:
    """One pool for all, so that each file meets what the ones before it left behind."""
    with ReaderPool(wall_s=WALL_S, memory_bytes=MEMORY_BYTES) as pool:
        yield pool


def read(pool: ReaderPool, path: Path, name: str | None = None) -> FileRead:
    """What comes of a file, the next good one being read as if nothing had happened."""
    good = path.parent / "good.md"
    good.write_text("# Good")
    name = os.fsdecode(path.name) if name is None else name
    files = [FileToRead(path, name), FileToRead(good, good.name)]
    result, after = pool.read(files)
    assert after.document is not None, after.error
    assert (result.document is None) == (result.error is not None)
    return result


@pytest.mark.parametrize(
    ("name", "make", "expected"), [pytest.param(*case, id=case[0]) for case in CASES]
)
def test_a_hostile_file_fails_alone(
    pool: ReaderPool,
    tmp_path: Path,
    name: str,
    make: Callable[[], str | bytes],
    expected: str | None,
) -> None:
    path = tmp_path / name
    made = make()
    path.write_bytes(made if isinstance(made, bytes) else made.encode())
    del made
    grown = watch_growth()
    result = read(pool, path)
    assert grown() < MAX_GROWTH
    said = str(result.error)
    assert "the reader failed" not in said
    if expected is None:
        assert result.document is not None, said
    elif expected != ANY:
        assert expected in said


def watch_growth() -> Callable[[], int]:
    """A function that gives the bytes by which this process has grown at its highest since."""
    if not _CLEAR_PEAK.exists():
        return lambda: 0
    _CLEAR_PEAK.write_text("5")
    before = read_status("VmRSS")
    return lambda: read_status("VmHWM") - before


def read_status(field: str) -> int:
    rows = dict(line.split(":", 1) for line in _STATUS.read_text().splitlines())
    return int(rows[field].split()[0]) * 1024


# -- nothing is reached from within a file ------------------------------------------------------


@pytest.fixture
def listener() -> Iterator[tuple[int, list[object]]]:
    """A port of this machine, and all who called there."""
    callers: list[object] = []
    with closing(socket.create_server(("127.0.0.1", 0))) as server:

        def accept() -> None:
            while True:
                try:
                    connection, address = server.accept()
                except OSError:
                    return
                connection.close()
                callers.append(address)

        threading.Thread(target=accept, daemon=True).start()
        yield server.getsockname()[1], callers


def make_reaching(address: str) -> dict[str, str | bytes]:
    """Files that ask for what lies at an address, in every way that their formats know."""
    entity = f'<!DOCTYPE x [<!ENTITY e SYSTEM "{address}">]>'
    table = f'<!DOCTYPE x [<!ENTITY % p SYSTEM "{address}"> %p;]>'
    style = f'<?xml-stylesheet href="{address}"?>'
    include = f'<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="{address}"/>'
    plain = address.removeprefix("file://")
    path = f"../../../../../../../../../..{plain}"
    word = "<w:p><w:r><w:t>words &e;</w:t></w:r></w:p>"
    book = epub_parts("<p>words</p>")
    climbing = {**book, "book.opf": str(book["book.opf"]).replace("a.xhtml", path)}
    return {
        "entity.xml": f"{entity}<x>words &e;</x>",
        "parameter.xml": f"{table}<x>words</x>",
        "style.xml": f"{style}<x>words {include}</x>",
        "entity.xhtml": f"{entity}<html><body>words &e;</body></html>",
        "page.html": f"<p>words<img src='{address}'><iframe src='{address}'></iframe>"
        f"<link rel=stylesheet href='{address}'><object data='{address}'></object>",
        "entity.docx": zip_parts(docx_parts(word, before=entity)),
        "entity.odt": zip_parts(odf_parts("text", "<text:p>words &e;</text:p>", before=entity)),
        "entity.epub": zip_parts(epub_parts("<p>words &e;</p>", before=entity)),
        "climbing.epub": zip_parts(climbing),
        "entity.xlsx": zip_parts(
            {**xlsx_parts("<sheetData/>"), "xl/sharedStrings.xml": f"{entity}<sst>&e;</sst>"}
        ),
        "include.rst": f"words\n\n.. include:: {plain}\n\n.. raw:: html\n   :file: {plain}\n\n"
        f".. csv-table::\n   :file: {plain}\n\n.. csv-table::\n   :url: {address}\n\n"
        f".. literalinclude:: {plain}\n",
        "include.adoc": f"words\n\ninclude::{plain}[]\n\nimage::{address}[]\n\n:a: {{docfile}}\n",
        "include.tex": f"words \\input{{{plain}}} \\include{{{plain}}} \\verbatiminput{{{plain}}}"
        f" \\lstinputlisting{{{plain}}} \\write18{{cat {plain}}}",
        "matter.md": f"---\ntitle: !!python/object/apply:os.system ['cat {plain}']\n---\nwords"
        f" ![a]({address})",
        "include.rtf": f'{{\\rtf1 words {{\\field{{\\*\\fldinst INCLUDETEXT "{plain}"}}}}}}',
        "external.eml": "From: a\nMessage-ID: b\nContent-Type: message/external-body;"
        f' access-type=local-file; name="{plain}"\n\nwords',
        "output.ipynb": f'{{"cells": [{{"cell_type": "markdown", "source": "words ![]({address})",'
        f' "attachments": {{"a": "{address}"}}}}]}}',
    }


REACHING: Final = sorted(make_reaching("file:///"))


@pytest.mark.parametrize("name", REACHING)
def test_a_file_reads_no_other_file(pool: ReaderPool, tmp_path: Path, name: str) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text(SECRET)
    made = make_reaching(f"file://{secret}")[name]
    path = tmp_path / name
    path.write_bytes(made if isinstance(made, bytes) else made.encode())
    result = read(pool, path)
    assert SECRET not in str(result.error)
    if result.document is not None:
        assert SECRET not in show_all(result.document)


@pytest.mark.parametrize("name", REACHING)
def test_a_file_calls_nobody(
    pool: ReaderPool, tmp_path: Path, listener: tuple[int, list[object]], name: str
) -> None:
    port, callers = listener
    made = make_reaching(f"http://127.0.0.1:{port}/x")[name]
    path = tmp_path / name
    path.write_bytes(made if isinstance(made, bytes) else made.encode())
    read(pool, path)
    assert callers == []


def show_all(document: Document) -> str:
    return " ".join([str(document), *map(show_all, document.attachments)])


# -- what a folder may hold ---------------------------------------------------------------------


def test_names_and_kinds_of_file_that_nobody_expects(pool: ReaderPool, tmp_path: Path) -> None:
    (tmp_path / "loop.md").symlink_to(tmp_path / "loop.md")
    (tmp_path / "here").symlink_to(tmp_path, target_is_directory=True)
    os.mkfifo(tmp_path / "pipe.docx")
    with closing(socket.socket(socket.AF_UNIX)) as made:
        made.bind(str(tmp_path / "socket.pdf"))
    said = {
        name: str(read(pool, tmp_path / name).error)
        for name in ("loop.md", "here", "pipe.docx", "socket.pdf")
    }
    assert said["loop.md"].startswith("can't be opened")
    assert said["here"] == said["pipe.docx"] == "not a regular file"
    assert said["socket.pdf"].startswith(("can't be opened", "not a regular file"))


@pytest.mark.parametrize(
    "name",
    [
        b"line\nbreak.md",
        b"broken \xff\xfe.md",
        b"\xe2\x80\xae.md",
        b"-rf *.md",
        b"a" * 250 + b".md",
    ],
)
def test_a_name_may_be_any_bytes(pool: ReaderPool, tmp_path: Path, name: bytes) -> None:
    path = tmp_path / os.fsdecode(name)
    try:
        path.write_text("# Words")
    except OSError:
        pytest.skip("the file system allows no such name")
    result = read(pool, path)
    assert result.document is not None, result.error
    assert result.document.text == "Words"


def test_a_good_file_under_any_name(pool: ReaderPool, tmp_path: Path) -> None:
    """What a file is called may be wrong, missing, or a lie: it is read, or refused in words."""
    for extension in ("docx", "xlsx", "pdf", "html", "eml", "rtf", "epub", "json"):
        path = tmp_path / "file"
        path.write_bytes(make_file(extension))
        for name in ("file", "a.txt", "a.zip", "a.docx", "a.pdf", "a.xls", "a.msg", "a.ipynb"):
            assert "the reader failed" not in str(read(pool, path, name).error), name
