"""Pace of every reader beside the bare library it uses, over the same files, in one run.

    python bench/reading.py

The files are made here, several hundred KB each, of varied sentences with headings and tables. What
the bare library is asked for stands in `bench/bare.py`, format by format, with the reason: the text
element by element with the structure that the library itself offers. Prints, a format a line, how
many MB a second that takes and how many ibid takes to give the document (and pages, where there are
any), and what ibid keeps of the bare pace in this process; then what it keeps through the child in
which files from strangers are read, where the document crosses a pipe as well.

Each is the median of several turns of the two one after the other, in seconds of the processor;
through the child in seconds of the clock, which the machine's other work makes longer. The exit
code is 1 when a format keeps less than 0.70 in this process.
"""

from __future__ import annotations

import io
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

import pptx
import pypdfium2 as pdfium
from bare import BARE, read_pdf_text
from documents import (
    Section,
    make_csv,
    make_docx,
    make_epub,
    make_html,
    make_json,
    make_mail,
    make_mailbox,
    make_markdown,
    make_notebook,
    make_ods,
    make_odt,
    make_pdf,
    make_pptx,
    make_rst,
    make_rtf,
    make_sections,
    make_subtitles,
    make_text,
    make_xlsx,
    make_xml,
)
from results import make_parser, save_results

from ibid.reading.pool import FileToRead, ReaderPool
from ibid.reading.registry import read_bytes

LEAST_KEPT: Final = 0.70
TURNS: Final = 7
LEAST_TURNS: Final = 3
MOST_S: Final = 6.0  # after which a slow format is timed no more often than that
SECTIONS: Final = 400


@dataclass(frozen=True, slots=True)
class Format:
    """How a file of a format is made, and its pages, where it has any."""

    make: Callable[[Sequence[Section]], bytes]
    count_pages: Callable[[bytes], int] = lambda data: 0


def main() -> int:
    """Print the table; 1 when a format keeps too little."""
    parser = make_parser(__doc__)
    parser.add_argument("--sections", type=int, default=SECTIONS, help="of each file")
    parser.add_argument("--turns", type=int, default=TURNS, help="of which the median counts")
    parser.add_argument("formats", nargs="*", help=f"of {', '.join(FORMATS)}; all without any")
    options = parser.parse_args()
    sections = make_sections(options.sections)
    print(f"{'':6}{'MB':>6}{'bare MB/s':>11}{'ibid MB/s':>11}{'pages/s':>9}{'kept':>7}{'child':>8}")
    figures = {name: measure(name, sections, options.turns) for name in options.formats or FORMATS}
    missed = [
        f"{name} keeps {found['kept']:.2f} < {LEAST_KEPT}"
        for name, found in figures.items()
        if found["kept"] < LEAST_KEPT
    ]
    print("\n" + "\n".join(["missed:", *missed] if missed else ["all requirements hold"]))
    if "pdf" in figures:
        alone = measure_pdf_text(sections)
        print(f"of the pace of a PDF's text alone, without its places: {alone:.2f}")
    save_results(options.save, figures)
    return 1 if missed else 0


def measure(name: str, sections: Sequence[Section], turns: int) -> dict[str, float]:
    """The paces of one format in MB and pages a second, and what ibid keeps of the bare one."""
    data = FORMATS[name].make(sections)
    file = f"file.{name}"
    here = time_alternately(
        lambda: BARE[name].read(data), lambda: read_bytes(data, file), turns, time.process_time
    )
    with tempfile.TemporaryDirectory() as scratch, ReaderPool() as pool:
        path = Path(scratch, file)
        path.write_bytes(data)

        def read_in_child() -> None:
            (result,) = pool.read([FileToRead(path, file)])
            if result.document is None:
                raise SystemExit(f"{file}: {result.error}")

        child = time_alternately(
            lambda: BARE[name].read(data), read_in_child, turns, time.perf_counter
        )
    size, pages = len(data) / 1e6, FORMATS[name].count_pages(data)
    figures = {
        "mb": size,
        "bare_mb_per_s": size / here.bare,
        "ibid_mb_per_s": size / here.own,
        "pages_per_s": pages / here.own,
        "kept": here.kept,
        "kept_in_child": child.kept,
    }
    shown = f"{pages / here.own:9.0f}" if pages else " " * 9
    print(
        f"{name:6}{size:6.2f}{size / here.bare:11.2f}{size / here.own:11.2f}{shown}{here.kept:7.2f}"
        f"{child.kept:8.2f}",
        flush=True,
    )
    return figures


def measure_pdf_text(sections: Sequence[Section]) -> float:
    """What ibid keeps of the pace of a PDF's text alone."""
    data = make_pdf(sections)
    return time_alternately(
        lambda: read_pdf_text(data), lambda: read_bytes(data, "file.pdf"), TURNS, time.process_time
    ).kept


class Timed(NamedTuple):
    """The median seconds of the two loops, and the median of what the second keeps of the first.

    The share is taken turn by turn: what slows the machine down for a while slows both.
    """

    bare: float
    own: float
    kept: float


def time_alternately(
    bare: Callable[[], object], own: Callable[[], object], turns: int, clock: Callable[[], float]
) -> Timed:
    """The two in so many turns, fewer of a slow format, once both are warm."""
    bare()
    own()
    timed: list[tuple[float, float]] = []
    begun = time.perf_counter()
    while len(timed) < LEAST_TURNS or (len(timed) < turns and time.perf_counter() - begun < MOST_S):
        start = clock()
        bare()
        middle = clock()
        own()
        timed.append((middle - start, clock() - middle))
    first, second = zip(*timed, strict=True)
    return Timed(median(first), median(second), median(a / b for a, b in timed))


def count_slides(data: bytes) -> int:
    """The slides of a presentation."""
    return len(pptx.Presentation(io.BytesIO(data)).slides)


def count_pages(data: bytes) -> int:
    """The pages of a PDF."""
    with pdfium.PdfDocument(data) as pdf:
        return len(pdf)


FORMATS: Final[Mapping[str, Format]] = {
    "txt": Format(make_text),
    "md": Format(make_markdown),
    "html": Format(make_html),
    "rst": Format(make_rst),
    "csv": Format(make_csv),
    "json": Format(make_json),
    "ipynb": Format(make_notebook),
    "xml": Format(make_xml),
    "srt": Format(make_subtitles),
    "eml": Format(make_mail),
    "mbox": Format(make_mailbox),
    "docx": Format(make_docx),
    "pptx": Format(make_pptx, count_slides),
    "xlsx": Format(make_xlsx),
    "odt": Format(make_odt),
    "ods": Format(make_ods),
    "epub": Format(make_epub),
    "rtf": Format(make_rtf),
    "pdf": Format(make_pdf, count_pages),
}

if __name__ == "__main__":
    sys.exit(main())
