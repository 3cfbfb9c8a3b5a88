"""Files are read in children that may die, hang or fill up; each fails one file alone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import zlib
from pathlib import Path

import psutil
import pytest
from blake3 import blake3

from ibid.errors import EmptyDocument, UnreadableDocument, UnsupportedFormat
from ibid.protocols import FileStat
from ibid.reading.child import load_file
from ibid.reading.frames import BadFrame, pack_document, read_frame, unpack_document
from ibid.reading.pool import FileRead, FileToRead, ReaderPool, read_file
from ibid.records import Block, BlockKind, Box, Document


def offer(folder: Path, name: str, data: bytes = b"", *, max_bytes: int = 10**8) -> FileToRead:
    path = folder / name
    if data:
        path.write_bytes(data)
    return FileToRead(path, name, max_bytes)


def read_all(files: list[FileToRead], *, memory_bytes: int = 2**30) -> list[FileRead]:
    with ReaderPool(memory_bytes=memory_bytes) as pool:
        return list(pool.read(files))


def test_documents_come_in_order_with_hash_and_stat(tmp_path: Path) -> None:
    files = [offer(tmp_path, f"{i}.md", f"# Page {i}".encode()) for i in range(20)]
    with ReaderPool(2) as pool:
        results = list(pool.read(files))
        assert [r.document.text for r in results if r.document] == [f"Page {i}" for i in range(20)]
        assert len({child._process.pid for child in pool._children if child._process}) <= 2
    assert [r.file for r in results] == files
    found = files[3].path.stat()
    assert results[3].bytes_hash == blake3(b"# Page 3").hexdigest()
    stat = results[3].stat
    assert stat is not None
    seen = (found.st_size, found.st_mtime_ns, found.st_ino)
    assert (stat.size, stat.modified_ns, stat.inode) == seen


def test_each_bad_file_says_why_and_stops_no_other(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "folder.md").mkdir()
    files = [
        offer(tmp_path, "large.txt", b"x" * 2000, max_bytes=1000),
        offer(tmp_path, "large.png", b"\x89PNG\r\n\x1a\n\0\0" * 200, max_bytes=1000),
        offer(tmp_path, "gone.md"),
        offer(tmp_path, "pipe.md"),
        offer(tmp_path, "folder.md"),
        offer(tmp_path, "blank.md", b" \n"),
        offer(tmp_path, "line\nbreak \u00e9.md", b"good"),
    ]
    results = read_all(files)
    assert [(type(r.error), r.error.message if r.error else "") for r in results] == [
        (UnreadableDocument, "2 kB is over max_file_bytes (1 kB)"),
        (UnsupportedFormat, "unsupported type image/png"),
        (UnreadableDocument, "vanished before it could be read"),
        (UnreadableDocument, "not a regular file"),
        (UnreadableDocument, "not a regular file"),
        (EmptyDocument, "no text in it"),
        (type(None), ""),
    ]
    assert results[0].stat is not None
    assert results[-1].document is not None


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission(tmp_path: Path) -> None:
    file = offer(tmp_path, "secret.md", b"x")
    file.path.chmod(0)
    (result,) = read_all([file])
    assert result.error is not None
    assert "permission" in result.error.message


def test_a_file_that_vanishes_or_changes_while_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one")
    with pytest.raises(UnreadableDocument, match="vanished while"):
        load_file(str(path), 100, lambda stat, head: path.unlink())

    path.write_text("one")
    looks: list[bytes] = []

    def change_once(stat: FileStat, head: bytes) -> None:
        looks.append(head)
        if len(looks) == 1:
            path.write_text("second")

    assert load_file(str(path), 100, change_once) == b"second"

    def change(stat: FileStat, head: bytes) -> None:
        path.write_bytes(head + b"x")

    with pytest.raises(UnreadableDocument, match="kept changing"):
        load_file(str(path), 1000, change)


def make_bomb() -> bytes:
    content = zlib.compress(b" " * 400_000_000, 1)
    return (
        b"%%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
        b"2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
        b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R>>endobj\n"
        b"4 0 obj<</Length %d/Filter/FlateDecode>>stream\n%b\nendstream endobj\n"
        b"trailer<</Root 1 0 R>>" % (len(content), content)
    )


def test_a_file_that_takes_too_much_memory_fails_alone(tmp_path: Path) -> None:
    files = [
        offer(tmp_path, "good.md", b"good"),
        offer(tmp_path, "bomb.pdf", make_bomb()),
        offer(tmp_path, "large.txt", b"word " * 40_000_000, max_bytes=10**9),
        offer(tmp_path, "also.md", b"also"),
    ]
    results = read_all(files, memory_bytes=400 * 2**20)
    assert [r.document is not None for r in results] == [True, False, False, True]
    assert "the reader crashed (signal" in str(results[1].error)
    assert "ran out of memory (limit 0.390625 GiB)" in str(results[2].error)
    assert results[2].bytes_hash == "" or len(results[2].bytes_hash) == 64


def test_a_reader_that_takes_too_long_fails_its_file(tmp_path: Path) -> None:
    slow = offer(tmp_path, "slow.html", b"<div>" * 1900 + b"<p>x" * 3_000_000)
    with ReaderPool(wall_s=1.5) as pool:
        results = list(pool.read([slow, offer(tmp_path, "good.md", b"good")]))
    assert str(results[0].error) == "took longer than 1.5 s to read"
    assert results[0].stat is not None
    assert results[1].document is not None


def test_a_child_that_is_killed_between_files_is_replaced(tmp_path: Path) -> None:
    file = offer(tmp_path, "a.md", b"text")
    with ReaderPool() as pool:
        assert next(pool.read([file])).document
        (child,) = pool._children
        assert child._process is not None
        os.kill(child._process.pid, signal.SIGKILL)
        assert next(pool.read([file])).document


def test_closing_ends_the_children_in_the_middle_of_a_file(tmp_path: Path) -> None:
    slow = offer(tmp_path, "slow.html", b"<div>" * 1900 + b"<p>x" * 3_000_000)
    with ReaderPool() as pool:
        thread = threading.Thread(target=lambda: list(pool.read([slow])))
        thread.start()
        while pool._children[0]._process is None:
            time.sleep(0.01)
        process = psutil.Process(pool._children[0]._process.pid)
    thread.join()
    assert not process.is_running()


PARENT = """
import sys, time
from pathlib import Path
from ibid.reading.pool import FileToRead, ReaderPool
with ReaderPool() as pool:
    for name in sys.argv[1:]:
        for result in pool.read([FileToRead(Path(name), name)]):
            print(pool._children[0]._process.pid, flush=True)
"""


def test_a_killed_parent_leaves_no_child(tmp_path: Path) -> None:
    good = offer(tmp_path, "good.md", b"good").path
    slow = offer(tmp_path, "slow.html", b"<div>" * 1900 + b"<p>x" * 3_000_000).path
    command = [sys.executable, "-c", PARENT, str(good), str(slow)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        child = psutil.Process(int(parent.stdout.readline()))
        parent.kill()
    assert psutil.wait_procs([child], timeout=10)[0]


def test_a_child_loads_only_what_it_needs() -> None:
    heavy = {"numpy", "onnxruntime", "lxml", "selectolax", "pypdfium2", "markdown_it", "yaml"}
    code = f"import sys, ibid.reading.child; print(sorted({heavy!r} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert found.stdout.strip() == b"[]"


def test_one_file_by_itself(tmp_path: Path) -> None:
    path = offer(tmp_path, "a.md", b"# Title").path
    assert read_file(path).title == "Title"
    with pytest.raises(UnreadableDocument):
        read_file(tmp_path / "none.md")


def test_a_document_survives_the_pipe() -> None:
    block = Block(BlockKind.TABLE, 0, 3, 2, 4, (Box(4, 1.5, 2.0, 3.0, 4.25),), (7, 9))
    document = Document(
        "", "a\u00e9\U0001f600", (block,), "T", None, "text/html", {"k": [1, None]}, {"t": "x"},
        frozenset({"group:hr"}), None, True,
    )  # fmt: skip
    data = pack_document(document)

    def read(count: int) -> bytes:
        nonlocal data
        piece, data = data[:count], data[count:]
        return piece

    frame = read_frame(read)
    assert frame is not None
    assert unpack_document(frame[0]["documents"], frame[1]) == document
    assert read_frame(read) is None
    with pytest.raises(BadFrame):
        read_frame(lambda count: b"\xff" * count)
