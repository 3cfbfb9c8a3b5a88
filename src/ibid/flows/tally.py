"""A report in the making: what a run has done so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ibid.flows.plan import Plan
from ibid.records import Failed, Incomplete, IngestReport, Moved, PassageCounts, Skipped


@dataclass(slots=True)
class Tally:
    """A report in the making."""

    added: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    metadata_changed: list[str] = field(default_factory=list)
    moved: list[Moved] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    unchanged: int = 0
    skipped: list[Skipped] = field(default_factory=list)
    failed: list[Failed] = field(default_factory=list)
    incomplete: list[Incomplete] = field(default_factory=list)
    passages: PassageCounts = PassageCounts()
    context_tokens: int = 0

    def count(
        self, *, added: int = 0, removed: int = 0, embedded: int = 0, truncated: int = 0
    ) -> None:
        """Add to the numbers of passages."""
        so_far = self.passages
        self.passages = PassageCounts(
            so_far.added + added,
            so_far.removed + removed,
            so_far.embedded + embedded,
            so_far.truncated + truncated,
        )

    def take_plan(self, plan: Plan) -> None:
        """Take over what a plan settled without reading."""
        self.unchanged += plan.unchanged
        self.skipped.extend(plan.skipped)
        self.failed.extend(plan.failed)

    def take_report(self, report: IngestReport) -> None:
        """Add what another run did."""
        self.added.extend(report.added)
        self.updated.extend(report.updated)
        self.metadata_changed.extend(report.metadata_changed)
        self.moved.extend(report.moved)
        self.removed.extend(report.removed)
        self.unchanged += report.unchanged
        self.skipped.extend(report.skipped)
        self.failed.extend(report.failed)
        self.incomplete.extend(report.incomplete)
        self.count(
            added=report.passages.added,
            removed=report.passages.removed,
            embedded=report.passages.embedded,
            truncated=report.passages.truncated,
        )

    def report(self, version: int, seconds: Mapping[str, float]) -> IngestReport:
        """The finished report."""
        stages = ("reading", "chunking", "embedding", "writing", "total")
        return IngestReport(
            version=version,
            added=tuple(self.added),
            updated=tuple(self.updated),
            metadata_changed=tuple(self.metadata_changed),
            moved=tuple(self.moved),
            removed=tuple(self.removed),
            unchanged=self.unchanged,
            skipped=tuple(self.skipped),
            failed=tuple(self.failed),
            incomplete=tuple(self.incomplete),
            passages=self.passages,
            context_tokens=self.context_tokens,
            seconds={stage: round(seconds.get(stage, 0.0), 3) for stage in stages},
        )
