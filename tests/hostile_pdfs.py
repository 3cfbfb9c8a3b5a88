"""PDFs that are made to hurt: streams, trees, forms and pictures without end; see hostile_files."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final, TypeAlias

from small_files import make_pdf, pdf_stream

ANY: Final = "…"
DEEP: Final = 100_000
MANY: Final = 1 << 20
Case: TypeAlias = tuple[str, Callable[[], str | bytes], str | None]


def make_pdfs() -> Iterator[Case]:
    """The cases of PDF."""
    yield "gigabyte.pdf", lambda: pdf_page(zlib_repeated(b" " * MANY, 1024)), ANY
    yield "shows.pdf", lambda: pdf_page(zlib_repeated(b"(a) Tj " * 100_000, 200)), ANY
    yield "twice.pdf", _double_deflate, ANY
    yield "tree.pdf", _tall_tree, ANY
    yield "loop.pdf", _looping_tree, ANY
    yield "deep.pdf", _deep_tree, ANY
    yield "forms.pdf", partial(_drawing_forms, 1), ANY
    yield "laughs.pdf", partial(_drawing_forms, 10), ANY
    yield "arrays.pdf", lambda: make_pdf([b"<</Type/Catalog/Pages " + b"[" * DEEP + b">>"]), ANY
    yield "outline.pdf", _looping_outline, ANY
    yield "pages.pdf", partial(_wide_page, b"1e9"), ANY
    yield "picture.pdf", partial(_wide_page, b"600"), ANY
    yield "previous.pdf", lambda: pdf_page(zlib.compress(b""), trailer=b"/Prev 9"), ANY


def pdf_page(
    packed: bytes,
    *more: bytes,
    resources: bytes = b"",
    box: bytes = b"600",
    filters: bytes = b"/FlateDecode",
    trailer: bytes = b"",
) -> bytes:
    """A PDF of one page with this packed content; what else there is counts from object 6."""
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 %b %b]/Contents 4 0 R/Resources<<%b"
    return make_pdf(
        [
            b"<</Type/Catalog/Pages 2 0 R/Outlines 6 0 R>>",
            b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
            page % (box, box, b"/Font<</F 5 0 R>>%b>>>>" % resources),
            pdf_stream(packed, b"/Filter%b" % filters),
            b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
            *more,
        ],
        trailer=trailer,
    )


def _double_deflate() -> bytes:
    inner = zlib_repeated(b" " * MANY, 4096)
    return pdf_page(zlib.compress(inner, 9), filters=b"[/FlateDecode/FlateDecode]")


def _tall_tree(count: int = 200_000) -> bytes:
    """So many pages, in a tree that has a hundred below each of its nodes."""
    nodes = [b"<</Type/Catalog/Pages 2 0 R>>"]
    leaf = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>"
    kids = b" ".join(b"%d 0 R" % (3 + i) for i in range(count))
    nodes.append(b"<</Type/Pages/Count %d/Kids[%b]>>" % (count, kids))
    return make_pdf([*nodes, *[leaf] * count])


def _looping_tree() -> bytes:
    return make_pdf(
        [
            b"<</Type/Catalog/Pages 2 0 R>>",
            b"<</Type/Pages/Count 1000000000/Kids[3 0 R 2 0 R]>>",
            b"<</Type/Pages/Parent 2 0 R/Count 1000000000/Kids[2 0 R 3 0 R]>>",
        ]
    )


def _deep_tree(count: int = 50_000) -> bytes:
    nodes = [b"<</Type/Pages/Count 1/Kids[%d 0 R]>>" % (i + 3) for i in range(count)]
    return make_pdf([b"<</Type/Catalog/Pages 2 0 R>>", *nodes, b"<</Type/Page>>"])


def _drawing_forms(times: int) -> bytes:
    """Forms that draw one another so many times each, the last one the first again."""
    forms = [
        pdf_stream(
            b"BT /F 9 Tf 9 9 Td (a) Tj ET " + b"/X Do " * times,
            b"/Type/XObject/Subtype/Form/BBox[0 0 600 600]/Resources<</XObject<</X %d 0 R>>>>"
            % (7 if i == 11 else 8 + i),
        )
        for i in range(12)
    ]
    return pdf_page(zlib.compress(b"/X Do"), b"<<>>", *forms, resources=b"/XObject<</X 7 0 R>>")


def _looping_outline() -> bytes:
    return pdf_page(
        zlib.compress(b"BT /F 9 Tf 9 9 Td (words) Tj ET"),
        b"<</Type/Outlines/First 7 0 R/Last 7 0 R/Count 9>>",
        b"<</Title(a)/Parent 6 0 R/First 7 0 R/Next 8 0 R/Dest[3 0 R/Fit]>>",
        b"<</Title(b)/Parent 6 0 R/First 6 0 R/Next 7 0 R/Dest[3 0 R/Fit]>>",
    )


def _wide_page(size: bytes) -> bytes:
    """A page of this size that is one picture, said to be of 40,000 dots each way."""
    picture = b"/Type/XObject/Subtype/Image/Width 40000/Height 40000/BitsPerComponent 8"
    return pdf_page(
        zlib.compress(b"%b 0 0 %b 0 0 cm /I Do" % (size, size)),
        b"<<>>",
        pdf_stream(
            zlib_repeated(b"\7" * MANY, 1600),
            picture + b"/ColorSpace/DeviceGray/Filter/FlateDecode",
        ),
        resources=b"/XObject<</I 7 0 R>>",
        box=size,
    )


def deflate_repeated(piece: bytes, times: int) -> bytes:
    """A piece many times over, deflated in the time of deflating it once."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    once = packer.compress(piece) + packer.flush(zlib.Z_FULL_FLUSH)
    return once * times + packer.flush()


def zlib_repeated(piece: bytes, times: int) -> bytes:
    """The same with the header and the sum that a stream of a PDF has."""
    check = 1
    for _ in range(times):
        check = zlib.adler32(piece, check)
    return b"\x78\xda" + deflate_repeated(piece, times) + struct.pack(">I", check)
