"""The sockets of the house: a protocol stands only where a model, a format or an engine does.

Chunking, fusion, prompts and metrics are plain functions. Each protocol that an engine or a model
can fill has a conformance suite in `ibid.testing`.
"""

from typing import TYPE_CHECKING

from ibid.protocols.answers import AnswerLog, FileOrigin
from ibid.protocols.changes import (
    Change,
    IndexedPassage,
    PutDocument,
    RemoveDocument,
    Role,
    SetMetadata,
)
from ibid.protocols.documents import Fetched, FileStat, Reader, Source, SourceFile
from ibid.protocols.index import (
    FileState,
    FileStatus,
    Index,
    Manifest,
    Mention,
    Scope,
    Scored,
    Snapshot,
    SourceInfo,
    StoredDocument,
)
from ibid.protocols.models import (
    Calibration,
    Embedder,
    Generator,
    Reranker,
    TokenEmbedder,
    Tokenizer,
    Window,
    Windowed,
)
from ibid.protocols.queue import FileQueue, FileRun, QueuedFile, Taken
from ibid.protocols.upkeep import EmbedTexts, Problem, Revision, Staging, StoredContent, Vacuumed

if TYPE_CHECKING:
    from ibid.protocols.models import Vectors

__all__ = [
    "AnswerLog",
    "Calibration",
    "Change",
    "EmbedTexts",
    "Embedder",
    "Fetched",
    "FileOrigin",
    "FileQueue",
    "FileRun",
    "FileStat",
    "FileState",
    "FileStatus",
    "Generator",
    "Index",
    "IndexedPassage",
    "Manifest",
    "Mention",
    "Problem",
    "PutDocument",
    "QueuedFile",
    "Reader",
    "RemoveDocument",
    "Reranker",
    "Revision",
    "Role",
    "Scope",
    "Scored",
    "SetMetadata",
    "Snapshot",
    "Source",
    "SourceFile",
    "SourceInfo",
    "Staging",
    "StoredContent",
    "StoredDocument",
    "Taken",
    "TokenEmbedder",
    "Tokenizer",
    "Vacuumed",
    "Vectors",
    "Window",
    "Windowed",
]
