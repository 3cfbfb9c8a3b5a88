"""The shapes of upkeep: revisions, differences, what is stale, what was done."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from ibid.protocols import Problem, Revision, Vacuumed
from ibid.shapes.documents import shape_info
from ibid.shapes.plain import Shape, shape_time

if TYPE_CHECKING:
    from ibid.flows.history import Difference
    from ibid.flows.reindex import Reindexed
    from ibid.flows.stale import StaleReport
    from ibid.flows.transfer import Transferred


def shape_revision(revision: Revision) -> Shape:
    """What a document was from a version on."""
    return {
        **shape_info(revision.info),
        "written_at": shape_time(revision.written_at),
        "removed_in": revision.removed_in,
        "content_hash": revision.content_hash,
    }


def shape_difference(difference: Difference) -> Shape:
    """What differs between two versions."""
    return {
        "old": difference.old,
        "new": difference.new,
        "added": list(difference.added),
        "updated": list(difference.updated),
        "metadata_changed": list(difference.metadata_changed),
        "moved": [{"from": moved.old_id, "to": moved.new_id} for moved in difference.moved],
        "removed": list(difference.removed),
    }


def shape_stale(report: StaleReport) -> Shape:
    """The documents to look at, and the groups that are alike."""
    return {
        "documents": [
            {**shape_info(one.info), "reasons": list(one.reasons)} for one in report.documents
        ],
        "groups": [list(group) for group in report.groups],
    }


def shape_outcome(outcome: Problem | Reindexed | Transferred | Vacuumed) -> Shape:
    """What upkeep did or found: the fields of its record."""
    return asdict(outcome)
