"""Claims that the sources support, and those that they do not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ibid.records import Citation, Claim, Verdict

HOLDING: Final = (Verdict.SUPPORTED, Verdict.SUPPORTED_ELSEWHERE)


def list_lacking(citations: Sequence[Citation]) -> list[Citation]:
    """Of each claim that no source supports its first citation, in the order of the claims."""
    held = {c.claim for c in citations if c.verdict in HOLDING}
    first = {c.claim: c for c in reversed(citations) if c.claim not in held}
    return sorted(first.values(), key=lambda citation: citation.claim.start)


def keep_supported(text: str, citations: Sequence[Citation]) -> tuple[str, tuple[Citation, ...]]:
    """The text without its unsupported claims, and the citations of the others, moved along.

    A claim stays when any of its markers holds. What stands between a claim and the next one, its
    markers and full stop, goes with it.
    """
    claims = sorted({citation.claim for citation in citations}, key=lambda claim: claim.start)
    held = {c.claim for c in citations if c.verdict in HOLDING}
    kept, moved = "", {}
    for number, claim in enumerate(claims):
        end = claims[number + 1].start if number + 1 < len(claims) else len(text)
        if claim in held:
            moved[claim] = _place(claim, len(kept))
            kept += text[claim.start : end]
    return kept.rstrip(), tuple(
        replace(citation, claim=moved[citation.claim])
        for citation in citations
        if citation.claim in held
    )


def _place(claim: Claim, start: int) -> Claim:
    return replace(claim, start=start, end=start + claim.end - claim.start)
