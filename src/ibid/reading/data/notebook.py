"""Jupyter notebooks: Markdown cells as such, code cells with what they printed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from ibid.errors import UnreadableDocument
from ibid.reading.builder import DocumentBuilder
from ibid.reading.encodings import decode_bytes
from ibid.reading.markup.markdown import append_markdown
from ibid.reading.pages import report_pages
from ibid.records import BlockKind, Document

_CHARACTERS_A_PAGE: Final = 3000
_MAX_OUTPUT: Final = 2000  # characters of what one cell printed; the rest is noise to a search
_ESCAPE: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")

Cell = Mapping[str, Any]


def read_notebook(data: bytes, name: str) -> Document:
    """The cells in their order, each with its number, from 1, as the place of its blocks.

    Of what a cell printed the first characters are kept; images and other media are left out.
    The title is the first heading of level 1.

    Raises UnreadableDocument for bytes that are no notebook, EmptyDocument for no text in it.
    """
    source = decode_bytes(data)
    report_pages(len(source) // _CHARACTERS_A_PAGE)
    builder = DocumentBuilder()
    title = None
    try:
        notebook = json.loads(source)
        for number, cell in enumerate(_find_cells(notebook), 1):
            builder.place = f"cell {number}"
            put = _CELLS.get(cell.get("cell_type", ""), _put_raw)
            found = put(builder, cell)
            title = title or found
        metadata = _find_metadata(notebook)
    except (ValueError, RecursionError, AttributeError, TypeError) as error:
        raise UnreadableDocument("damaged: not a whole notebook") from error
    return builder.build(title=title, metadata=metadata)


def _find_cells(notebook: Mapping[str, Any]) -> Iterator[Cell]:
    """The cells; before version 4 of the format they lay in work sheets."""
    yield from notebook.get("cells", ())
    for sheet in notebook.get("worksheets", ()):
        yield from sheet.get("cells", ())


def _find_metadata(notebook: Mapping[str, Any]) -> dict[str, Any]:
    kernel = notebook.get("metadata", {}).get("kernelspec", {})
    language = kernel.get("language") or kernel.get("name")
    return {"programming_language": language} if isinstance(language, str) else {}


def _join(source: Any) -> str:
    """Text that stands as one string or as a list of its lines."""
    return "".join(map(str, source)) if isinstance(source, list) else str(source or "")


def _put_markdown(builder: DocumentBuilder, cell: Cell) -> str | None:
    return append_markdown(builder, _join(cell.get("source")))


def _put_heading(builder: DocumentBuilder, cell: Cell) -> str | None:
    text = " ".join(_join(cell.get("source")).split())
    level = cell.get("level", 1)
    builder.append(BlockKind.HEADING, text, level=level)
    return text if level == 1 else None


def _put_raw(builder: DocumentBuilder, cell: Cell) -> None:
    builder.append(BlockKind.PARAGRAPH, _join(cell.get("source")))


def _put_code(builder: DocumentBuilder, cell: Cell) -> None:
    builder.append(BlockKind.CODE, _join(cell.get("source") or cell.get("input")))
    outputs = map(_show_output, cell.get("outputs") or ())
    printed = "\n".join(filter(None, (text.strip("\n") for text in outputs)))
    if len(printed) > _MAX_OUTPUT:
        printed = printed[:_MAX_OUTPUT].rsplit("\n", 1)[0] + "\n…"
    builder.append(BlockKind.CODE, printed)


def _show_output(output: Mapping[str, Any]) -> str:
    """The text of one output; empty for media, whose text only names an object in memory."""
    if output.get("output_type") in ("error", "pyerr"):
        return f"{output.get('ename')}: {output.get('evalue')}"
    found = output.get("data", output)
    if any(kind.startswith(("image/", "png", "jpeg", "svg")) for kind in found):
        return ""
    return _ESCAPE.sub("", _join(found.get("text/plain") or found.get("text")))


_CELLS: Final[dict[str, Callable[[DocumentBuilder, Cell], str | None]]] = {
    "markdown": _put_markdown,
    "heading": _put_heading,
    "code": _put_code,
}
