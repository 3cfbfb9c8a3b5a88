"""A prefix in an object store as a source: its objects are listed at once and fetched one by one.

Any store is one that fsspec has a package for. Credentials come from where that package looks for
them by itself (the environment, a profile, the machine's role), never from ibid.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from functools import partial
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urlsplit

from ibid.errors import BadSetting, IbidError, InputError, UnreadableDocument
from ibid.protocols import Fetched, FileStat, SourceFile
from ibid.sources.ahead import map_ahead, refuse_size
from ibid.sources.patterns import MAX_BYTES
from ibid.sources.walk import Walk, refuse_name

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

FETCHED_AT_ONCE: Final = 8
"""Objects that are on their way at once: a store answers each in tens of milliseconds."""

EXTRAS: Final[Mapping[str, str]] = {"s3": "s3", "s3a": "s3"}
"""Scheme -> the extra of ibid that brings its package."""

LOCAL: Final = frozenset({"memory"})
"""Stores that lie in this process."""

_OPTIONS: Final[Mapping[str, Mapping[str, Any]]] = {
    scheme: {"config_kwargs": {"connect_timeout": 10, "retries": {"max_attempts": 4}}}
    for scheme in ("s3", "s3a")
}

_FAILURES: Final[Mapping[str, Sequence[str]]] = {
    "s3": ("botocore.exceptions:BotoCoreError", "botocore.exceptions:ClientError"),
    "gs": ("gcsfs.retry:HttpError", "aiohttp:ClientError"),
    "az": ("azure.core.exceptions:AzureError",),
    "sftp": ("paramiko:SSHException",),
}
"""What a store's package raises beside OSError, each as module:name."""

_ALIASES: Final[Mapping[str, str]] = {"s3a": "s3", "gcs": "gs", "abfs": "az", "ssh": "sftp"}

_TAGS: Final = ("ETag", "etag", "md5Hash", "generation")
_TIMES: Final = ("LastModified", "last_modified", "updated", "mtime", "created")
"""What the packages call the state of an object and the time of its last change."""


class ObjectSource:
    """The objects below a prefix, such as `s3://bucket/handbook`.

    They are named and skipped as files of a folder are. The listing is had whole or not at all:
    what it lacks is gone. An object is the one that was read before when its size, time and ETag
    are.

    Raises BadSetting for an unknown scheme, a package that is missing, or a password in the URL.
    """

    def __init__(self, url: str) -> None:
        self.location = url.rstrip("/")
        self.unreadable: dict[str, str] = {}
        self._files, root = _open_store(self.location)
        self._root = root.rstrip("/")
        self._failures = _find_failures(urlsplit(url).scheme)
        self._folders: Mapping[str, Mapping[str, Mapping[str, Any]]] = {}

    def __reduce__(self) -> tuple[type[ObjectSource], tuple[str]]:
        """At another place it is opened anew, with the credentials that are there."""
        return ObjectSource, (self.location,)

    def scan(
        self, recall: Callable[[str], FileStat | None] = lambda path: None
    ) -> Iterator[SourceFile]:
        """Every object below the prefix, in the order of its path by code points.

        Raises InputError when they can't be listed, or when there is none: a prefix without an
        object is one that does not exist.
        """
        self.unreadable.clear()
        self._folders = _gather_folders(self._list_objects(), self._root)
        if not self._folders:
            raise InputError(
                f"nothing lies at {self.location}",
                hint="nothing was changed; look at the names of the bucket and the prefix, or"
                " remove the source with `ibid forget`",
            )
        yield from Walk(self, self.unreadable).scan()
        if reason := self.unreadable.get(""):
            raise InputError(f"{self.location}: {reason}", hint="nothing was changed; mend it")

    @contextmanager
    def fetch(self, files: Iterable[SourceFile], *, max_bytes: int) -> Iterator[Iterator[Fetched]]:
        """A copy of each object, in a folder that is gone after the `with`."""
        with TemporaryDirectory(prefix="ibid-objects-") as folder:
            places = (Path(folder) / str(number) for number in itertools.count())
            bring = partial(self._bring, places=places, max_bytes=max_bytes)
            with closing(map_ahead(files, bring, most=FETCHED_AT_ONCE)) as fetched:
                yield fetched

    def read_text(self, path: str) -> str | None:
        """The text of a small object, None when there is none. Raises ValueError."""
        try:
            with self._files.open(self._name(path), "rb") as opened:  # a range of none is an error
                data: bytes = opened.read(MAX_BYTES + 1)
        except FileNotFoundError:
            return None
        except self._failures as error:
            raise ValueError(str(error)) from error
        if len(data) > MAX_BYTES:
            raise ValueError(f"it is larger than {MAX_BYTES:,} bytes")
        return data.decode("utf-8-sig")

    # -- the tree that is walked -----------------------------------------------------------------

    def list_folder(self, path: str) -> list[tuple[str, Mapping[str, Any]]]:
        """The names below a folder, those of folders with `/`, with what the store says of them."""
        return list(self._folders[path].items())

    def look_at(self, path: str, entry: Mapping[str, Any]) -> SourceFile:
        """An object, with why it can't be read."""
        file_stat = _read_stat(entry)
        return SourceFile(path, file_stat, refuse_name(path.rpartition("/")[2], file_stat.size))

    def holds(self, path: str) -> bool:
        """Whether there is such an object."""
        folder, slash, name = path.rpartition("/")
        return name in self._folders.get(folder + slash, {})

    # -- the store -------------------------------------------------------------------------------

    def _name(self, path: str) -> str:
        return f"{self._root}/{path}"

    def _list_objects(self) -> Mapping[str, Mapping[str, Any]]:
        """What the store says of each object, by its full name."""
        try:
            self._files.invalidate_cache()
            found: dict[str, dict[str, Any]] = self._files.find(self._root, detail=True)
        except self._failures as error:
            raise InputError(
                f"{self.location} can't be listed: {_tell_failure(error)}",
                hint="nothing was changed; look at the address and at your credentials for it",
            ) from error
        return found

    def _bring(self, file: SourceFile, *, places: Iterator[Path], max_bytes: int) -> Fetched:
        """A copy of an object; the state that was listed stands for it, which a later one is not.

        `places` are names for copies; one is taken for each.
        """
        uri = f"{self.location}/{quote(file.path)}"
        file_stat = file.stat._replace(changed_ns=0)
        error: IbidError | None = refuse_size(file.stat.size, max_bytes)
        if error is not None:
            return Fetched(file, uri, stat=file_stat, error=error)
        path = next(places)
        try:
            self._files.get_file(self._name(file.path), str(path))
        except FileNotFoundError:
            error = UnreadableDocument("vanished before it could be fetched")
        except self._failures as failure:
            error = UnreadableDocument(f"can't be fetched: {_tell_failure(failure)}")
        if error is not None:
            return Fetched(file, uri, error=error)
        return Fetched(file, uri, path, file_stat, copy=True)


def _open_store(url: str) -> tuple[AbstractFileSystem, str]:
    """The store of a URL, and the name of its prefix there. Raises BadSetting."""
    parts = urlsplit(url)
    if parts.password is not None:
        raise BadSetting(
            f"the address of a source in {parts.scheme} holds a password, which would be kept",
            hint="leave it out: credentials come from the environment",
        )
    try:
        from fsspec.core import url_to_fs  # noqa: PLC0415 - only for those who sync objects
        from fsspec.registry import known_implementations  # noqa: PLC0415 - likewise
    except ImportError as error:
        raise _miss(parts.scheme, str(error)) from error
    if parts.scheme not in known_implementations:
        raise BadSetting(
            f"no source is known at {parts.scheme}://",
            hint="give a folder, or an address such as s3://BUCKET/PREFIX or https://HOST/LIST",
        )
    try:
        files, root = url_to_fs(url, use_listings_cache=False, **_OPTIONS.get(parts.scheme, {}))
    except (ImportError, ValueError) as error:
        raise _miss(parts.scheme, str(error)) from error
    return files, root


def _miss(scheme: str, reason: str) -> BadSetting:
    extra = EXTRAS.get(scheme)
    hint = f"run `pip install 'ibid-rag[{extra}]'`" if extra else "install the package it names"
    return BadSetting(f"a source at {scheme}:// can't be opened: {reason}", hint=hint)


def _find_failures(scheme: str) -> tuple[type[Exception], ...]:
    """What may be raised where a store can't be reached or refuses."""
    found: list[type[Exception]] = [OSError]
    for name in _FAILURES.get(_ALIASES.get(scheme, scheme), ()):
        module, _, kind = name.partition(":")
        found.append(getattr(import_module(module), kind))
    return tuple(found)


def _tell_failure(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def _gather_folders(
    objects: Mapping[str, Mapping[str, Any]], root: str
) -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
    """The objects by folder and name, as if they were files; folders stand in those above them."""
    folders: defaultdict[str, dict[str, Mapping[str, Any]]] = defaultdict(dict)
    for full, said in objects.items():
        path = full.removeprefix(f"{root}/")
        if path == full or path.endswith("/"):  # no part of the prefix, or a mark for a folder
            continue
        folder, slash, name = path.rpartition("/")
        folders[folder + slash][name] = said
        while slash:
            above, slash, name = folder.rpartition("/")
            folders[above + slash].setdefault(f"{name}/", {})
            folder = above
    return folders


def _read_stat(said: Mapping[str, Any]) -> FileStat:
    """Which state of an object this is; one whose store tells no state is always another."""
    tag = next((str(said[name]) for name in _TAGS if said.get(name)), "")
    modified = next((said[name] for name in _TIMES if said.get(name)), 0)
    if isinstance(modified, str):
        modified = datetime.fromisoformat(modified)
    if isinstance(modified, datetime):
        aware = modified if modified.tzinfo is not None else modified.replace(tzinfo=UTC)
        modified = aware.timestamp()
    modified_ns = round(modified * 1e6) * 1000
    unknown = not (tag or modified_ns)
    return FileStat(int(said.get("size") or 0), modified_ns, 0, int(unknown), tag)
