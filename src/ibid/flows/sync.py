"""The way of a folder: what changed in it is read, cut, embedded and committed as it goes.

A sync makes the documents of its source equal to the source's files, and touches no others. It
commits every few seconds, so a killed one goes on where it was; each commit also tells what the
source knows of the files in it, and so what need not be read again.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

from ibid.flows.options import OnProgress, SyncOptions
from ibid.flows.plan import Known, Plan, guard_removals, know_source, make_plan, name_document
from ibid.flows.stopwatch import Stopwatch
from ibid.flows.tally import Tally
from ibid.protocols import Embedder, Index, Source, SourceInfo
from ibid.records import IngestReport
from ibid.sources.rules import Rules, read_rules
from ibid.version import VERSION


def sync_folder(
    folder: Source,
    source: SourceInfo,
    options: SyncOptions,
    *,
    index: Index,
    embedder: Embedder,
    on_progress: OnProgress | None = None,
) -> IngestReport:
    """Make the documents of a source equal to its folder; every commit is a version.

    Raises BadSetting or InputError, with nothing changed, when the folder's rules can't be read,
    when more than half of its documents would go, or when it can't be spread as it was asked.
    """
    watch, tally = Stopwatch(), Tally()
    if options.spread is not None:
        from ibid.flows.spread import check_spread  # noqa: PLC0415 - seldom needed

        check_spread(folder, options)
    with watch.timing("total"), index.writing():
        rules = read_rules(folder)
        # Other rules speak of any file, and another ibid may read one better.
        recipe = f"{VERSION} {rules.hash}"
        known = know_source(index, source)
        plan = _plan_sync(folder, source, rules, known, options, recipe)
        tally.take_plan(plan)
        if options.dry_run:
            _foretell(plan, known, source, options, tally)
        else:
            index.put_source(source)
            if plan.read or plan.forgotten:
                # What carries a plan out is loaded only when there is something to carry.
                from ibid.flows.carry import Sync  # noqa: PLC0415

                sync = Sync(folder, source, options, rules, plan, known, index.snapshot(), tally)
                carry_out = sync.carry_out
                if options.workers is not None:
                    from ibid.flows.queued import hand_out  # noqa: PLC0415 - as above

                    carry_out = partial(hand_out, sync, options.workers)
                carry_out(index, embedder, watch, on_progress or (lambda _: None))
            index.put_source(replace(source, synced_at=datetime.now(UTC), recipe=recipe))
    return tally.report(index.snapshot().version, watch.seconds)


def _plan_sync(
    folder: Source,
    source: SourceInfo,
    rules: Rules,
    known: Known,
    options: SyncOptions,
    recipe: str,
) -> Plan:
    """What there is to do. Raises InputError where too much would go."""
    listing = list(folder.scan(known.recall))
    plan = make_plan(
        listing,
        known,
        source=source,
        rules=rules,
        unreadable=folder.unreadable,
        everything=options.checksum or source.recipe != recipe,
    )
    if not options.allow_emptying:
        guard_removals(plan, known, source=source)
    return plan


def _foretell(
    plan: Plan, known: Known, source: SourceInfo, options: SyncOptions, tally: Tally
) -> None:
    """Count what a run would do, as far as that can be told without reading."""
    for file in plan.read:
        id = name_document(source, file.path)
        (tally.updated if id in known.hashes else tally.added).append(id)
    tally.removed.extend(plan.gone)
    if options.ingest.contextualizer is not None:
        from ibid.flows.contextual import estimate_tokens  # noqa: PLC0415 - seldom needed

        tally.context_tokens = estimate_tokens(sum(file.stat.size for file in plan.read))
