"""A sync on a Ray cluster: it makes what any sync makes, and one that was killed goes on."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import ibid
from conftest import list_ids, open_hashing, write
from hostile_files import zip_bomb
from ibid.errors import BadQuery, BadSetting, IbidError, ModelUnavailable, UnreadableDocument
from ibid.settings import load_settings
from ibid.testing.embedders import HashingEmbedder
from ibid.wire import Refused
from postgres_server import locate
from small_files import docx_parts

RULES = '[[rules]]\nmatch = "hr/**"\nallow = ["group:hr"]\nchunking = { by = "words", size = 20 }\n'

MAIL = """From: ann@example.org
Subject: The move
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=part

--part
Content-Type: text/plain

The office moves in May.
--part
Content-Type: text/markdown
Content-Disposition: attachment; filename=plan.md

# Plan

Boxes come first.
--part--
"""

FILES = {
    "ibid.toml": RULES,
    "leave.md": "# Leave\n\nParental leave lasts sixteen weeks.\n",
    "hr/pay.md": "# Pay\n\n" + "The bands are reviewed in March of every year. " * 9,
    "board.md": "---\nallow: [group:board]\ntitle: Minutes\n---\n\nThe budget was passed.\n",
    "move.eml": MAIL,
    "empty.md": "",
    "odd.xyz": "\0\1\2",
    **{f"pages/{n}.md": f"# Page {n}\n\nThe walrus of page {n} sleeps.\n" for n in range(20)},
}


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """The address of a cluster of two workers, which this process has joined."""
    if find_spec("ray") is None:
        pytest.skip("needs the extra ray")
    from ibid.openers.ray import LOCAL, load_ray, starting

    load_ray(LOCAL)
    import ray

    with pytest.MonkeyPatch.context() as patch, starting() as options:
        patch.setenv("PYTHONPATH", str(Path(__file__).parent))  # the embedders of this module
        ray.init(num_cpus=2, log_to_driver=False, **options)
        try:
            yield str(ray.get_runtime_context().gcs_address)
        finally:
            ray.shutdown()


def describe(library: ibid.Library) -> dict[str, Any]:
    """All that a library holds, but for when it was written."""
    found = {}
    for info in library.documents(ibid.OWNER):
        passages = library.passages(info.id, ibid.OWNER)
        found[info.id] = (replace(info, version=0), [one.text for one in passages])
    return found


def search(library: ibid.Library) -> list[tuple[str, float]]:
    hits = library.search("when is the walrus paid", k=30, principals=ibid.OWNER)
    return [(hit.passage.id, hit.score) for hit in hits]


def strip(report: ibid.IngestReport) -> ibid.IngestReport:
    return replace(report, version=0, seconds={})


@pytest.mark.usefixtures("cluster")
def test_a_spread_sync_makes_what_any_sync_makes(folder: Path, tmp_path: Path) -> None:
    """Documents, access, passages, scores; and the limits of reading hold at every place."""
    write(folder, FILES)
    name, parts = "word/document.xml", docx_parts("")
    (folder / "bomb.docx").write_bytes(zip_bomb(parts, name))
    with open_hashing(tmp_path / "one") as one, open_hashing(tmp_path / "many") as many:
        alone, spread = one.sync(folder), many.sync(folder, ray="local")
        assert strip(spread) == strip(alone)
        assert [failed.id for failed in spread.failed] == ["bomb.docx"]
        assert "unpacks to more than" in spread.failed[0].message
        assert describe(many) == describe(one)
        assert search(many) == search(one)
        assert many.verify() == []
        again = many.sync(folder, ray="local")
        assert (again.unchanged, again.passages.embedded) == (alone.unchanged + len(alone.added), 0)


class _Counting(HashingEmbedder):
    """Embeds, and writes down beside the library how many texts it was given, and where."""

    def __init__(self, log: Path) -> None:
        super().__init__()
        self._log = log

    def embed(self, texts: Any, *, kind: Any) -> Any:
        with self._log.open("a") as log:
            log.write(f"{os.getpid()} {len(texts)}\n")
        return super().embed(texts, kind=kind)


def read_counts(log: Path) -> dict[int, int]:
    """How many texts each process embedded."""
    counts: dict[int, int] = {}
    for line in log.read_text().splitlines() if log.exists() else ():
        process, count = map(int, line.split())
        counts[process] = counts.get(process, 0) + count
    log.unlink(missing_ok=True)
    return {process: count for process, count in counts.items() if count}


@pytest.mark.usefixtures("cluster")
def test_places_embed_what_changed_and_who_writes_nothing(folder: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    write(folder, FILES)
    with ibid.open(tmp_path / "library", embedder=_Counting(log)) as library:
        total = library.sync(folder, ray="local").passages.embedded
        counts = read_counts(log)
        assert os.getpid() not in counts
        assert sum(counts.values()) == total
        library.set("pages/1.md", archived=True)
        (folder / "pages" / "2.md").rename(folder / "moved.md")
        write(folder, {"leave.md": FILES["leave.md"] + "\n# Illness\n\nTell by nine.\n"})
        report = library.sync(folder, ray="local")
        assert [(moved.old_id, moved.new_id) for moved in report.moved] == [
            ("pages/2.md", "moved.md")
        ]
        assert report.passages.embedded == 1
        assert list(read_counts(log).values()) == [1]


KILLED = """
import os, signal, sys
import ibid
from ibid.testing.embedders import HashingEmbedder

def die(progress):
    if progress.done < progress.total:
        print(progress.done, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)

place, folder, address = sys.argv[1:]
with ibid.open(place, embedder=HashingEmbedder()) as library:
    library.sync(folder, ray=address, on_progress=die)
"""


def test_a_killed_sync_goes_on_where_it_was(folder: Path, tmp_path: Path, cluster: str) -> None:
    write(folder, FILES)
    place = tmp_path / "library"
    child = subprocess.run(
        [sys.executable, "-c", KILLED, str(place), str(folder), cluster],
        env={**os.environ, "IBID_INGEST_BATCH": "5"},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert child.returncode == -signal.SIGKILL, child.stderr
    with open_hashing(place) as library:
        kept = list_ids(library)
        assert kept
        report = library.sync(folder, ray="local")
        assert set(report.added).isdisjoint(kept)
        assert report.passages.embedded == report.passages.added
        assert library.verify() == []
        held = describe(library)
    with open_hashing(tmp_path / "whole") as whole:
        whole.sync(folder)
        assert held == describe(whole)


@pytest.mark.usefixtures("cluster")
def test_a_spread_sync_fills_postgresql(folder: Path, tmp_path: Path, postgres: str) -> None:
    write(folder, FILES)
    with (
        ibid.open(locate(postgres, tmp_path), embedder=HashingEmbedder()) as many,
        open_hashing(tmp_path / "one") as one,
    ):
        assert strip(many.sync(folder, ray="local")) == strip(one.sync(folder))
        assert describe(many) == describe(one)


class _Failing(HashingEmbedder):
    def embed(self, texts: Any, *, kind: Any) -> Any:
        if kind == "passage":
            raise ModelUnavailable("the model is not there", hint="install it")
        return super().embed(texts, kind=kind)


@pytest.mark.usefixtures("cluster")
def test_a_place_that_fails_says_why_and_leaves_the_library_whole(
    folder: Path, tmp_path: Path
) -> None:
    write(folder, FILES)
    with ibid.open(tmp_path / "library", embedder=_Failing()) as library:
        with pytest.raises(ModelUnavailable, match="the model is not there; install it"):
            library.sync(folder, ray="local")
        assert list_ids(library) == []
        assert library.verify() == []


def test_nobody_joins_without_the_key(cluster: str) -> None:
    names = ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN")
    environ = {name: value for name, value in os.environ.items() if name not in names}
    code = f"import ray; ray.init(address={cluster!r}, log_to_driver=False); print('joined')"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environ,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode != 0
    assert "joined" not in done.stdout


@pytest.mark.parametrize(
    "error",
    [
        UnreadableDocument("broken", hint="mend it"),
        IbidError("without a hint"),
        Refused("no", hint="ask", status=418),
    ],
)
def test_errors_travel_between_processes(error: IbidError) -> None:
    found = pickle.loads(pickle.dumps(error))
    assert type(found) is type(error)
    assert (str(found), found.message, found.hint) == (str(error), error.message, error.hint)
    assert vars(found) == vars(error)


def test_ray_that_is_missing_is_named(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.setitem(sys.modules, "ray.data", None)
    with (
        open_hashing(tmp_path / "library") as library,
        pytest.raises(BadSetting, match=r"pip install 'ibid-rag\[ray\]'"),
    ):
        library.sync(folder, ray="local")


def test_no_cluster_elsewhere_is_sent_texts_when_offline() -> None:
    from ibid.openers.ray import open_spread

    settings = load_settings({"offline": True}, library="nowhere")
    with pytest.raises(ModelUnavailable, match="ibid is offline"):
        open_spread("ray://head.example:10001", settings, HashingEmbedder)


@pytest.mark.usefixtures("cluster")
def test_a_website_is_asked_from_one_place(tmp_path: Path) -> None:
    with (
        open_hashing(tmp_path / "library") as library,
        pytest.raises(BadQuery, match="asked from one place"),
    ):
        library.sync("https://docs.example/sitemap.xml", ray="local")
