"""reStructuredText: the tree of docutils, which may read no other file, walked in its order."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable
from typing import Any, ClassVar, Final, cast

from docutils import nodes
from docutils.core import publish_doctree
from docutils.parsers.rst import Directive, directives, roles
from docutils.parsers.rst.languages import en
from docutils.utils import new_document

from ibid.reading.builder import DocumentBuilder, format_table, join_lines, normalize_text
from ibid.reading.encodings import decode_bytes
from ibid.reading.pages import report_pages
from ibid.reading.text import build_text
from ibid.records import JSON, BlockKind, Document

_CHARACTERS_A_PAGE: Final = 2000
_MAX_LINE: Final = 100_000  # characters, also of what a substitution grows to
_NEVER: Final = 5  # a level that no message has
_SETTINGS: Final = {
    "_disable_config": True,
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "halt_level": _NEVER,
    "report_level": 1,  # what is reported stays in the tree: it holds the source of what failed
    "warning_stream": False,
    "line_length_limit": _MAX_LINE,
    "input_encoding": "unicode",
    "syntax_highlight": "none",
    "smart_quotes": False,
}
_DIRECTIVE: Final = re.compile(r"^[ \t]*\.\.[ \t]+(?:\|[^|\n]+\|[ \t]+)?([\w:.+-]+)::", re.M)
_ROLE: Final = re.compile(r":([\w:.+-]+):`")
_TARGET: Final = re.compile(r"\s*<[^<>]*>$")  # of a reference that is given a text of its own
_METADATA: Final = frozenset({"author", "date", "version", "status", "organization"})


def read_rst(data: bytes, name: str) -> Document:
    """The text that a reader of the rendered page sees.

    Directives and roles that docutils doesn't know, such as those of Sphinx, give what is in
    them. Author and date of the field list at the top are metadata; the title is that of the
    document or of its first section. What can't be parsed is kept as plain text.

    Raises UnsupportedFormat for bytes that are no text, EmptyDocument for nothing to see.
    """
    source = normalize_text(decode_bytes(data))
    report_pages(len(source) // _CHARACTERS_A_PAGE)
    if max(map(len, source.split("\n"))) > _MAX_LINE:
        return build_text(source)
    _accept_unknown(source)
    builder = DocumentBuilder()
    try:
        tree = publish_doctree(source, settings_overrides=_SETTINGS)
        walker = _Walker(builder)
        _bracket_references(tree)
        walker.put(tree)
    except RecursionError:
        return build_text(source)
    return builder.build(title=walker.title or None, metadata=walker.metadata)


class _AnyDirective(Directive):
    """A directive that nobody here knows: what it is given and what is in it is its text."""

    optional_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec: ClassVar[dict[str, Any]] = defaultdict(
        lambda: directives.unchanged, {"class": directives.unchanged}
    )

    def run(self) -> list[nodes.Node]:
        """The nodes of argument and content."""
        container = nodes.container()
        if label := _LABELS.get(self.name):
            said, _ = self.state.inline_text(" ".join([label, *self.arguments]), self.lineno)
            container += nodes.paragraph("", "", *said)
        elif self.arguments:
            container += nodes.paragraph(text=self.arguments[0])
        self.state.nested_parse(self.content, self.content_offset, container)
        return [container]


class _CodeDirective(_AnyDirective):
    """Code in any of the ways that it is written, with whatever options."""

    def run(self) -> list[nodes.Node]:
        """The code as it stands."""
        return [nodes.literal_block(text="\n".join(self.content))]


class _NoDirective(_AnyDirective):
    """A directive that only says how pages are made."""

    def run(self) -> list[nodes.Node]:
        """Nothing."""
        return []


_DIRECTIVES: Final = {
    **dict.fromkeys(("code", "code-block", "sourcecode", "ipython"), _CodeDirective),
    **dict.fromkeys(("toctree", "index", "highlight", "currentmodule", "contents"), _NoDirective),
}
_LABELS: Final = {
    "versionadded": "New in version",
    "versionchanged": "Changed in version",
    "deprecated": "Deprecated since version",
    "seealso": "See also",
}


def _accept_unknown(source: str) -> None:
    """Make docutils take every directive and role of the source."""
    language: Any = en  # a module; its type is a protocol that modules can't be checked against
    document = new_document("", None)
    for name, directive in _DIRECTIVES.items():
        directives.register_directive(name, directive)
    for name in {found.lower() for found in _DIRECTIVE.findall(source)}:
        known, _ = directives.directive(name, language, document)
        if known is None:
            directives.register_directive(name, _AnyDirective)
    for name in {found.lower() for found in _ROLE.findall(source)}:
        role, _ = roles.role(name, language, 0, document.reporter)
        if role is None:
            roles.register_local_role(name, cast("Any", _make_inline))


def _make_inline(
    name: str, rawtext: str, text: str, lineno: int, inliner: Any, *rest: Any
) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    """The text of a role that nobody here knows, without what it refers to."""
    shown = _TARGET.sub("", nodes.unescape(text)).lstrip("~!")
    return [nodes.inline(rawtext, shown or text)], []


def _bracket_references(tree: nodes.document) -> None:
    for kind in (nodes.footnote_reference, nodes.citation_reference):
        for reference in tree.findall(kind):
            reference[0] = nodes.Text(f"[{reference.astext()}]")


class _Walker:
    """Puts the nodes of a tree into a builder."""

    def __init__(self, builder: DocumentBuilder) -> None:
        self.title = ""
        self.metadata: dict[str, JSON] = {}
        self._builder = builder
        self._level = 1  # of the section at hand

    def put(self, node: Any) -> None:
        """Put a node and all that is in it."""
        handler = _HANDLERS.get(node.tagname, _Walker.put_children)
        handler(self, node)

    def put_children(self, node: Any) -> None:
        """A node that only holds others."""
        for child in node.children:
            self.put(child)

    def skip(self, node: Any) -> None:
        """A node that no reader sees."""

    def put_failed(self, node: Any) -> None:
        """A message: where it holds a directive that was not carried out, that one's source."""
        for block in node.findall(nodes.literal_block):
            if block.astext().startswith(".."):
                self.put_code(block)

    def put_section(self, node: Any) -> None:
        """A section: its headings are one level deeper."""
        self._level += 1
        self.put_children(node)
        self._level -= 1

    def put_title(self, node: Any) -> None:
        """The title of the document, a section, or of a box beside the text."""
        text = _flatten(node)
        if not isinstance(node.parent, nodes.document | nodes.section):
            self._builder.append(BlockKind.PARAGRAPH, text)
            return
        self.title = self.title or text
        self._builder.append(BlockKind.HEADING, text, level=min(self._level, 6))

    def put_text(self, node: Any) -> None:
        """A paragraph."""
        self._builder.append(BlockKind.PARAGRAPH, _flatten(node))

    def put_lines(self, node: Any) -> None:
        """Lines that stand as they are written."""
        lines = [line.astext() for line in node.findall(nodes.line)]
        self._builder.append(BlockKind.PARAGRAPH, "\n".join(lines))

    def put_code(self, node: Any) -> None:
        """Text as it stands."""
        self._builder.append(BlockKind.CODE, node.astext())

    def put_list(self, node: Any) -> None:
        """A list with bullets or numbers."""
        number = node.get("start", 1) if node.tagname == "enumerated_list" else None
        for i, item in enumerate(node.children):
            self._builder.open_item("-" if number is None else f"{number + i}.")
            self.put_children(item)
            self._builder.close_item()
        self._builder.close_list()

    def put_definitions(self, node: Any) -> None:
        """A list whose items are terms, fields or options with what is said of them."""
        for item in node.children:
            *terms, body = item.children
            self._builder.open_item("-")
            self._builder.append(BlockKind.PARAGRAPH, " ".join(map(_flatten, terms)) + ":")
            self.put_children(body)
            self._builder.close_item()
        self._builder.close_list()

    def put_table(self, node: Any) -> None:
        """A table, its caption before it."""
        for title in node.findall(nodes.title):
            self._builder.append(BlockKind.PARAGRAPH, _flatten(title))
        header = next(iter(node.findall(nodes.thead)), None) is not None
        self._builder.append(BlockKind.TABLE, format_table(_read_rows(node), header=header))

    def put_admonition(self, node: Any) -> None:
        """A note, a warning or the like: its kind, then its text."""
        first, *rest = node.children
        self._builder.append(BlockKind.PARAGRAPH, f"{node.tagname.capitalize()}: {_flatten(first)}")
        for child in rest:
            self.put(child)

    def put_footnote(self, node: Any) -> None:
        """A footnote or a citation with its label."""
        label, *body = node.children
        texts = [_flatten(child) for child in body]
        self._builder.append(BlockKind.PARAGRAPH, f"[{label.astext()}] {' '.join(texts)}")

    def put_image(self, node: Any) -> None:
        """An image: the text that stands for it."""
        self._builder.append(BlockKind.PARAGRAPH, node.get("alt", ""))

    def put_docinfo(self, node: Any) -> None:
        """What the document says of itself at its top."""
        for field in node.children:
            name, text = field.tagname, _flatten(field)
            if field.tagname == "field":
                name, text = field[0].astext(), _flatten(field[1])
            if name.lower() in _METADATA:
                self.metadata[name.lower()] = text
            self._builder.append(BlockKind.PARAGRAPH, f"{name.capitalize()}: {text}")


def _flatten(node: Any) -> str:
    return join_lines(filter(None, (" ".join(s.split()) for s in node.astext().split("\n"))))


def _read_rows(table: Any) -> list[list[str]]:
    """The cells as a grid; one that spans others stands in the first of them."""
    rows: list[list[str]] = []
    taken: dict[int, int] = {}  # column -> rows from here on that a cell above covers
    for row in table.findall(nodes.row):
        cells: list[str] = []
        below: dict[int, int] = {}
        for entry in row.children:
            while taken.get(len(cells), 0):
                below[len(cells)] = taken[len(cells)] - 1
                cells.append("")
            for i in range(entry.get("morecols", 0) + 1):
                below[len(cells)] = entry.get("morerows", 0)
                cells.append("" if i else entry.astext())
        rows.append(cells)
        taken = {**{c: n - 1 for c, n in taken.items() if n > 1}, **below}
    return rows


def _each(names: str, handler: Callable[[_Walker, Any], None]) -> dict[str, Any]:
    return dict.fromkeys(names.split(), handler)


_HANDLERS: Final[dict[str, Callable[[_Walker, Any], None]]] = {
    **_each("comment substitution_definition target raw meta", _Walker.skip),
    **_each("transition pending decoration", _Walker.skip),
    **_each("paragraph rubric caption attribution Text", _Walker.put_text),
    **_each("title subtitle", _Walker.put_title),
    **_each("literal_block doctest_block math_block", _Walker.put_code),
    **_each("bullet_list enumerated_list", _Walker.put_list),
    **_each("definition_list field_list option_list", _Walker.put_definitions),
    **_each("attention caution danger error hint important note tip", _Walker.put_admonition),
    **_each("warning", _Walker.put_admonition),
    **_each("footnote citation", _Walker.put_footnote),
    "system_message": _Walker.put_failed,
    "section": _Walker.put_section,
    "line_block": _Walker.put_lines,
    "table": _Walker.put_table,
    "image": _Walker.put_image,
    "docinfo": _Walker.put_docinfo,
}
