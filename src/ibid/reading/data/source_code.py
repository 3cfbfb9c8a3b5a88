"""Source code: the file as it stands, a block for each definition, named by where it belongs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePath
from typing import Final

from ibid.errors import EmptyDocument
from ibid.reading.builder import normalize_text, trim_text
from ibid.reading.data.languages import LANGUAGES, Language
from ibid.reading.encodings import decode_bytes
from ibid.reading.pages import report_pages
from ibid.records import Block, BlockKind, Document

_CHARACTERS_A_PAGE: Final = 3000
_PYTHON: Final = frozenset({"py", "pyi"})
_MAX_LINE: Final = 1000  # characters; a longer one is no definition that a person wrote
_NOTES: Final = re.compile(r"\s*(?://|#|/\*|\*|--|;|@|\[[A-Z]|%|'''|\"\"\")")
# What may follow a definition at its own depth and yet belongs to it.
_CLOSERS: Final = re.compile(
    r"\s*(?:[{}\])*]|end\b|else\b|elif\b|elsif\b|catch\b|rescue\b|ensure\b|finally\b|fi\b|done\b"
    r"|esac\b|where\b)"
)


@dataclass(frozen=True, slots=True)
class _Unit:
    """A part of a file: the line it begins at, from 0, and the names that lead to it."""

    line: int
    path: tuple[str, ...] = ()


def read_source(data: bytes, name: str) -> Document:
    """The text of the file, unchanged; functions and methods are blocks, with their place.

    A definition has the comments and decorators right above it. Its place is its name after
    those of the classes it belongs to, `Session.get`; what stands between has that of the class.
    The title is the name of the file.

    Raises UnsupportedFormat for bytes that are no text, EmptyDocument for white space alone.
    """
    source = normalize_text(decode_bytes(data))
    report_pages(len(source) // _CHARACTERS_A_PAGE)
    text = trim_text(source)
    if not text:
        raise EmptyDocument("no text in it")
    path = PurePath(name)
    extension = path.suffix.lower().removeprefix(".")
    units = _find_units(text, extension)
    before = source[: source.index(text)].count("\n")
    blocks = _make_blocks(text, units, before + 1)
    return Document(
        id="", text=text, blocks=tuple(blocks), title=path.name, media_type="text/x-source"
    )


def _find_units(text: str, extension: str) -> list[_Unit]:
    lines = text.split("\n")
    if extension in _PYTHON and (units := _parse_python(text, lines)):
        return units
    language = LANGUAGES.get(extension)
    units = _scan(lines, language) if language else []
    return units or _split_paragraphs(lines)


def _make_blocks(text: str, units: Sequence[_Unit], line: int) -> Iterator[Block]:
    """One block a unit, the first from the start of the text; `line` is that of its start."""
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    bounds = [*((unit.line, ".".join(unit.path)) for unit in units), (len(starts), "")]
    for number, ((first, place), (end, _)) in enumerate(pairwise(bounds)):
        start = 0 if number == 0 else starts[first]
        stop = len(text) if end == len(starts) else starts[end]
        first_line = line if number == 0 else line + first
        last_line = first_line + text[start:stop].rstrip().count("\n")
        yield Block(BlockKind.CODE, start, stop, lines=(first_line, last_line), place=place or None)


def _split_paragraphs(lines: Sequence[str]) -> list[_Unit]:
    """A unit for each run of lines without a blank one."""
    return [
        _Unit(i)
        for i, line in enumerate(lines)
        if line.strip() and (i == 0 or not lines[i - 1].strip())
    ]


def _parse_python(text: str, lines: Sequence[str]) -> list[_Unit]:
    """The definitions of a module by its syntax tree; none where it can't be parsed."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    return _settle(_visit_python(tree.body, ()), lines)


def _visit_python(body: Iterable[ast.stmt], path: tuple[str, ...]) -> Iterator[_Unit]:
    """The definitions, and the first statement after each that is none."""
    after = True
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            inner = (*path, node.name)
            yield _Unit(first - 1, inner)
            if isinstance(node, ast.ClassDef):
                members = [n for n in node.body if hasattr(n, "decorator_list")]
                if members:
                    rest = node.body[node.body.index(members[0]) :]
                    yield from _visit_python(rest, inner)
            after = True
        elif after:
            yield _Unit(node.lineno - 1, path)
            after = False


def _scan(lines: Sequence[str], language: Language) -> list[_Unit]:
    """The definitions of a file by the look of its lines; none where there is none."""
    found: list[_Unit] = []
    opened: list[tuple[int, str, bool]] = []  # indentation, name, whether it holds others
    for i, line in enumerate(lines):
        if not line.strip() or len(line) > _MAX_LINE:
            continue
        indent = len(line) - len(line.lstrip())
        definition = language.match(line.strip())
        if definition is None and (_CLOSERS.match(line) or _NOTES.match(line)):
            continue
        closed = bool(opened) and indent <= opened[-1][0]
        while opened and indent <= opened[-1][0]:
            opened.pop()
        path = tuple(name for _, name, _ in opened)
        if all(holds for _, _, holds in opened):
            if definition:
                opened.append((indent, *definition))
                found.append(_Unit(i, (*path, definition[0])))
            elif closed:
                found.append(_Unit(i, path))
    return _settle(found, lines) if any(unit.path for unit in found) else []


def _settle(units: Iterable[_Unit], lines: Sequence[str]) -> list[_Unit]:
    """The units with the notes right above each; neighbours of one path are one unit."""
    settled = [_Unit(0)]
    for unit in units:
        if unit.path == settled[-1].path:
            continue
        line = unit.line
        while line > settled[-1].line and _NOTES.match(lines[line - 1]):
            line -= 1
        if line == settled[-1].line or not any(map(str.strip, lines[settled[-1].line : line])):
            settled.pop()
        settled.append(_Unit(line, unit.path))
    return settled
