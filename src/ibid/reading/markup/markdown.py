"""Markdown: CommonMark with tables, walked token by token into the text that a reader sees."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from html import unescape
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, reference
from markdown_it.rules_block.table import escapedSplit
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from ibid.reading.builder import DocumentBuilder, format_table, join_lines, normalize_text
from ibid.reading.encodings import decode_bytes
from ibid.reading.markup.front_matter import FrontMatter, apply_front_matter, split_front_matter
from ibid.reading.pages import report_pages
from ibid.reading.text import build_text
from ibid.records import BlockKind, Document

_CHARACTERS_A_PAGE: Final = 3000
# The parser drops what is nested deeper than it allows; Python's own limit stops it before this.
_MAX_NESTING: Final = 1_000_000

# What stands before the first cell of a row: signs of quotes and lists, and a bar.
_ROW_START: Final = re.compile(r"(?:[\s>]|[-*+]\s|\d{1,9}[.)]\s)*\|?")
_SPACES: Final = re.compile("[ \t]+")
_SHORTCODE: Final = re.compile(r"\{\{<(?:(?!\{\{).)*?>\}\}|\{\{%(?:(?!\{\{).)*?%\}\}", re.S)
_HEADING_ATTRIBUTES: Final = re.compile(r"\s*\{\s*[#.][^{}\n]*\}$")
_UNSEEN_HTML: Final = re.compile(
    r"<!--.*?(?:-->|\Z)|<\?.*?\?>|<(script|style)\b.*?(?:</\1\s*>|\Z)", re.S | re.I
)
_TAG: Final = re.compile(r"""</?([a-zA-Z][\w:-]*)(?:[^<>"']|"[^"]*"|'[^']*')*>""")
_INLINE_TAG: Final = re.compile(
    "(a|abbr|b|bdi|bdo|cite|code|del|dfn|em|font|i|ins|kbd|mark|q|s|samp|small|span|strong"
    "|sub|sup|time|tt|u|var|wbr)",
    re.I,
)


def read_markdown(data: bytes, name: str) -> Document:
    """The text that a reader of the rendered page sees, each block with its lines in the source.

    Markup and the targets of links are left out; words of links, alternative texts of images and
    code are kept, tables as Markdown rows, lists with markers. The title is the front matter's,
    else the first heading of level 1. Without a body the front matter's title and description
    are the text.

    Raises UnsupportedFormat for bytes that are no text, EmptyDocument for nothing to see, and
    UnreadableDocument for front matter that leaves open who may see it.
    """
    matter = split_front_matter(normalize_text(decode_bytes(data)))
    report_pages(len(matter.body) // _CHARACTERS_A_PAGE)
    try:
        document = _build_document(matter)
    except RecursionError:  # nested beyond what can be parsed: kept whole as plain text
        document = build_text(matter.body, line=matter.lines + 1)
    return apply_front_matter(document, matter.fields)


def _build_document(matter: FrontMatter) -> Document:
    builder = DocumentBuilder()
    walker = _Walker(builder, matter.body, matter.lines)
    walker.walk()
    if builder.is_empty:
        lines = (1, max(matter.lines, 1))
        title, description = (_as_text(matter.fields.get(k)) for k in ("title", "description"))
        builder.append(BlockKind.HEADING, title, level=1, lines=lines)
        builder.append(BlockKind.PARAGRAPH, description, lines=lines)
    return builder.build(title=walker.title, media_type="text/markdown")


def append_markdown(builder: DocumentBuilder, source: str) -> str | None:
    """Put what a reader of the rendered source sees; gives its first heading of level 1."""
    walker = _Walker(builder, source)
    walker.walk()
    return walker.title


def _as_text(value: object) -> str:
    return "" if value is None else str(value)


@cache
def _parser() -> MarkdownIt:
    """CommonMark with tables and strike-through, and the two rules below."""
    parser = MarkdownIt("commonmark", {"maxNesting": _MAX_NESTING})
    parser.enable(["table", "strikethrough"])
    parser.inline.ruler.before("backticks", "shortcode", _skip_shortcode)
    parser.block.ruler.at("reference", _parse_reference)
    return parser


def _skip_shortcode(state: StateInline, silent: bool) -> bool:
    """An inline rule: the tag of a static site generator, `{{< … >}}`, is not seen."""
    match = _SHORTCODE.match(state.src, state.pos) if state.src[state.pos] == "{" else None
    if match is None:
        return False
    state.pos = match.end()
    return True


def _parse_reference(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A block rule: where links lead to is not seen, but a footnote, `[^1]: …`, is."""
    if state.src.startswith("[^", state.bMarks[start] + state.tShift[start]):
        return False
    return reference(state, start, end, silent)


class _Walker:
    """Goes through the tokens of a page and puts what they show into a builder."""

    def __init__(
        self, builder: DocumentBuilder, source: str, line_offset: int | None = None
    ) -> None:
        self.builder = builder
        self._source = source
        self._lines = source.split("\n")
        self.title: str | None = None
        self._line_offset = line_offset  # None where the lines are not those of a file
        self._numbers: list[int | None] = []  # next number of each open list, None for bullets
        self._rows: list[list[str]] = []
        self._row_lines: list[int] = []  # of the source, from 0

    def walk(self) -> None:
        """Put every block of the page in its order."""
        tokens = _parser().parse(self._source)
        for i, token in enumerate(tokens):
            if token.type == "inline":
                self._put_inline(token, tokens[i - 1])
            elif token.type in _HANDLERS:
                _HANDLERS[token.type](self, token)

    def _put_inline(self, token: Token, parent: Token) -> None:
        text = render_inline(token.children or ())
        if parent.type in ("th_open", "td_open"):
            self._rows[-1].append(text)
        elif parent.type == "heading_open":
            text = _HEADING_ATTRIBUTES.sub("", " ".join(text.split()))
            level = int(parent.tag[1])
            if level == 1 and self.title is None:
                self.title = text or None
            self._append(BlockKind.HEADING, text, parent, level)
        else:
            self._append(BlockKind.PARAGRAPH, text, token)

    def _append(self, kind: BlockKind, text: str, token: Token, level: int = 0) -> None:
        lines = None
        if token.map and self._line_offset is not None:
            first, end = token.map
            lines = (first + 1 + self._line_offset, end + self._line_offset)
        self.builder.append(kind, text, level=level, lines=lines)

    def put_code(self, token: Token) -> None:
        """A fence or an indented block: its content as it stands."""
        self._append(BlockKind.CODE, token.content, token)

    def put_html(self, token: Token) -> None:
        """A block of HTML: the text between its tags."""
        self._append(BlockKind.PARAGRAPH, strip_tags(token.content), token)

    def open_list(self, token: Token) -> None:
        """A list: numbered from where its first item says, or with bullets."""
        ordered = token.type == "ordered_list_open"
        self._numbers.append(int(token.attrs.get("start", 1)) if ordered else None)

    def close_list(self, token: Token) -> None:
        """The end of a list."""
        self._numbers.pop()
        self.builder.close_list()

    def open_item(self, token: Token) -> None:
        """A list item with the marker that a reader sees."""
        number = self._numbers[-1]
        self.builder.open_item("-" if number is None else f"{number}.")
        if number is not None:
            self._numbers[-1] = number + 1

    def close_item(self, token: Token) -> None:
        """The end of a list item."""
        self.builder.close_item()

    def open_row(self, token: Token) -> None:
        """A row of a table: its cells follow."""
        self._rows.append([])
        self._row_lines.append((token.map or [0])[0])

    def close_table(self, token: Token) -> None:
        """The end of a table: its rows are put."""
        rows, self._rows = self._rows, []
        numbers, self._row_lines = self._row_lines, []
        first, end = self._table.map or (0, 0)
        lines = self._lines[first:end]
        if any(line.strip("|> \t").count("|") >= len(rows[0]) for line in lines):
            for row, number in zip(rows, numbers, strict=True):
                row += _find_excess(lines[number - first], len(row))
        self._append(BlockKind.TABLE, format_table(rows, header=True), self._table)

    def open_table(self, token: Token) -> None:
        """The beginning of a table."""
        self._table = token


def _find_excess(line: str, width: int) -> list[str]:
    """The cells of a row that go beyond those of the header: CommonMark's tables drop them."""
    cells = escapedSplit(_ROW_START.sub("", line, count=1).strip())[width:]
    pieces = (_parser().parseInline(cell.strip())[0].children for cell in cells if cell.strip())
    return [render_inline(children or ()) for children in pieces]


_HANDLERS: Final[dict[str, Callable[[_Walker, Token], None]]] = {
    "fence": _Walker.put_code,
    "code_block": _Walker.put_code,
    "html_block": _Walker.put_html,
    "bullet_list_open": _Walker.open_list,
    "ordered_list_open": _Walker.open_list,
    "bullet_list_close": _Walker.close_list,
    "ordered_list_close": _Walker.close_list,
    "list_item_open": _Walker.open_item,
    "list_item_close": _Walker.close_item,
    "table_open": _Walker.open_table,
    "tr_open": _Walker.open_row,
    "table_close": _Walker.close_table,
}


def render_inline(tokens: Sequence[Token]) -> str:
    r"""The text of inline tokens: a hard break is `\n`, a soft one a space or nothing."""
    lines = [""]
    hard: list[str] = []
    for token in tokens:
        if token.type == "softbreak":
            lines.append("")
        elif token.type == "hardbreak" or (
            token.type == "html_inline" and token.content[:3].lower() == "<br"
        ):
            hard.append(_join(lines))
            lines = [""]
        elif token.type == "image":
            lines[-1] += render_inline(token.children or ())
        elif token.type != "html_inline":
            lines[-1] += token.content
    hard.append(_join(lines))
    return "\n".join(hard)


def _join(lines: Iterable[str]) -> str:
    return join_lines(filter(None, (_SPACES.sub(" ", line).strip() for line in lines)))


def strip_tags(html: str) -> str:
    """The text of a piece of HTML, a line for each element that stands on its own."""
    html = _SHORTCODE.sub("", _UNSEEN_HTML.sub("", html))
    text = _TAG.sub(lambda tag: "" if _INLINE_TAG.fullmatch(tag[1]) else "\n", html)
    lines = (" ".join(line.split()) for line in unescape(text).split("\n"))
    return "\n".join(filter(None, lines))
