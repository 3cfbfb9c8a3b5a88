"""The JSON of every face, from records: one function a shape, the same at each door.

The fields are a contract: more may come, none changes its name or meaning.
"""

from ibid.shapes.answers import (
    shape_answer,
    shape_citation,
    shape_cited_place,
    shape_entry,
    shape_hit,
    shape_kept,
    shape_result,
    shape_source_hit,
    shape_trace,
)
from ibid.shapes.documents import (
    shape_blocks,
    shape_boxes,
    shape_document,
    shape_info,
    shape_passages,
    shape_report,
    shape_source,
)
from ibid.shapes.plain import (
    SCHEMA_VERSION,
    Shape,
    shape_error,
    shape_principals,
    shape_time,
)
from ibid.shapes.upkeep import (
    shape_difference,
    shape_outcome,
    shape_revision,
    shape_stale,
)

__all__ = [
    "SCHEMA_VERSION",
    "Shape",
    "shape_answer",
    "shape_blocks",
    "shape_boxes",
    "shape_citation",
    "shape_cited_place",
    "shape_difference",
    "shape_document",
    "shape_entry",
    "shape_error",
    "shape_hit",
    "shape_info",
    "shape_kept",
    "shape_outcome",
    "shape_passages",
    "shape_principals",
    "shape_report",
    "shape_result",
    "shape_revision",
    "shape_source",
    "shape_source_hit",
    "shape_stale",
    "shape_time",
    "shape_trace",
]
