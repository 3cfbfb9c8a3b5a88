"""AsciiDoc: read line by line, its blocks by their delimiters, its marks of format left out."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from ibid.reading.builder import DocumentBuilder, format_table, join_lines, normalize_text
from ibid.reading.encodings import decode_bytes
from ibid.reading.pages import report_pages
from ibid.records import JSON, BlockKind, Document

_CHARACTERS_A_PAGE: Final = 3000
_MAX_LINE: Final = 10_000  # characters; in a longer one the marks of format stay
_TITLE: Final = re.compile(r"(={1,6}|#{1,6})[ \t]+(\S.*?)(?:[ \t]+=+)?$")
_UNDERLINES: Final = "=-~^+"  # of the older kind of title, by level
_UNDERLINE: Final = re.compile(r"(=|-|~|\^|\+)\1{2,}$")
_ATTRIBUTE: Final = re.compile(r":(!?[\w-]+!?):(?:[ \t]+(.*))?$")
_REFERENCE: Final = re.compile(r"\{([\w-]+)\}")
_UNSEEN: Final = re.compile(
    r"//(?!/)|\[\[[^\]]*\]\]$|(?:include|ifdef|ifndef|ifeval|endif|toc|unset)::|'{3,}$|<{3,}$"
    r"|-{3}$|\*{3}$"
)
_BLOCK_ATTRIBUTES: Final = re.compile(r"\[([^\[\]]*)\]$")
_CAPTION: Final = re.compile(r"\.([^\s.].*)$")
_FENCE: Final = re.compile(r"(-{4,}|\.{4,}|={4,}|\*{4,}|_{4,}|\+{4,}|/{4,}|--|```\w*|[|,:!]={3,})$")
_ITEM: Final = re.compile(r"[ \t]*(\*{1,5}|-|\.{1,5}|\d{1,9}\.|<(?:\d+|\.)>)[ \t]+(\S.*)$")
_CHECKBOX: Final = re.compile(r"\[([ xX*])\][ \t]+")
_TERM: Final = re.compile(r"[ \t]*(\S.*?)(:{2,4}|;;)(?:[ \t]+(.*))?$")
_IMAGE: Final = re.compile(r"(?:image|video|audio)::?[^\s\[]+\[([^\],]*)[^\]]*\]")
_ADMONITIONS: Final = frozenset({"NOTE", "TIP", "IMPORTANT", "WARNING", "CAUTION"})
_VERBATIM: Final = frozenset({"source", "listing", "literal", "stem", "latexmath", "asciimath"})
_CELL: Final = re.compile(
    r"(?:(?<!\S)(?:(\d+)?(?:\.\d+)?[+*])?[<^>]?(?:\.[<^>])?[adehlmsv]?)?(?<!\\)\|"
)
_INLINE: Final = (
    (re.compile(r"\[\[[^\]]*\]\]|\(\(\(.*?\)\)\)|indexterm2?:\[[^\]]*\]"), ""),
    (_IMAGE, r"\1"),
    (re.compile(r"<<[^<>,]+,([^<>]+)>>"), r"\1"),
    (re.compile(r"<<#?([^<>]+)>>"), r"\1"),
    (re.compile(r"(?:xref|link|mailto):[^\s\[]*\[([^\],]+)[^\]]*\]"), r"\1"),
    (re.compile(r"(?:xref|link|mailto):([^\s\[]+)\[\]"), r"\1"),
    (re.compile(r"((?:https?|ftp|irc)://[^\s\[\]]+)\[\]"), r"\1"),
    (re.compile(r"(?:https?|ftp|irc)://[^\s\[\]]+\[([^\]]+)\]"), r"\1"),
    (re.compile(r"(?:footnote|footnoteref):\w*\[([^\]]*)\]"), r" (\1)"),
    (re.compile(r"(?:kbd|btn|menu|stem|pass|latexmath|asciimath):\w*\[([^\]]*)\]"), r"\1"),
    (re.compile(r"\[[.#\w-]+\](?=[#*_`])"), ""),
    (re.compile(r"`\+(.+?)\+`"), r"\1"),
    (re.compile(r"(\*\*|__|``|##)(\S|\S.*?\S)\1"), r"\2"),
    (re.compile(r"(?<![\w*_`#])([*_`#+])(\S|\S.*?\S)\1(?![\w*_`#])"), r"\2"),
    (re.compile(r"`([^`]+)`"), r"\1"),
    (re.compile(r"[ \t]\+$"), ""),
)


def read_asciidoc(data: bytes, name: str) -> Document:
    """The text that a reader of the rendered page sees, each block with its lines in the source.

    Titles, lists, tables, code and admonitions are kept as such; attributes are put where they
    are named, and are not seen themselves. No other file is included. The title is the
    document's own, author and date its metadata.

    Raises UnsupportedFormat for bytes that are no text, EmptyDocument for nothing to see.
    """
    source = normalize_text(decode_bytes(data))
    report_pages(len(source) // _CHARACTERS_A_PAGE)
    parser = _Parser([line.rstrip() for line in source.split("\n")])
    parser.parse()
    attributes = parser.attributes
    metadata: dict[str, JSON] = {
        name: attributes[key]
        for name, key in (("author", "author"), ("date", "revdate"), ("version", "revnumber"))
        if attributes.get(key)
    }
    return parser.builder.build(title=parser.title or None, metadata=metadata)


class _Parser:
    """Goes through the lines once; what stands before a block waits until that comes."""

    def __init__(self, lines: list[str]) -> None:
        self.builder = DocumentBuilder()
        self.title = ""
        self.attributes: dict[str, str] = {}
        self._lines = lines
        self._at = 0
        self._style = ""  # what the attributes before a block say of it
        self._label = ""  # of the admonition at hand
        self._depths: list[str] = []  # markers of the open lists, outermost first
        self._numbers: list[int] = []

    def parse(self) -> None:
        """Put every block in its order."""
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if not line.strip():
                self._at += 1
                if not self._goes_on():
                    self._close_lists()
            elif line == "+" and self._depths:
                self._at += 1
            elif not any(take(self, line) for take in _TAKERS):
                self._take_paragraph()
        self._close_lists()

    def _goes_on(self) -> bool:
        """True where an open list goes on after a blank line."""
        line = next((line for line in self._lines[self._at :] if line.strip()), "")
        return bool(self._depths and (_ITEM.match(line) or _TERM.match(line)))

    def _put(self, kind: BlockKind, text: str, first: int, *, level: int = 0) -> None:
        """Put a block that began at the line `first` and ends before the one at hand."""
        if self._label and kind is BlockKind.PARAGRAPH and text:
            text, self._label = f"{self._label}: {text}", ""
        lines = (first + 1, max(self._at, first + 1))
        self.builder.append(kind, text, level=level, lines=lines)
        self._style = ""

    def _close_lists(self, keep: int = 0) -> None:
        while len(self._depths) > keep:
            self.builder.close_item()
            self._depths.pop()
            self._numbers.pop()
        if not keep:
            self.builder.close_list()

    def take_unseen(self, line: str) -> bool:
        """A comment, an anchor, a rule, or a directive that asks for another file."""
        if not _UNSEEN.match(line):
            return False
        self._at += 1
        return True

    def take_attribute(self, line: str) -> bool:
        """A line that sets an attribute, or attributes of the block that follows."""
        if match := _ATTRIBUTE.match(line):
            self.attributes[match[1].strip("!").lower()] = match[2] or ""
        elif match := _BLOCK_ATTRIBUTES.match(line):
            self._style = f"{self._style},{match[1]}" if self._style else match[1]
        else:
            return False
        self._at += 1
        return True

    def take_title(self, line: str) -> bool:
        """A title of the document or a section, marked before or underlined."""
        first, match = self._at, _TITLE.match(line)
        below = self._lines[first + 1] if first + 1 < len(self._lines) else ""
        if match:
            level, text = len(match[1]), match[2]
        elif _UNDERLINE.match(below) and abs(len(below) - len(line)) < 2 and line[0].isalnum():
            level, text = _UNDERLINES.index(below[0]) + 1, line
            self._at += 1
        else:
            return False
        self._at += 1
        self._close_lists()
        text = self._render([text])
        if level == 1 and self.builder.is_empty:
            self.title = text
            self._take_header()
        self._put(BlockKind.HEADING, text, first, level=level)
        return True

    def _take_header(self) -> None:
        """The lines right below the document's title: author, then revision."""
        for name in ("author", "revdate"):
            line = self._lines[self._at] if self._at < len(self._lines) else ""
            while line.startswith("//") or _ATTRIBUTE.match(line):
                self.take_unseen(line) or self.take_attribute(line)
                line = self._lines[self._at] if self._at < len(self._lines) else ""
            if not line.strip() or _FENCE.match(line) or _TITLE.match(line):
                return
            self._take_header_line(name, line)
            self._at += 1

    def _take_header_line(self, name: str, line: str) -> None:
        if name == "author":
            line = re.sub(r"\s*<[^>]*>", "", line)
        elif match := re.match(r"v?([\d.]+)\s*(?:,\s*(.*?))?(?::.*)?$", line):
            self.attributes["revnumber"] = match[1]
            line = match[2] or ""
        self.attributes[name] = line

    def take_caption(self, line: str) -> bool:
        """The title of the block that follows."""
        if not (match := _CAPTION.match(line)):
            return False
        self._at += 1
        style = self._style
        self._put(BlockKind.PARAGRAPH, self._render([match[1]]), self._at - 1)
        self._style = style
        return True

    def take_fence(self, line: str) -> bool:
        """A delimited block: code, a table or a comment whole, of others only the fence."""
        if not _FENCE.match(line):
            return False
        first = self._at
        self._at += 1
        if line[0] in "=*_" or line == "--":
            self._label = self._find_admonition() or self._label
            if self._is_verbatim() and line == "--":
                self._put(BlockKind.CODE, "\n".join(self._take_until(line)), first)
            return True
        end = "```" if line.startswith("`") else line
        content = self._take_until(end)
        if line.startswith(("|=", "!=")):
            rows, header = _read_table(content, self._style)
            cells = [[self._render(cell.split("\n")) for cell in row] for row in rows]
            self._put(BlockKind.TABLE, format_table(cells, header=header), first)
        elif line[0] != "/":
            self._put(BlockKind.CODE, "\n".join(content), first)
        return True

    def _take_until(self, end: str) -> list[str]:
        start = self._at
        while self._at < len(self._lines) and self._lines[self._at] != end:
            self._at += 1
        self._at += 1
        return self._lines[start : self._at - 1]

    def _find_admonition(self) -> str:
        kind = self._style.split(",")[0].split("%")[0].strip()
        return kind.capitalize() if kind in _ADMONITIONS else ""

    def _is_verbatim(self) -> bool:
        return self._style.split(",")[0].split("%")[0].strip() in _VERBATIM

    def take_item(self, line: str) -> bool:
        """An item of a list with bullets, numbers or callouts, or a term with its definition."""
        if match := _ITEM.match(line):
            marker, text = match[1], match[2]
            marker = "<>" if marker[0] == "<" else "1." if marker[0].isdigit() else marker
        elif (match := _TERM.match(line)) and not line.startswith(("http", "image")):
            marker, text = match[2], f"{match[1]}:{' ' + match[3] if match[3] else ''}"
        else:
            return False
        first = self._at
        self._at += 1
        keep = self._depths.index(marker) if marker in self._depths else len(self._depths)
        number = self._numbers[keep] + 1 if keep < len(self._numbers) else 1
        self._close_lists(keep) if keep else self._close_items()
        self._depths.append(marker)
        self._numbers.append(number)
        self.builder.open_item(f"{number}." if marker[0] in ".1<" else "-")
        text = _CHECKBOX.sub(lambda box: "[ ] " if box[1] == " " else "[x] ", text)
        self._put(BlockKind.PARAGRAPH, self._render([text, *self._take_lines()]), first)
        return True

    def _close_items(self) -> None:
        """End the open items; the list itself may go on."""
        while self._depths:
            self.builder.close_item()
            self._depths.pop()
            self._numbers.pop()

    def _take_lines(self) -> list[str]:
        """The lines up to a blank one or one that begins something else."""
        start = self._at
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if not line.strip() or line == "+" or _FENCE.match(line) or _UNSEEN.match(line):
                break
            if _BLOCK_ATTRIBUTES.match(line) or (self._depths and _is_item(line)):
                break
            self._at += 1
        return self._lines[start : self._at]

    def _take_paragraph(self) -> None:
        first = self._at
        self._at += 1
        lines = [self._lines[first], *self._take_lines()]
        if self._is_verbatim() or (lines[0][0] in " \t" and not self._depths):
            self._put(BlockKind.CODE, "\n".join(lines), first)
            return
        self._label = self._find_admonition() or self._label
        self._put(BlockKind.PARAGRAPH, self._render(lines), first)

    def _render(self, lines: list[str]) -> str:
        """The text of lines: attributes in their place, marks of format left out."""
        rendered = [""]
        for line in lines:
            text = _REFERENCE.sub(lambda m: self.attributes.get(m[1].lower(), m[0]), line.strip())
            for pattern, shown in _INLINE if len(text) <= _MAX_LINE else ():
                text = pattern.sub(shown, text)
            rendered.append(text)
        return join_lines(filter(None, (" ".join(text.split()) for text in rendered)))


def _is_item(line: str) -> bool:
    return bool(_ITEM.match(line) or _TERM.match(line))


def _read_table(lines: list[str], style: str) -> tuple[list[list[str]], bool]:
    """The cells of a table row by row; True where the first row is a header."""
    lines = [line for line in lines if not line.startswith("//")]
    filled = [i for i, line in enumerate(lines) if line.strip()]
    if not filled:
        return [], False
    blank_after = filled[0] + 1 < len(lines) and not lines[filled[0] + 1].strip()
    in_lines = [_split_cells(lines[i]) for i in filled]
    cols = re.search(r"cols=(?:\"([^\"]*)\"|(\d+\*?))", style)
    width = _count_columns(cols[1] or cols[2]) if cols else max(len(in_lines[0]), 1)
    cells = _split_cells("\n".join(lines))
    rows = [cells[i : i + width] for i in range(0, len(cells), width)]
    header = "header" in style or (blank_after and len(in_lines[0]) == width)
    return rows, header and "noheader" not in style


def _count_columns(cols: str) -> int:
    count = 0
    for column in re.split("[,;]", cols):
        times = re.match(r"\s*(\d+)\*", column)
        count += int(times[1]) if times else 1
    return min(count, 1000)


def _split_cells(text: str) -> list[str]:
    """The cells of lines; one that spans columns is followed by empty ones."""
    marks = list(_CELL.finditer(text))
    starts = [*(mark.start() for mark in marks), len(text)]
    before = text[: starts[0]].strip()
    cells = [before] if before else []
    for mark, end in zip(marks, starts[1:], strict=True):
        cells.append(text[mark.end() : end].strip().replace("\\|", "|"))
        if mark[1] and "+" in mark[0]:
            cells += [""] * (min(int(mark[1]), 100) - 1)
    return cells


_TAKERS: Final[tuple[Callable[[_Parser, str], bool], ...]] = (
    _Parser.take_fence,
    _Parser.take_unseen,
    _Parser.take_attribute,
    _Parser.take_title,
    _Parser.take_caption,
    _Parser.take_item,
)
