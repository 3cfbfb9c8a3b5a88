"""Object stores as sources: in memory and over HTTP, they are synced as folders are."""

from __future__ import annotations

import itertools
import os
import pickle
import sys
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fsspec
import pytest

import ibid
from conftest import find, list_ids, open_hashing, run_ibid
from ibid.errors import BadSetting, InputError, ModelUnavailable
from ibid.openers.sources import open_source
from ibid.protocols import Fetched, SourceFile
from ibid.settings import Settings, load_settings
from ibid.sources.folder import FolderSource
from ibid.sources.objects import ObjectSource
from object_server import start_store

RULES = '[[rules]]\nmatch = "hr/**"\nallow = ["group:hr"]\nlocked = true\n'

NOTES = {
    "leave.md": "# Leave\n\nParental leave lasts sixteen weeks.\n",
    "it/laptops.md": "# Laptops\n\nA laptop is replaced after four years.\n",
    "hr/pay.md": "# Pay\n\nThe bands are reviewed in March.\n",
}


@dataclass(frozen=True)
class Store:
    """A prefix in a store, as its owner writes to it."""

    url: str
    files: Any

    def put(self, files: Mapping[str, str]) -> None:
        for name, text in files.items():
            self.files.pipe_file(f"{self._root}/{name}", text.encode())

    def remove(self, name: str) -> None:
        self.files.rm_file(f"{self._root}/{name}")

    @property
    def _root(self) -> str:
        return self.url.partition("://")[2]


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with start_store() as address:
        yield address


def _make_memory(request: pytest.FixtureRequest) -> Store:
    return Store(f"memory://{uuid.uuid4().hex}/handbook", fsspec.filesystem("memory"))


def _make_s3(request: pytest.FixtureRequest) -> Store:
    address = request.getfixturevalue("server")
    patch = request.getfixturevalue("monkeypatch")
    keys = {
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": address,
    }
    for name, value in keys.items():
        patch.setenv(name, value)
    files = fsspec.filesystem("s3", skip_instance_cache=True, use_listings_cache=False)
    bucket = uuid.uuid4().hex
    files.mkdir(bucket)
    return Store(f"s3://{bucket}/team/handbook", files)


STORES: Mapping[str, Callable[[pytest.FixtureRequest], Store]] = {
    "memory": _make_memory,
    "s3": _make_s3,
}


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest) -> Store:
    return STORES[request.param](request)


@pytest.fixture
def s3(request: pytest.FixtureRequest) -> Store:
    return _make_s3(request)


@pytest.fixture
def library(tmp_path: Path) -> Iterator[ibid.Library]:
    with open_hashing(tmp_path / "library") as library:
        yield library


def count_fetches(patch: pytest.MonkeyPatch) -> list[str]:
    """The paths of the objects that are fetched from now on."""
    fetched: list[str] = []
    bring = ObjectSource._bring

    def count(source: ObjectSource, file: SourceFile, **options: Any) -> Fetched:
        found = bring(source, file, **options)
        if found.copy:
            fetched.append(file.path)
        return found

    patch.setattr(ObjectSource, "_bring", count)
    return fetched


def test_a_prefix_becomes_documents_as_a_folder_does(store: Store, library: ibid.Library) -> None:
    store.put(NOTES | {"ibid.toml": RULES, "empty.md": "", ".hidden/a.md": "x", "logo.xyz": "\0"})
    report = library.sync(store.url)
    assert report.added == ("hr/pay.md", "it/laptops.md", "leave.md")
    assert {(one.id, one.reason) for one in report.skipped if one.id != "logo.xyz"} == {
        ("empty.md", "empty"),
        (".hidden/", "hidden"),
    }
    assert not report.failed
    info = library.describe("it/laptops.md", ibid.OWNER)
    assert (info.source, info.title) == (f"{store.url}/it/laptops.md", "Laptops")
    assert info.modified_at is not None
    assert library.describe("hr/pay.md", ibid.OWNER).allow == frozenset({"group:hr"})
    assert [source.location for source in library.sources(ibid.OWNER)] == [store.url]


def test_only_what_changed_is_fetched(
    store: Store, library: ibid.Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.put(NOTES)
    library.sync(store.url)
    fetched = count_fetches(monkeypatch)
    again = library.sync(store.url)
    assert (again.unchanged, again.passages.embedded, fetched) == (3, 0, [])
    store.put({"leave.md": "# Leave\n\nSabbaticals exist.\n"})
    store.remove("hr/pay.md")
    changed = library.sync(store.url)
    assert (changed.updated, changed.removed, changed.unchanged) == (
        ("leave.md",),
        ("hr/pay.md",),
        1,
    )
    assert fetched == ["leave.md"]
    assert find(library, "sabbaticals") == ["leave.md"]


def test_a_renamed_object_keeps_what_was_set(store: Store, library: ibid.Library) -> None:
    store.put(NOTES)
    library.sync(store.url)
    library.set("leave.md", allow=["group:board"])
    store.remove("leave.md")
    store.put({"absence/leave.md": NOTES["leave.md"]})
    report = library.sync(store.url)
    assert [(one.old_id, one.new_id) for one in report.moved] == [("leave.md", "absence/leave.md")]
    assert report.passages.embedded == 0
    assert library.describe("absence/leave.md", ibid.OWNER).allow == frozenset({"group:board"})


def test_more_than_half_never_go_at_once(store: Store, library: ibid.Library) -> None:
    store.put({f"{n}.md": f"Page {n} of the book.\n" for n in range(12)})
    library.sync(store.url)
    for n in range(8):
        store.remove(f"{n}.md")
    with pytest.raises(InputError, match="8 of the 12 documents"):
        library.sync(store.url)
    assert len(library.sync(store.url, allow_emptying=True).removed) == 8


def test_an_empty_prefix_is_no_source_without_files(store: Store, library: ibid.Library) -> None:
    store.put({"one.md": "The only page.\n"})
    library.sync(store.url)
    store.remove("one.md")
    with suppress(FileNotFoundError):
        store.files.invalidate_cache()
    with pytest.raises(InputError, match=r"nothing lies at|can't be listed"):
        library.sync(store.url)
    assert list_ids(library) == ["one.md"]


def test_a_neighbour_whose_name_begins_alike_is_not_listed(
    store: Store, library: ibid.Library
) -> None:
    store.put(NOTES)
    neighbour = Store(f"{store.url}-old", store.files)
    neighbour.put({"stale.md": "An old page.\n"})
    assert "stale.md" not in library.sync(store.url).added
    second = library.sync(neighbour.url)
    assert second.added == ("handbook-old/stale.md",)


TREES = [
    {".ibidignore": "*.tmp.md\n/drafts/\n", "a.md": "a", "b.tmp.md": "b", "drafts/c.md": "c"},
    {"sub/.ibidignore": "x.md\n", "sub/x.md": "x", "sub/y.md": "y", "x.md": "x"},
    {"sub/ibid.toml": "", "a-b/c.md": "c", "a.md": "a", "a/b.md": "b", "é.md": "é"},
    {"old/library.db": "x", "old/a.md": "a", "b.md": "b", "ibid.toml": ""},
    {"sub/.ibidignore": "x\udce9.md".encode("utf-8", "replace").decode(), "sub/x.md": "x"},
]


@pytest.mark.parametrize("tree", TREES)
def test_the_listing_is_that_of_a_folder(
    store: Store, tmp_path: Path, tree: Mapping[str, str]
) -> None:
    store.put(tree)
    for name, text in tree.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    folder, objects = FolderSource(tmp_path), ObjectSource(store.url)
    expected = [(file.path, file.skip) for file in folder.scan()]
    assert [(file.path, file.skip) for file in objects.scan()] == expected
    assert objects.unreadable == folder.unreadable


def test_rules_may_be_empty_and_never_too_large(store: Store, library: ibid.Library) -> None:
    store.put({"ibid.toml": "", ".ibidignore": "", "a.md": "One page.\n"})
    assert library.sync(store.url).added == ("a.md",)
    store.put({"ibid.toml": "#" * 1_000_001})
    with pytest.raises(InputError, match="larger than 1,000,000 bytes"):
        library.sync(store.url)


def test_an_object_above_the_limit_is_not_fetched(
    store: Store, library: ibid.Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.put({"a.md": "small\n", "b.md": "large " * 100})
    fetched = count_fetches(monkeypatch)
    source = open_source(store.url, Settings())
    files = list(source.scan())
    with source.fetch(files, max_bytes=100) as arriving:
        found = list(arriving)
    assert [one.error is None for one in found] == [True, False]
    assert "600 bytes are over max_file_bytes (100)" in str(found[1].error)
    assert fetched == ["a.md"]


def test_an_object_that_vanishes_fails_alone_and_is_looked_at_again(
    store: Store, library: ibid.Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.put(NOTES)
    list_objects = ObjectSource._list_objects

    def list_and_lose(source: ObjectSource) -> Any:
        found = list_objects(source)
        store.remove("leave.md")
        return found

    with monkeypatch.context() as patch:
        patch.setattr(ObjectSource, "_list_objects", list_and_lose)
        report = library.sync(store.url)
    assert [(one.id, one.message) for one in report.failed] == [
        ("leave.md", "vanished before it could be fetched")
    ]
    assert report.added == ("hr/pay.md", "it/laptops.md")
    assert library.sync(store.url).failed == ()


def test_copies_are_gone_once_they_are_read(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    store.put({f"{n}.md": f"Page {n}.\n" for n in range(30)})
    source = ObjectSource(store.url)
    with source.fetch(source.scan(), max_bytes=1000) as fetched:
        for one in itertools.islice(fetched, 5):
            assert one.path.read_text().startswith("Page")
        assert len(list(tmp_path.glob("*/*"))) < 20  # a few ahead, not all
    assert list(tmp_path.rglob("*")) == []


def test_a_source_travels_without_what_it_listed(s3: Store) -> None:
    """As to the places of a cluster, which fetch for themselves."""
    s3.put(NOTES)
    source = ObjectSource(s3.url)
    files = list(source.scan())
    travelled = pickle.dumps(source)
    assert b"laptops" not in travelled
    with pickle.loads(travelled).fetch(files, max_bytes=1000) as arriving:
        assert [one.file.path for one in arriving if one.error is None] == sorted(NOTES)


# -- what is refused ----------------------------------------------------------------------------


def test_a_store_that_cannot_be_listed_changes_nothing(
    s3: Store, library: ibid.Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    s3.put(NOTES)
    version = library.sync(s3.url).version
    monkeypatch.setattr("s3fs.S3FileSystem.find", _fail)
    with pytest.raises(InputError, match=r"can't be listed: Could not connect"):
        library.sync(s3.url)
    assert library.status(ibid.OWNER).version == version
    monkeypatch.undo()
    with pytest.raises(InputError, match="can't be listed"):
        ObjectSource("s3://no-such-bucket/x").scan().__next__()


def _fail(*arguments: object, **options: object) -> None:
    from botocore.exceptions import EndpointConnectionError

    raise EndpointConnectionError(endpoint_url="http://127.0.0.1:1")


def test_an_address_with_a_password_is_refused() -> None:
    with pytest.raises(BadSetting, match="holds a password") as caught:
        ObjectSource("sftp://ann:secret@files.example/handbook")
    assert "secret" not in str(caught.value)


def test_a_scheme_without_its_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadSetting, match=r"no source is known at nowhere://"):
        ObjectSource("nowhere://x")
    with pytest.raises(BadSetting, match="gcsfs"):
        ObjectSource("gs://bucket/prefix")
    monkeypatch.setitem(sys.modules, "s3fs", None)
    # The module, whose name in its package is the table that it makes.
    monkeypatch.delitem(sys.modules["fsspec.registry"]._registry, "s3", raising=False)
    with pytest.raises(BadSetting, match=r"pip install 'ibid-rag\[s3\]'"):
        ObjectSource("s3://bucket/other")


def test_nothing_is_asked_of_a_store_when_offline() -> None:
    settings = load_settings({"offline": True}, library="nowhere")
    with pytest.raises(ModelUnavailable, match="ibid is offline"):
        open_source("s3://bucket/prefix", settings)
    assert open_source("memory://x", settings).location == "memory://x"


# -- at the command line ------------------------------------------------------------------------


def test_the_command_line_syncs_a_prefix(s3: Store, tmp_path: Path) -> None:
    s3.put(NOTES)
    place = tmp_path / "library"
    environ = {name: os.environ[name] for name in os.environ if name.startswith("AWS_")}
    shape = run_ibid("sync", s3.url, "--dry-run", library=place, environ=environ)
    assert shape["added"] == ["hr/pay.md", "it/laptops.md", "leave.md"]
    assert run_ibid("sync", s3.url, library=place, environ=environ)["passages"]["added"] == 3
    assert run_ibid("sync", s3.url, library=place, environ=environ)["unchanged"] == 3
    again = run_ibid("sync", s3.url, library=place, code=4, environ={"IBID_OFFLINE": "1"})
    assert again["error"]["type"] == "ModelUnavailable"
