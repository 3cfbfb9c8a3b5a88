"""Pages that tell which file and edition each of their passages is from, and what a library of such
pages must hold at every moment: each page whole, in one edition."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import Any, Final

import ibid
from ibid.reading.registry import read_bytes
from ibid.records import Hit

PARTS: Final = 3

EVERY: Final = 1000
"""More hits than there are passages: a search for all of them."""

MODES: Final = ("lexical", "dense", "hybrid")


def page(name: str, edition: int) -> str:
    """A file of three passages, each of which tells which file and edition it is from."""
    said = f"in the common edition{edition} of {name.removesuffix('.md')}"
    return "".join(f"# Part {part}\n\nThis is part{part} {said}.\n\n" for part in range(PARTS))


def read_page(name: str, edition: int) -> ibid.Document:
    """The same as a document, as reading the file gives it."""
    document = read_bytes(page(name, edition).encode(), name, "text/markdown")
    return replace(document, id=name)


def find_edition(text: str) -> int:
    """The one edition that a text is of."""
    (edition,) = set(re.findall(r"edition(\d+)", text))
    return int(edition)


def search_all(library: ibid.Library, mode: Any) -> list[Hit]:
    """Every passage, as a search of this mode finds them."""
    result = library.run_search(ibid.Query("common edition", ibid.OWNER), mode=mode, k=EVERY)
    return list(result.hits)


def count_editions(hits: list[Hit]) -> dict[str, int]:
    """The edition of each document that was found; all its passages must be there, of one."""
    found = Counter((hit.document_id, find_edition(hit.passage.text)) for hit in hits)
    editions = dict(found)
    assert set(editions.values()) <= {PARTS}, editions
    assert len({id for id, _ in editions}) == len(editions), editions
    return dict(found.keys())


def check_whole_document(library: ibid.Library, id: str) -> tuple[int, list[str]]:
    """The edition of a document that is there with all its passages, and their ids."""
    document = library.document(id, ibid.OWNER)
    passages = library.passages(id, ibid.OWNER)
    assert [f"part{part}" in p.text for part, p in enumerate(passages)] == [True] * PARTS
    return find_edition(document.text), [passage.id for passage in passages]


def check_whole(library: ibid.Library) -> dict[str, int]:
    """The edition of every document; it is there with all its passages, and no passage without."""
    editions, expected = {}, []
    for info in library.documents(ibid.OWNER):
        editions[info.id], ids = check_whole_document(library, info.id)
        assert len(ids) == info.passages
        document = library.document(info.id, ibid.OWNER)
        passages = library.passages(info.id, ibid.OWNER)
        assert all(document.text[p.span] == p.text for p in passages)
        expected += ids
    for mode in MODES:
        assert sorted(hit.passage.id for hit in search_all(library, mode)) == sorted(expected)
    return editions
