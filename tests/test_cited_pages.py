"""A citation names the page on which its quote begins, not the one on which its passage does."""

from __future__ import annotations

import ibid
from ibid.records import Block, BlockKind

PAGES = ("The lease begins on 1 May 2021 in Leipzig.\n\n", "The landlord is Miriam Vogel of Halle.")


def test_a_quote_on_the_second_page_is_cited_there(library: ibid.Library) -> None:
    first = len(PAGES[0])
    text = "".join(PAGES)
    blocks = (
        Block(BlockKind.PARAGRAPH, 0, first, page=1),
        Block(BlockKind.PARAGRAPH, first, len(text), page=2),
    )
    library.ingest(
        ibid.Document("lease.pdf", text, blocks=blocks, source="file:///lease.pdf", title="Lease")
    )
    assert len(library.passages("lease.pdf")) == 1
    for question, page in (("Who is the landlord?", 2), ("When does the lease begin?", 1)):
        answer = library.ask(question)
        assert answer.citations, answer.text
        for citation in answer.citations:
            assert citation.quote is not None
            expected = 1 + (citation.quote in PAGES[1])
            assert (citation.page, citation.url) == (expected, f"file:///lease.pdf#page={expected}")
        assert page in {citation.page for citation in answer.citations}
    assert library.replay(answer.id)[1]
