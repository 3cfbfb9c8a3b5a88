"""PowerPoint files become their slides, one after the other."""

from __future__ import annotations

import io

import pptx
import pytest
from pptx.enum.chart import XL_CHART_TYPE
from pptx.presentation import Presentation
from pptx.util import Inches

from ibid.reading.registry import read_bytes
from ibid.records import Document

BOX = (Inches(1), Inches(1), Inches(4), Inches(2))


def read(file: Presentation) -> Document:
    stream = io.BytesIO()
    file.save(stream)
    return read_bytes(stream.getvalue(), "slides.pptx")


def told(document: Document) -> list[tuple[str, int | None, str]]:
    return [(b.kind.value, b.page, document.text[b.span].rstrip()) for b in document.blocks]


def test_slides_with_all_that_slides_have() -> None:
    file = pptx.Presentation()
    file.core_properties.title = "Our plan"
    first = file.slides.add_slide(file.slide_layouts[0])
    first.shapes.title.text = "Our plan"
    first.placeholders[1].text = "by Ann"
    second = file.slides.add_slide(file.slide_layouts[1])
    second.shapes.title.text = "Goals"
    body = second.placeholders[1].text_frame
    body.text = "sell"
    body.add_paragraph().text = "more"
    body.paragraphs[1].level = 1
    second.notes_slide.notes_text_frame.text = "smile"
    document = read(file)
    assert told(document) == [
        ("heading", 1, "Our plan"),
        ("paragraph", 1, "by Ann"),
        ("heading", 2, "Goals"),
        ("list", 2, "- sell\n  - more"),
        ("paragraph", 2, "Notes: smile"),
    ]
    assert [b.level for b in document.blocks] == [1, 0, 2, 0, 0]
    assert document.title == "Our plan"


def test_groups_tables_and_charts() -> None:
    file = pptx.Presentation()
    slide = file.slides.add_slide(file.slide_layouts[6])
    group = slide.shapes.add_group_shape().shapes.add_group_shape()
    group.shapes.add_textbox(*BOX).text_frame.text = "deep in a group"
    table = slide.shapes.add_table(2, 3, *BOX).table
    for index, text in enumerate(("A", "B", "C", "1", "2", "")):
        table.cell(index // 3, index % 3).text = text
    table.cell(1, 1).merge(table.cell(1, 2))
    data = pytest.importorskip("pptx.chart.data").CategoryChartData()
    data.categories = ["2024", "2025"]
    data.add_series("Sales", (1.5, None))
    data.add_series("Cost", (2, 3))
    chart = slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *BOX, data).chart
    chart.has_title = True
    chart.chart_title.text_frame.text = "Money"
    assert told(read(file)) == [
        ("heading", 1, "Slide 1"),
        ("paragraph", 1, "deep in a group"),
        ("table", 1, "| A | B | C |\n| --- | --- | --- |\n| 1 | 2 | 2 |"),
        ("paragraph", 1, "Money"),
        (
            "table",
            1,
            "|  | Sales | Cost |\n| --- | --- | --- |\n| 2024 | 1.5 | 2 |\n| 2025 |  | 3 |",
        ),
    ]


def test_a_hidden_slide_is_marked_and_an_empty_one_left_out() -> None:
    file = pptx.Presentation()
    file.slides.add_slide(file.slide_layouts[6])
    hidden = file.slides.add_slide(file.slide_layouts[5])
    hidden.shapes.title.text = "Backup"
    hidden._element.set("show", "0")
    assert told(read(file)) == [("heading", 2, "Backup (hidden)")]
