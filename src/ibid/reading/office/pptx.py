"""PowerPoint files: slide by slide, each with its title, texts, tables, charts and notes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Final, TypeAlias

from lxml import etree

from ibid.reading.builder import DocumentBuilder, format_table
from ibid.reading.office.embedded import read_embedded
from ibid.reading.office.ooxml import A, Package, R, Relation, open_package
from ibid.reading.office.ooxml_drawing import Line, read_graphic, read_table, read_text_body
from ibid.reading.pages import report_pages
from ibid.records import BlockKind, Document

P: Final = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_Block: TypeAlias = tuple[BlockKind, str]

_TITLES: Final = frozenset({"title", "ctrTitle"})
_BULLETED: Final = frozenset({"body", "obj"})
# What every slide repeats at its margins.
_REPEATED: Final = frozenset({"dt", "ftr", "hdr", "sldNum", "sldImg"})


def read_pptx(data: bytes, name: str, *, password: str | None = None) -> Document:
    """The slides of a presentation, `page` being the number of each.

    The presentation's title is a heading of level 1, each slide's title one of level 2 below it;
    a slide without one is called by its number. Shapes come in their order on the slide, which is
    the one that PowerPoint reads aloud, groups included; then comments and the speaker's notes.
    Dates, footers and slide numbers are dropped, hidden slides are marked. Files embedded as
    objects are documents of their own.

    Raises UnreadableDocument for a broken file, and for one that another password opens.
    """
    package = open_package(data, password)
    slides = list(_find_slides(package))
    report_pages(len(slides))
    title, metadata = package.read_properties()
    roots = [package.parse(slide) for slide in slides]
    title = title or _find_opening_title(roots)
    builder = DocumentBuilder()
    authors = _read_authors(package, package.find_main())
    if title and not (roots and _find_title(roots[0]) == title):
        builder.append(BlockKind.HEADING, title, level=1, page=1)
    for page, (slide, root) in enumerate(zip(slides, roots, strict=True), 1):
        blocks = _read_slide(root, package, slide, authors)
        _put_slide(builder, root, blocks, page=page, top=title or "")
    documents, lines = read_embedded(package, slides)
    builder.append(BlockKind.PARAGRAPH, "\n".join(lines), page=len(slides) or None)
    return builder.build(title=title, metadata=metadata, attachments=tuple(documents))


def _find_slides(package: Package) -> Iterator[str]:
    """The names of the slides in the order they are shown."""
    main = package.find_main()
    relations = package.read_relations(main)
    for node in package.parse(main).iter(f"{P}sldId"):
        relation = relations.get(node.get(f"{R}id") or "")
        if relation is not None:
            yield relation.target


def _find_opening_title(roots: list[etree._Element]) -> str | None:
    """The title of the first slide when it is one that opens a presentation."""
    shapes = roots[0].iter(f"{P}sp") if roots else ()
    return _find_title(roots[0]) if any(_read_role(s) == "ctrTitle" for s in shapes) else None


def _find_title(root: etree._Element) -> str | None:
    for shape in root.iter(f"{P}sp"):
        if _read_role(shape) in _TITLES and (title := _join(_read_lines(shape))):
            return title
    return None


def _read_role(shape: etree._Element) -> str | None:
    """What a shape stands for on the slide's layout; None for one that was added freely."""
    placeholder = shape.find(f"{P}nvSpPr/{P}nvPr/{P}ph")
    return None if placeholder is None else placeholder.get("type", "obj")


def _read_lines(shape: etree._Element) -> list[Line]:
    body = shape.find(f"{P}txBody")
    if body is None:
        return []
    bullets = _read_role(shape) in _BULLETED and len(body.findall(f"{A}p")) > 1
    return read_text_body(body, bullets=bullets)


def _join(lines: Iterable[Line]) -> str:
    return " ".join(" ".join(line.text for line in lines).split())


def _put_slide(
    builder: DocumentBuilder, root: etree._Element, blocks: Iterable[_Block], *, page: int, top: str
) -> None:
    """Put a slide's title, `top` being that of the presentation, and then what is on it."""
    title = _find_title(root)
    blocks = list(blocks)
    if not title and not blocks:
        return
    level = 1 if page == 1 and title == top else 2
    hidden = " (hidden)" if root.get("show") in ("0", "false") else ""
    builder.append(BlockKind.HEADING, f"{title or f'Slide {page}'}{hidden}", level=level, page=page)
    for kind, text in blocks:
        builder.append(kind, text, page=page)


def _read_slide(
    root: etree._Element, package: Package, name: str, authors: dict[str, str]
) -> Iterator[_Block]:
    """What is on a slide beside its title, in its order, then comments and notes."""
    relations = package.read_relations(name)
    title_is_open = _find_title(root) is not None
    for shape in root.iter(f"{P}sp", f"{P}graphicFrame"):
        role = _read_role(shape)
        if shape.tag == f"{P}graphicFrame":
            yield from _read_frame(shape, package, relations)
        elif role in _TITLES and title_is_open and _read_lines(shape):
            title_is_open = False
        elif role not in _REPEATED:
            yield from _form_blocks(_read_lines(shape))
    for part in package.find_related(name, "comments"):
        yield from _read_comments(package.parse(part), authors)
    for part in package.find_related(name, "notesSlide"):
        for shape in package.parse(part).iter(f"{P}sp"):
            text = "\n".join(line.text for line in _read_lines(shape))
            if _read_role(shape) == "body" and text:
                yield BlockKind.PARAGRAPH, f"Notes: {text}"


def _read_frame(
    frame: etree._Element, package: Package, relations: dict[str, Relation]
) -> Iterator[_Block]:
    """A table, or the data of a chart, or the words of a diagram."""
    for table in frame.iter(f"{A}tbl"):
        properties = table.find(f"{A}tblPr")
        header = properties is not None and properties.get("firstRow") in ("1", "true")
        rows = read_table(table)
        yield BlockKind.TABLE, format_table(rows, header=header and len(rows) > 1)
    tables, lines = read_graphic(frame, package, relations)
    yield from _form_blocks([Line(line) for line in lines])
    for rows in tables:
        yield BlockKind.TABLE, format_table(rows, header=True)


def _form_blocks(lines: Iterable[Line]) -> Iterator[_Block]:
    """The lines as blocks: those with a marker that follow each other are one list."""
    for listed, group in groupby(lines, key=lambda line: bool(line.marker)):
        if listed:
            items = (f"{'  ' * line.indent}{line.marker} {line.text.strip()}" for line in group)
            yield BlockKind.LIST, "\n".join(items)
        else:
            yield from ((BlockKind.PARAGRAPH, line.text.strip()) for line in group)


def _read_authors(package: Package, main: str) -> dict[str, str]:
    """The names of those who wrote comments, by id."""
    parts = [p for kind in ("commentAuthors", "authors") for p in package.find_related(main, kind)]
    nodes = (node for part in parts for node in package.parse(part))
    return {node.get("id") or "": node.get("name") or "" for node in nodes}


def _read_comments(root: etree._Element, authors: dict[str, str]) -> Iterator[_Block]:
    """The comments on a slide and the replies to them, old and new."""
    for node in root.iter("{*}cm", "{*}reply"):
        body = node.find("{*}txBody")
        said = node.findtext(f"{P}text") if body is None else _join(read_text_body(body))
        author = authors.get(node.get("authorId") or "")
        if said and said.strip():
            by = f" by {author}" if author else ""
            yield BlockKind.PARAGRAPH, f"Comment{by}: {said.strip()}"
