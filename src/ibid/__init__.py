"""Answers from your own documents, each sentence cited and each citation checked.

import ibid

with ibid.open("handbook.ibid") as library:
    library.sync("handbook/")
    print(library.ask("How long is parental leave?").text)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ibid import errors
from ibid.version import VERSION

if TYPE_CHECKING:
    from ibid.errors import *  # noqa: F403 - every error is part of the face
    from ibid.libraries import Libraries as Libraries
    from ibid.library import Library as Library
    from ibid.openers import open_library

    open = open_library
    from ibid.records import OWNER as OWNER
    from ibid.records import Answer as Answer
    from ibid.records import AnswerStatus as AnswerStatus
    from ibid.records import Block as Block
    from ibid.records import BlockKind as BlockKind
    from ibid.records import Citation as Citation
    from ibid.records import Document as Document
    from ibid.records import DocumentInfo as DocumentInfo
    from ibid.records import Hit as Hit
    from ibid.records import IngestReport as IngestReport
    from ibid.records import Passage as Passage
    from ibid.records import Query as Query
    from ibid.records import SearchResult as SearchResult
    from ibid.records import Verdict as Verdict

__version__ = VERSION

_RECORDS = (
    "OWNER",
    "Answer",
    "AnswerStatus",
    "Block",
    "BlockKind",
    "Citation",
    "Document",
    "DocumentInfo",
    "Hit",
    "IngestReport",
    "Passage",
    "Query",
    "SearchResult",
    "Verdict",
)
_ERRORS = tuple(name for name in errors.__all__ if name not in ("EXIT_CODES", "HTTP_STATUSES"))
_HOMES = {
    "open": ("ibid.openers", "open_library"),
    "Libraries": ("ibid.libraries", "Libraries"),
    "Library": ("ibid.library", "Library"),
    **{name: ("ibid.records", name) for name in _RECORDS},
    **{name: ("ibid.errors", name) for name in _ERRORS},
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    """A public name, imported when it is first used, so that `import ibid` costs nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'ibid' has no attribute {name!r}")
    module, attribute = _HOMES[name]
    value = getattr(import_module(module), attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
