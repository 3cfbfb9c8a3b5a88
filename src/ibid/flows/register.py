"""Sources in the library's book: which folder it is, which prefix its documents' ids have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, count
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from ibid.errors import BadQuery, UnknownSource
from ibid.flows.options import EVERYTHING
from ibid.flows.stopwatch import Stopwatch
from ibid.protocols import Index, RemoveDocument, Source, SourceInfo
from ibid.records import IngestReport, PassageCounts


def register_source(index: Index, source: Source, *, prefix: str | None = None) -> SourceInfo:
    """What the library knows of a source, or what it will: it is recorded when it is synced.

    The first source has no prefix, a later one its base name, unless one is given. Raises
    BadQuery for a prefix in use, or another one than the source was first synced with.
    """
    known = index.sources()
    if prefix is not None:
        prefix = prefix.strip("/")
    for info in known:
        if info.location == source.location:
            if prefix not in (None, info.prefix):
                raise BadQuery(
                    f"{info.location} was synced with the prefix {info.prefix!r}, not {prefix!r}",
                    hint=f"leave --prefix out, or forget the source first: ibid forget {info.name}",
                )
            return info
    base = _name_source(source.location)
    if prefix is None:
        prefix = base if known else ""
    for info in known:
        if info.prefix == prefix:
            raise BadQuery(
                f"the prefix {prefix!r} is in use by {info.location}",
                hint="give another one with --prefix",
            )
    return SourceInfo(find_free_name(base, {info.name for info in known}), source.location, prefix)


def _name_source(location: str) -> str:
    """The base name of a folder or prefix; of a website its host."""
    url = urlsplit(location)
    if url.scheme in ("http", "https"):
        return url.hostname or "root"
    return PurePosixPath(unquote(url.path)).name or url.netloc or "root"


def find_free_name(base: str, taken: set[str]) -> str:
    """The name, or it with the first number that makes it one that is not taken."""
    numbered: Iterator[str] = (f"{base}-{number}" for number in count(2))
    return next(name for name in chain([base], numbered) if name not in taken)


def forget_source(index: Index, name: str) -> IngestReport:
    """Remove a source, by its name or location, and its documents from now on.

    Raises UnknownSource.
    """
    watch = Stopwatch()
    with watch.timing("total"), index.writing():
        info = _find_source(index.sources(), name)
        snapshot = index.snapshot()
        ids = list(snapshot.content_hashes(info.name))
        passages = sum(snapshot.document(id, EVERYTHING).info.passages for id in ids)
        with watch.timing("writing"):
            version = index.commit([RemoveDocument(id) for id in ids], {})
            index.drop_source(info.name)
    return IngestReport(
        version=version,
        removed=tuple(ids),
        passages=PassageCounts(removed=passages),
        seconds=watch.seconds,
    )


def _find_source(sources: Iterable[SourceInfo], name: str) -> SourceInfo:
    for info in sources:
        if name in (info.name, info.location):
            return info
    raise UnknownSource(f"no source {name!r}", hint="`ibid sources` lists them")
