"""A website as a source: the pages that a sitemap or a list of URLs names.

Each sync asks for every known page whether it is still as it was (a conditional HEAD), and fetches
the new and changed ones.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, urlsplit

from ibid.errors import BadSetting, GoneDocument, IbidError, InputError, UnreadableDocument
from ibid.protocols import Fetched, FileStat, SourceFile
from ibid.sources.ahead import map_ahead, refuse_size
from ibid.sources.walk import is_printable
from ibid.sources.web.lists import MAX_LIST_BYTES, Listing, parse_list
from ibid.sources.web.visitor import Forbidden, Unreachable, Visitor, read_within

if TYPE_CHECKING:
    import httpx2

AT_ONCE: Final = 4
"""Pages that are asked for at once, of all hosts together."""

MOST_LISTS: Final = 1_000
MOST_PAGES: Final = 500_000
"""What one source may name: a list that leads on without end is no list."""

UNKNOWN: Final = FileStat(0, 0, 0, 1)
"""Of a page of which only its body tells the state: it is always another than was read."""

_GONE: Final = frozenset({404, 410})
_NO_HEAD: Final = frozenset({405, 501})
_VAGUE: Final = frozenset({"", "text/plain", "application/octet-stream", "binary/octet-stream"})
"""What servers call files that they know nothing of: the name and the bytes tell more."""


class WebSource:
    """The pages that the list at a URL names: a sitemap, an index of them, or a URL a line.

    A page's path is that of its URL, behind the host where that is another one than the list's.
    What robots.txt forbids is skipped. A page that its server says is gone, is; one that can't be
    had stays as it is, and so does everything where the list can't be had whole.

    Raises BadSetting for an address with a password in it.
    """

    def __init__(self, url: str, open_visitor: Callable[[str], Visitor] = Visitor) -> None:
        if "@" in urlsplit(url).netloc:
            raise BadSetting(
                "the address of a website holds a name or password, which would be kept",
                hint="leave it out",
            )
        self.location = url
        self.unreadable: dict[str, str] = {}
        self._open_visitor = open_visitor
        self._urls: dict[str, str] = {}

    def scan(
        self, recall: Callable[[str], FileStat | None] = lambda path: None
    ) -> Iterator[SourceFile]:
        """Every page that the list names, in the order of its path.

        Raises InputError where a list can't be had or understood, and for one without a page.
        """
        self.unreadable.clear()
        with self._visiting() as visitor:
            self._urls, skipped = _name_pages(self._list_pages(visitor), self.location)
            if not self._urls:
                raise InputError(f"{self.location} names no page", hint="nothing was changed")
            yield from skipped
            look = partial(self._look_at, visitor=visitor, recall=recall)
            with closing(map_ahead(sorted(self._urls), look, most=AT_ONCE)) as found:
                yield from (one for one in found if one is not None)

    @contextmanager
    def fetch(self, files: Iterable[SourceFile], *, max_bytes: int) -> Iterator[Iterator[Fetched]]:
        """A copy of each page, in a folder that is gone after the `with`."""
        with TemporaryDirectory(prefix="ibid-pages-") as folder, self._visiting() as visitor:
            places = (Path(folder) / str(number) for number in itertools.count())
            bring = partial(self._bring, visitor=visitor, places=places, max_bytes=max_bytes)
            with closing(map_ahead(files, bring, most=AT_ONCE)) as fetched:
                yield fetched

    def read_text(self, path: str) -> str | None:
        """None: who may see a page is not for its website to say."""
        return None

    # -- the list --------------------------------------------------------------------------------

    @contextmanager
    def _visiting(self) -> Iterator[Visitor]:
        try:
            visitor = self._open_visitor(self.location)
        except (OSError, ValueError) as error:
            raise InputError(
                f"{self.location} can't be reached: {error}", hint="nothing was changed"
            ) from error
        with closing(visitor):
            yield visitor

    def _list_pages(self, visitor: Visitor) -> Iterator[str]:
        """The pages that the list and those that it leads to name."""
        waiting, seen, pages = [self.location], {self.location}, 0
        while waiting:
            url = waiting.pop(0)
            listing = self._read_list(url, visitor)
            for named in (*listing.lists, *listing.pages) if listing.sitemap else ():
                if urlsplit(named).hostname != urlsplit(self.location).hostname:
                    raise InputError(
                        f"{url} is the sitemap of its own host and names {named[:200]}",
                        hint="nothing was changed; a text list may name pages of other hosts",
                    )
            pages += len(listing.pages)
            yield from listing.pages
            waiting += [named for named in listing.lists if named not in seen]
            seen.update(listing.lists)
            if len(seen) > MOST_LISTS or pages > MOST_PAGES:
                raise InputError(
                    f"{self.location} names more than {MOST_LISTS:,} lists or {MOST_PAGES:,} pages",
                    hint="nothing was changed; sync its parts one by one",
                )

    def _read_list(self, url: str, visitor: Visitor) -> Listing:
        try:
            with visitor.ask("GET", url, as_robot=False) as response:
                if not response.is_success:
                    raise Unreachable(f"status {response.status_code}")
                data = b"".join(read_within(response, MAX_LIST_BYTES))
        except (Unreachable, OverflowError) as error:
            raise InputError(
                f"{url} can't be had: {error}", hint="nothing was changed; try again later"
            ) from error
        return parse_list(data, url)

    # -- pages -----------------------------------------------------------------------------------

    def _look_at(
        self, path: str, *, visitor: Visitor, recall: Callable[[str], FileStat | None]
    ) -> SourceFile | None:
        """A page with the state that it is in; a new one is not asked for before it is fetched."""
        known = recall(path)
        if known is None:
            return SourceFile(path, UNKNOWN)
        try:
            with visitor.ask("HEAD", self._urls[path], _ask_whether(known)) as response:
                status, found = response.status_code, _read_stat(response.headers)
        except Forbidden as error:
            return SourceFile(path, UNKNOWN, str(error))
        except Unreachable as error:
            self.unreadable[path] = str(error)
            return None
        if status in _GONE:
            return SourceFile(path, UNKNOWN, f"gone: the server answers with {status}")
        if status == 304:
            return SourceFile(path, known)
        if status in _NO_HEAD:
            return SourceFile(path, UNKNOWN)
        if not 200 <= status < 300:
            self.unreadable[path] = f"the server answers with {status}"
            return None
        return SourceFile(path, found or UNKNOWN)

    def _bring(
        self, file: SourceFile, *, visitor: Visitor, places: Iterator[Path], max_bytes: int
    ) -> Fetched:
        """A copy of a page; what went wrong is its error, and known pages stay as they are."""
        url = self._urls[file.path]
        error: IbidError
        try:
            with visitor.ask("GET", url) as response:
                if response.is_success:
                    return _save(response, file, url, next(places), max_bytes)
                status = response.status_code
        except Forbidden as forbidden:
            error = GoneDocument(str(forbidden))
        except Unreachable as unreachable:
            error = UnreadableDocument(f"can't be fetched: {unreachable}")
        else:
            kind = GoneDocument if status in _GONE else UnreadableDocument
            error = kind(f"the server answers with {status}")
        return Fetched(file, url, error=error)


def _save(
    response: httpx2.Response, file: SourceFile, url: str, path: Path, max_bytes: int
) -> Fetched:
    """The body of a page in a file, with its state and type; the error of one that is too large."""
    found = _read_stat(response.headers) or UNKNOWN._replace(changed_ns=0)
    said = response.headers.get("content-length", "")
    error = refuse_size(int(said) if said.isdigit() else 0, max_bytes)
    if error is None:
        try:
            with path.open("wb") as copy:
                copy.writelines(read_within(response, max_bytes))
        except OverflowError:
            path.unlink()
            error = refuse_size(max_bytes + 1, max_bytes)
    if error is not None:
        return Fetched(file, url, stat=found, error=error)
    media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    told = None if media_type in _VAGUE else media_type
    return Fetched(file, url, path, found, told, copy=True)


def _name_pages(urls: Iterable[str], location: str) -> tuple[dict[str, str], list[SourceFile]]:
    """The pages by path, and those whose path another one has."""
    named: dict[str, str] = {}
    skipped = []
    for url in urls:
        path = name_page(url, location)
        if named.setdefault(path, url) != url:
            reason = f"another page has this path: {named[path]}"
            skipped.append(SourceFile(f"{path} ({url})", UNKNOWN, reason))
    return named, skipped


def name_page(url: str, location: str) -> str:
    """The path of a page: that of its URL, readable where that is plain; `index` for the top."""
    parts = urlsplit(url)
    path = unquote(parts.path)
    if not is_printable(path) or "�" in path or set(path) & set("?#\\") or "%2f" in url.lower():
        path = parts.path
    path = path.strip("/") or "index"
    if parts.query:
        path = f"{path}?{parts.query}"
    return path if parts.netloc == urlsplit(location).netloc else f"{parts.netloc}/{path}"


def _ask_whether(known: FileStat) -> dict[str, str]:
    """The headers that ask whether a page is still as it is known."""
    if known.tag:
        return {"if-none-match": known.tag}
    if known.modified_ns:
        moment = datetime.fromtimestamp(known.modified_ns // 10**9, UTC)
        return {"if-modified-since": format_datetime(moment, usegmt=True)}
    return {}


def _read_stat(headers: Mapping[str, str]) -> FileStat | None:
    """The state of a page by what its server says, None where that says nothing."""
    tag = headers.get("etag", "")
    try:
        modified = parsedate_to_datetime(headers.get("last-modified", ""))
        modified_ns = int(modified.timestamp()) * 10**9
    except (ValueError, OverflowError):
        modified_ns = 0
    return FileStat(0, modified_ns, 0, 0, tag) if tag or modified_ns else None
