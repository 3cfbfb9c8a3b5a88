"""The words of ibid as records: what travels between the stages.

Every record is frozen: a stage returns new ones. Offsets count Unicode code points of
`Document.text`; a range is half open, `[start, end)`. Scores live on hits, never on documents.
"""

from ibid.records.answers import (
    Answer,
    AnswerStatus,
    Citation,
    Claim,
    Delta,
    Message,
    Prompt,
    Request,
    Verdict,
)
from ibid.records.documents import (
    JSON,
    OWNER,
    Block,
    BlockKind,
    Box,
    Document,
    DocumentInfo,
    Failed,
    IngestReport,
    Moved,
    Owner,
    Passage,
    PassageCounts,
    Principals,
    Skipped,
)
from ibid.records.questions import (
    Contribution,
    Hit,
    Move,
    Query,
    SearchMode,
    SearchResult,
    TraceStep,
)

__all__ = [
    "JSON",
    "OWNER",
    "Answer",
    "AnswerStatus",
    "Block",
    "BlockKind",
    "Box",
    "Citation",
    "Claim",
    "Contribution",
    "Delta",
    "Document",
    "DocumentInfo",
    "Failed",
    "Hit",
    "IngestReport",
    "Message",
    "Move",
    "Moved",
    "Owner",
    "Passage",
    "PassageCounts",
    "Principals",
    "Prompt",
    "Query",
    "Request",
    "SearchMode",
    "SearchResult",
    "Skipped",
    "TraceStep",
    "Verdict",
]
