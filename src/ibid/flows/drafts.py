"""Drafts: what a generator writes for a prompt, and what its claims turn out to be."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from ibid.answering.citations import parse_claims
from ibid.answering.links import guard_links
from ibid.answering.markers import hold_back_markers
from ibid.protocols import Generator
from ibid.records import Citation, Delta, Hit, Prompt


@dataclass(slots=True)
class Draft:
    """The generated text with what it cost, and what its generator warns of."""

    text: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    warnings: tuple[str, ...] = ()


def generate_draft(
    prompt: Prompt, generator: Generator, on_text: Callable[[str], None] | None = None
) -> Draft:
    """All that the generator writes, passed on as it comes; links to no source are left out."""
    draft = Draft()

    def read_deltas(deltas: Iterable[Delta]) -> Iterator[str]:
        for delta in deltas:
            draft.prompt_tokens += delta.prompt_tokens
            draft.completion_tokens += delta.completion_tokens
            draft.warnings += (delta.warning,) if delta.warning else ()
            yield delta.text

    written = guard_links(read_deltas(generator.generate(prompt)), prompt.sources)
    for piece in hold_back_markers(written):
        draft.text += piece
        if on_text is not None:
            on_text(piece)
    return draft


def check_draft(
    draft: str, sources: Sequence[Hit], language: str | None
) -> tuple[str, tuple[Citation, ...]]:
    """The text that is shown, and a checked citation for every claim of it."""
    # As long to load as to search: it isn't needed until the model has written.
    from ibid.answering.verify import verify_claims  # noqa: PLC0415

    text, claims = parse_claims(draft.strip(), len(sources), language=language)
    return text, verify_claims(claims, sources, language=language)
