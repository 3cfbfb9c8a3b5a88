"""Links in an answer: those to its sources stay, all others become their words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from ibid.record import record
from ibid.records import Hit

LONGEST: Final = 2_000
"""Characters after which what began like a link is no longer waited for."""

_OPENS: Final = re.compile(
    r"!?\[|<(?=[a-z/!]|\Z)|(?:https?|ftp):|www\.|!\Z"
    r"|\b(?:h(?:t(?:t(?:ps?)?)?)?|f(?:tp?)?|w(?:ww?)?)\Z",
    re.IGNORECASE,
)
_LINK: Final = re.compile(
    r"(?P<image>!?)\[(?P<words>[^\]\n]{0,300})\]\(\s*<?(?P<url>[^)\s>]*)[^)\n]*\)"
)
_DEFINITION: Final = re.compile(r"\[[^\]\n]{1,100}\]:[ \t]*<?(?P<url>[^\s>]+)>?[^\n]*")
_TAG: Final = re.compile(r"<(?P<name>/?[a-zA-Z!][\w-]*)(?P<rest>[^<>]*)>")
_URL: Final = re.compile(r"(?:(?:https?|ftp)://|www\.)[^\s<>\[\]()\"'`“”«»。，、]+", re.IGNORECASE)
_UNFINISHED: Final = re.compile(
    r"!|h(?:t(?:t(?:ps?:?/?/?)?)?)?|f(?:t(?:p:?/?/?)?)?|w(?:w(?:w\.?)?)?"
    r"|(?:(?:https?|ftp)://|www\.)[^\s<>\[\]()\"'`“”«»。，、]*"
    r"|!?\[[^\]\n]{0,300}|!?\[[^\]\n]{0,300}\](?:\([^)\n]*|:[^\n]*)?|<[^<>]*",
    re.IGNORECASE,
)
_LOADING: Final = re.compile(
    r"/?(?:img|image|script|iframe|object|embed|link|style|form|input|video|audio|source|svg|meta"
    r"|base|a|area|frame|frameset|applet|portal)\Z",
    re.IGNORECASE,
)
_LOADING_OPENS: Final = re.compile(
    _LOADING.pattern.removesuffix(r"\Z") + r"(?![\w-])", re.IGNORECASE
)
_FETCHING: Final = re.compile(
    r"\b(?:src|href|srcset|url|style|on\w+|action|data|background|poster|ping|cite)\s*=",
    re.IGNORECASE,
)


@record
class _Allowed:
    """What an answer may link to: where its sources are; and the words of these sources."""

    urls: frozenset[str]
    text: str

    def holds(self, url: str) -> bool:
        return url.partition("#")[0] in self.urls

    def says(self, text: str) -> bool:
        return text.rstrip(".,;:!?") in self.text


def guard_links(pieces: Iterable[str], sources: Sequence[Hit]) -> Iterator[str]:
    """The text of an answer with links to its sources only, in pieces that never end inside one.

    An image is gone, with what it would have told whom it is fetched from; a link to elsewhere is
    its words; a bare address stays where a source has it letter for letter. HTML that loads or
    links is dropped, and shown as code where a source says it. Between backticks, what a source
    says letter for letter stays as it is; nothing else is taken for code, which one stray backtick
    would begin.
    """
    allowed = _Allowed(
        frozenset(hit.document.source.partition("#")[0] for hit in sources if hit.document.source),
        "\n".join(hit.passage.text for hit in sources),
    )
    held, ticks = "", 0
    for piece in pieces:
        held += piece
        shown, held, ticks = _read_links(held, allowed, ticks, done=False)
        if shown:
            yield shown
    shown, _, _ = _read_links(held, allowed, ticks, done=True)
    if shown:
        yield shown


def _read_links(text: str, allowed: _Allowed, ticks: int, *, done: bool) -> tuple[str, str, int]:
    """What can be shown of a text, what must wait, and the count of backticks shown so far."""
    shown, place = "", 0
    while opening := _OPENS.search(text, place):
        start = opening.start()
        ticks += text.count("`", place, start)
        shown, place = shown + text[place:start], start
        waits = _UNFINISHED.fullmatch(text, start) and len(text) - start < LONGEST
        if waits and not done:
            return shown, text[start:], ticks
        written, place = _write_link(text, start, allowed)
        if ticks % 2 and allowed.says(text[start:place]):
            written = text[start:place]
        shown += written
    ticks += text.count("`", place)
    return shown + text[place:], "", ticks


def _write_link(text: str, start: int, allowed: _Allowed) -> tuple[str, int]:
    """What is shown for what begins here, and where it ends; one character when it is no link."""
    if link := _LINK.match(text, start):
        return _write_words(link, allowed), link.end()
    if definition := _DEFINITION.match(text, start):
        kept = definition[0] if allowed.holds(definition["url"]) else ""
        return kept, definition.end()
    if tag := _TAG.match(text, start):
        return _write_tag(tag, allowed), tag.end()
    if url := _URL.match(text, start):
        kept = url[0] if allowed.holds(url[0]) or allowed.says(url[0]) else "(a link was left out)"
        return kept, url.end()
    if text[start] == "<" and _LOADING_OPENS.match(text, start + 1):
        return "", start + 1  # a tag that never ends, or holds another's beginning
    return text[start], start + 1


def _write_words(link: re.Match[str], allowed: _Allowed) -> str:
    if link["image"]:
        return ""
    return link[0] if allowed.holds(link["url"]) else link["words"]


def _write_tag(tag: re.Match[str], allowed: _Allowed) -> str:
    address = _URL.match(tag[0], 1)
    if address:
        return _write_link(tag[0], 1, allowed)[0]
    if not (_LOADING.match(tag["name"]) or _FETCHING.search(tag["rest"])):
        return tag[0]
    return f"`{tag[0]}`" if allowed.says(tag[0]) else ""
