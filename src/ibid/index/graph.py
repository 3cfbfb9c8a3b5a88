"""The graph of a library: which passage names which entity, and how strongly.

Entities that a passage names together are related by it; a passage that names one of them leads to
the others. The graph has no other parts, so that it grows and shrinks with the passages.
"""

from __future__ import annotations

from typing import Final

from ibid.language.entities import find_entities, find_title_entities, hash_entity
from ibid.protocols import Role
from ibid.records import Passage

TITLED_PASSAGES: Final = 16
"""Passages of a document that its title stands for, from the first: whoever follows a name to a
document wants to know what it is, which is said at its beginning."""


def mention_entities(passage: Passage, title: str | None, language: str | None) -> dict[int, Role]:
    """The numbers of the entities that a passage names, each with the strongest of its roles.

    What a model wrote of where the passage stands names them too, where it was asked to: so "she"
    becomes somebody.
    """
    text = "\n".join((passage.context, passage.text[passage.body :]))
    named = dict.fromkeys(find_entities(text, language), Role.TEXT)
    for heading in passage.headings:
        named |= dict.fromkeys(find_title_entities(heading), Role.HEADING)
    if title and passage.ordinal < TITLED_PASSAGES:
        named |= dict.fromkeys(find_title_entities(title), Role.TITLE)
    return {hash_entity(name): role for name, role in named.items()}
