"""LaTeX: parsed by pylatexenc, which may read no other file; text plain, mathematics verbatim."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any, Final

from pylatexenc import latex2text, latexwalker
from pylatexenc.latex2text import LatexNodes2Text, MacroTextSpec
from pylatexenc.latexwalker import (
    LatexCharsNode,
    LatexEnvironmentNode,
    LatexGroupNode,
    LatexMacroNode,
    LatexWalker,
    LatexWalkerError,
)
from pylatexenc.macrospec import std_environment, std_macro

from ibid.reading.builder import DocumentBuilder, format_table, join_lines, normalize_text
from ibid.reading.encodings import decode_bytes
from ibid.reading.pages import report_pages
from ibid.reading.text import build_text
from ibid.records import BlockKind, Document

_CHARACTERS_A_PAGE: Final = 1000  # the parser is slow
_SECTIONS: Final = (
    "part",
    "chapter",
    "section",
    "subsection",
    "subsubsection",
    "paragraph",
    "subparagraph",
)
_SECTION: Final = re.compile(r"\\(" + "|".join(_SECTIONS) + r")\b")
_BLANK_LINES: Final = re.compile(r"\n[ \t]*\n\s*")
_BEGIN: Final = re.compile(r"\\begin\{[^}]*\}(?:\[[^\]\n]*\])?(?:\{[^}\n]*\})?[ \t]*\n?")
_END: Final = re.compile(r"\\end\{[^}]*\}$")

_FONT: Final = re.compile(r"\\font\s*\\([a-zA-Z]+)\s*=[^\n]*")

# How many arguments the parser has to take, where it does not know: "[" one that may be left out.
_MACROS: Final = {
    "href": "{{",
    "caption": "[{",
    "multicolumn": "{{{",
    "multirow": "[{[{[{",
    "textcolor": "[{{",
    "color": "[{",
    "bibitem": "[{",
    "label": "{",
    "cmidrule": "{",
    "cline": "{",
    "title": "[{",
    "author": "[{",
    "date": "{",
    "maketitle": "",
}
_ENVIRONMENTS: Final = {
    "minipage": "[[[{",
    "multicols": "{",
    "wrapfigure": "[{[{",
    "tabularx": "{[{",
    "tabulary": "{[{",
    "tabular*": "{[{",
    "longtable": "[{",
    "thebibliography": "{",
    "enumerate": "[",
    "itemize": "[",
    "description": "[",
    "adjustbox": "{",
}
_SHOWN: Final = {
    "href": "%(2)s (%(1)s)",
    "multicolumn": "%(3)s",
    "footnote": " (%(2)s)",
    "textcolor": "%(3)s",
    "LaTeX": "LaTeX",
    "TeX": "TeX",
    "BibTeX": "BibTeX",
}
_UNSEEN: Final = (
    "label index vspace hspace includegraphics today maketitle title author date color cline"
    " cmidrule input include bibliographystyle tableofcontents"
)
_REFERENCES: Final = (
    "ref eqref pageref autoref cref Cref cite citep citet citealp parencite textcite nocite"
)


def read_latex(data: bytes, name: str) -> Document:
    """The text of the document's body, each block with its lines in the source.

    Sections, lists, tables and verbatim text are kept as such, mathematics as it is written;
    comments and definitions are not seen, and no other file is read. The title is the document's
    own, author and date its metadata. What can't be parsed is kept as plain text.

    Raises UnsupportedFormat for bytes that are no text, EmptyDocument for nothing to see.
    """
    source = _blank_fonts(normalize_text(decode_bytes(data)))
    report_pages(len(source) // _CHARACTERS_A_PAGE)
    builder = DocumentBuilder()
    try:
        nodes, _, _ = LatexWalker(
            source, latex_context=_parser_context(), tolerant_parsing=True
        ).get_latex_nodes()
        said = {key: _find_said(nodes, key) for key in ("title", "author", "date")}
        walker = _Walker(builder, source, titled=bool(said["title"]))
        builder.append(BlockKind.HEADING, said["title"], level=1)
        walker.walk(_find_body(nodes))
    except (RecursionError, LatexWalkerError):
        return build_text(source)
    title = said.pop("title")
    return builder.build(title=title or None, metadata={k: v for k, v in said.items() if v})


def _blank_fonts(source: str) -> str:
    """The source with spaces for the fonts that it names and for where it turns to them."""
    names = [match[1] for match in _FONT.finditer(source)]
    if not names:
        return source
    used = re.compile(rf"{_FONT.pattern}|\\(?:{'|'.join(names)})(?![a-zA-Z])")
    return used.sub(lambda match: " " * len(match[0]), source)


@cache
def _parser_context() -> Any:
    context = latexwalker.get_default_latex_context_db()
    context.add_context_category(
        "ibid",
        prepend=True,
        macros=[std_macro(name, arguments) for name, arguments in _MACROS.items()],
        environments=[std_environment(name, args) for name, args in _ENVIRONMENTS.items()],
    )
    return context


@cache
def _converter() -> LatexNodes2Text:
    context = latex2text.get_default_latex_context_db()
    context.add_context_category(
        "ibid",
        prepend=True,
        macros=[
            *(MacroTextSpec(name, text) for name, text in _SHOWN.items()),
            *(MacroTextSpec(name, discard=True) for name in _UNSEEN.split()),
            *(MacroTextSpec(name, _show_reference) for name in _REFERENCES.split()),
        ],
    )
    return LatexNodes2Text(latex_context=context, math_mode="verbatim", keep_comments=False)


def _show_reference(node: LatexMacroNode, **rest: Any) -> str:
    """What is referred to, by its key: the numbers that a reader sees are not in the source."""
    return f"[{_argument(node).latex_verbatim().strip('{}')}]" if _argument(node) else ""


def _argument(node: LatexMacroNode) -> Any:
    """The last argument of a macro; None without one."""
    arguments = node.nodeargd.argnlist if node.nodeargd else None
    return arguments[-1] if arguments else None


def _find_said(nodes: Iterable[Any], name: str) -> str:
    """The argument of a macro such as `title`, wherever the macro first stands."""
    for node in nodes:
        if isinstance(node, LatexMacroNode) and node.macroname == name and _argument(node):
            return " ".join(_convert([_argument(node)]).split())
        if isinstance(node, LatexEnvironmentNode) and (found := _find_said(node.nodelist, name)):
            return found
    return ""


def _find_body(nodes: Sequence[Any]) -> Sequence[Any]:
    for node in nodes:
        if isinstance(node, LatexEnvironmentNode) and node.environmentname == "document":
            body: Sequence[Any] = node.nodelist
            return body
    return nodes


def _convert(nodes: Sequence[Any]) -> str:
    """The text of nodes; their source where an argument is missing that their macro needs."""
    try:
        return str(_converter().nodelist_to_text(nodes))
    except (IndexError, KeyError, AttributeError, TypeError, ValueError):
        return "".join(node.latex_verbatim() for node in nodes if node is not None)


class _Walker:
    """Puts nodes into a builder; those of the paragraph at hand are gathered until it ends."""

    def __init__(self, builder: DocumentBuilder, source: str, *, titled: bool) -> None:
        self._builder = builder
        self._source = source
        self._starts = [0, *(match.end() for match in re.finditer("\n", source))]
        ranks = {_SECTIONS.index(match[1]) for match in _SECTION.finditer(source)}
        self._base = min(ranks, default=0) - 1 - titled  # rank of a section less its level
        self._run: list[Any] = []

    def walk(self, nodes: Iterable[Any]) -> None:
        """Put all of the nodes."""
        for node in nodes:
            if isinstance(node, LatexCharsNode):
                self._take_chars(node)
            elif isinstance(node, LatexEnvironmentNode):
                self._take_environment(node)
            elif isinstance(node, LatexGroupNode) and any(map(_is_block, node.nodelist)):
                self.walk(node.nodelist)
            elif isinstance(node, LatexMacroNode) and node.macroname in (*_SECTIONS, "caption"):
                self._take_heading(node)
            elif node is not None:
                if isinstance(node, LatexMacroNode) and node.macroname == "par":
                    self._flush()
                self._take_inline(node)
        self._flush()

    def _take_chars(self, node: LatexCharsNode) -> None:
        """Text: a blank line in it ends the paragraph."""
        start = 0
        for gap in _BLANK_LINES.finditer(node.chars):
            self._run.append(_slice(node, start, gap.start()))
            self._flush()
            start = gap.end()
        self._run.append(_slice(node, start, len(node.chars)))

    def _take_inline(self, node: Any) -> None:
        if isinstance(node, LatexGroupNode) and self._run[-1:]:
            before = self._run[-1]  # the arguments of a macro that nobody here knows are words
            if isinstance(before, LatexGroupNode):
                self._run.append(LatexCharsNode(parsing_state=None, chars=" ", pos=node.pos, len=0))
        self._run.append(node)

    def _take_environment(self, node: LatexEnvironmentNode) -> None:
        name = node.environmentname.rstrip("*")
        handle = _ENVIRONMENT_HANDLERS.get(name)
        if handle is None and name in _MATHEMATICS:
            self._run.append(node)
            return
        self._flush()
        if handle:
            handle(self, node)
        else:
            self.walk(node.nodelist)

    def _take_heading(self, node: LatexMacroNode) -> None:
        self._flush()
        text = " ".join(_convert([_argument(node)]).split())
        if node.macroname == "caption":
            self._put(BlockKind.PARAGRAPH, text, [node])
            return
        level = _SECTIONS.index(node.macroname) - self._base
        self._put(BlockKind.HEADING, text, [node], level=min(level, 6))

    def _flush(self) -> None:
        """Put the paragraph at hand."""
        run, self._run = self._run, []
        lines = (" ".join(line.split()) for line in _convert(run).split("\n"))
        self._put(BlockKind.PARAGRAPH, join_lines(filter(None, lines)), run)

    def _put(self, kind: BlockKind, text: str, nodes: Sequence[Any], *, level: int = 0) -> None:
        if nodes and text:
            start, end = nodes[0].pos, nodes[-1].pos + nodes[-1].len
            source = self._source[start:end]
            start += len(source) - len(source.lstrip())
            end -= len(source) - len(source.rstrip())
            lines = (self._find_line(start), self._find_line(max(start, end - 1)))
            self._builder.append(kind, text, level=level, lines=lines)

    def _find_line(self, position: int) -> int:
        return bisect_right(self._starts, position)

    def skip(self, node: LatexEnvironmentNode) -> None:
        """What no reader sees."""

    def put_code(self, node: LatexEnvironmentNode) -> None:
        """Text as it stands in the source."""
        text = self._source[node.pos : node.pos + node.len]
        text = _END.sub("", _BEGIN.sub("", text, count=1))
        self._put(BlockKind.CODE, text, [node])

    def put_list(self, node: LatexEnvironmentNode) -> None:
        """A list of any kind: each item with its bullet, number or label."""
        numbered = node.environmentname == "enumerate"
        number = 0
        inside: list[Any] = []
        for child in [*node.nodelist, None]:
            if child is not None and not _is_item(child):
                inside.append(child)
                continue
            self._put_item(inside, f"{number}." if numbered else "-")
            inside = [child]
            number += 1
        self._builder.close_list()

    def _put_item(self, nodes: list[Any], marker: str) -> None:
        if not nodes or not _is_item(nodes[0]):
            return  # white space before the first item
        self._builder.open_item(marker)
        label = _argument(nodes[0])
        if label is not None and nodes[0].macroname == "item":
            text = _convert([label]).strip().removeprefix("[").removesuffix("]")
            self._builder.append(BlockKind.PARAGRAPH, f"{text}:")
        self.walk(nodes[1:])
        self._builder.close_item()

    def put_table(self, node: LatexEnvironmentNode) -> None:
        """A table, its first row a header where a rule stands below it."""
        rows, header = _read_rows(node.nodelist)
        self._put(BlockKind.TABLE, format_table(rows, header=header), [node])


def _slice(node: LatexCharsNode, start: int, end: int) -> LatexCharsNode:
    return LatexCharsNode(
        parsing_state=node.parsing_state,
        chars=node.chars[start:end],
        pos=node.pos + start,
        len=end - start,
    )


def _is_block(node: Any) -> bool:
    if isinstance(node, LatexEnvironmentNode):
        return node.environmentname.rstrip("*") not in _MATHEMATICS
    return isinstance(node, LatexMacroNode) and node.macroname in (*_SECTIONS, "caption")


def _is_item(node: Any) -> bool:
    return isinstance(node, LatexMacroNode) and node.macroname in ("item", "bibitem")


def _read_rows(nodes: Iterable[Any]) -> tuple[list[list[str]], bool]:
    """The cells of a table; True where the first of its rows is set off by a rule."""
    rows: list[list[list[Any]]] = [[[]]]
    header = False
    for node in nodes:
        macro = node.macroname if isinstance(node, LatexMacroNode) else ""
        if macro in ("\\", "tabularnewline"):
            rows.append([[]])
        elif macro in _RULES:
            header = header or sum(map(_has_text, rows)) == 1
        elif getattr(node, "specials_chars", "") == "&":
            rows[-1].append([])
        else:
            rows[-1][-1].append(node)
            rows[-1] += [[] for _ in range(_count_spanned(node) - 1)]
    texts = [[" ".join(_convert(cell).split()) for cell in row] for row in rows]
    return [row for row in texts if any(row)], header


def _has_text(row: list[list[Any]]) -> bool:
    return any(_convert(cell).strip() for cell in row)


def _count_spanned(node: Any) -> int:
    """How many columns a cell covers."""
    if getattr(node, "macroname", "") != "multicolumn" or not node.nodeargd:
        return 1
    count = _convert(node.nodeargd.argnlist[:1]).strip()
    return min(int(count), 100) if count.isdecimal() else 1


def _each(names: str, handler: Callable[[_Walker, Any], None]) -> Iterator[tuple[str, Any]]:
    return ((name, handler) for name in names.split())


_RULES: Final = frozenset({"hline", "midrule", "toprule", "bottomrule", "cline", "cmidrule"})
_MATHEMATICS: Final = frozenset(
    {"equation", "align", "alignat", "gather", "multline", "eqnarray", "displaymath", "flalign"}
)
_ENVIRONMENT_HANDLERS: Final[dict[str, Callable[[_Walker, Any], None]]] = dict(
    (
        *_each("verbatim Verbatim lstlisting minted alltt", _Walker.put_code),
        *_each("itemize enumerate description thebibliography", _Walker.put_list),
        *_each("tabular tabularx tabulary longtable array", _Walker.put_table),
        *_each("comment filecontents tikzpicture", _Walker.skip),
    )
)
