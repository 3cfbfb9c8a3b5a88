"""The options of the flows, light enough to be made before any flow is needed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ibid.chunking.options import Chunking
from ibid.errors import BadQuery, BadSetting
from ibid.protocols import FileQueue, Scope, SourceFile
from ibid.ranking.feedback import Feedback
from ibid.ranking.fusion import Fusion
from ibid.ranking.units import Unit
from ibid.record import record
from ibid.records import (
    JSON,
    OWNER,
    AskContext,
    Hit,
    Owner,
    Principals,
    Query,
    SearchMode,
    is_principal,
)

if TYPE_CHECKING:
    from ibid.flows.contextual import Contextualizer
    from ibid.flows.rewriter import Rewriter
    from ibid.ranking.rewriting import Method
    from ibid.ranking.synonyms import Synonyms
    from ibid.reading.pool import ReaderPool

EVERYTHING: Final = Scope(OWNER, include_archived=True)
"""The owner's scope, in which whoever may write sees what is there."""

MAX_FILE_BYTES: Final = 100_000_000
READ_SECONDS: Final = 120.0
READ_BYTES: Final = 1024**3


@record
class IngestOptions:
    """How documents are taken in.

    `chunking` is the library's own, for a document that no rule gives another.

    Files over `max_file_bytes` are refused; the others are read by `readers` processes, each
    within `read_seconds` for a file and `read_bytes` of memory. A commit is due when
    `commit_seconds` have passed since the last one, or `commit_passages` passages wait. With a
    `contextualizer`, a model writes a context for each passage. `password` opens files that are
    encrypted; scans are in `ocr_languages`, by default in those that are installed.
    """

    chunking: Chunking = Chunking()
    max_file_bytes: int = MAX_FILE_BYTES
    readers: int = 1
    read_seconds: float = READ_SECONDS
    read_bytes: int = READ_BYTES
    ocr_languages: tuple[str, ...] = ()
    commit_seconds: float = 5.0
    commit_passages: int = 512
    contextualizer: Contextualizer | None = None
    password: str | None = field(default=None, repr=False)

    def tell_recipe(self, chunking: Chunking) -> str:
        """What a document's passages are made by, beside the document itself."""
        if self.contextualizer is None:
            return str(chunking)
        return f"{chunking} with contexts by {self.contextualizer.generator.name}"


LendReaders: TypeAlias = "Callable[[], AbstractContextManager[ReaderPool]]"
"""Lends a pool of readers for the length of a `with`."""


@record
class Workers:
    """Workers that take in the files of a sync: by which queue, and what is called while it waits
    for them; what that raises ends the sync."""

    queue: FileQueue
    on_wait: Callable[[], None] = lambda: None


Spread: TypeAlias = Callable[[Any, Sequence[SourceFile]], AbstractContextManager[Iterator[Any]]]
"""Has the files of a `flows.spread.Work` prepared at many places, for a `with`.

They come back as `flows.spread.Prepared`, in the order given.
"""


@record
class SyncOptions:
    """How a folder is synced: `checksum` reads every file, `allow_emptying` lets more than half of
    the documents go. Without `lend_readers`, files are read in children that end with the sync;
    with `workers`, they are read, cut and embedded by these, with `spread` at the places of a
    cluster and written here."""

    ingest: IngestOptions = IngestOptions()
    checksum: bool = False
    dry_run: bool = False
    allow_emptying: bool = False
    lend_readers: LendReaders | None = None
    workers: Workers | None = None
    spread: Spread | None = None


@record
class Progress:
    """How far a run is: files done of those to be read, and the version that holds them."""

    done: int
    total: int
    version: int


@record
class Listener:
    """Who is told of an answer while it comes about: what it is made from, then its text in pieces.

    What a listener raises ends the answer, and stops the model that writes it.
    """

    on_sources: Callable[[Sequence[Hit]], None] | None = None
    on_text: Callable[[str], None] | None = None

    def hear_sources(self, sources: Sequence[Hit]) -> None:
        """Tell of the sources, in the order in which they are cited."""
        if self.on_sources is not None:
            self.on_sources(sources)

    def hear_text(self, text: str) -> None:
        """Tell of the next piece of the text."""
        if self.on_text is not None:
            self.on_text(text)


NOBODY: Final = Listener()


OnProgress: TypeAlias = Callable[[Progress], None]
"""Called after each commit: what it counts as done is in the library for good."""


CANDIDATES: Final = 100
"""Passages that each retriever gives to fusion (the depth at which the defaults were measured)."""

WEIGHTS: Final = MappingProxyType({"lexical": 1.0, "dense": 1.0, "feedback": 2.0})
"""What each retriever counts in fusion (docs/RETRIEVAL.md has the measurements)."""

RERANK_CANDIDATES: Final = 50
"""Passages that a reranker reads: it computes anew for each of them, at every question."""


ALIKE: Final = 0.8
"""Likeness from which two passages of an answer's sources say the same."""


@record
class SelectOptions:
    """What becomes of ranked hits before they are shown.

    `alike` is the likeness, from 0 to 1, at which passages fill one place where hits are distinct;
    None collapses equal texts alone. With `half_life_days`, a hit loses up to the part `recency` of
    its score with age. `join_pieces` is the size up to which neighbouring hits become one, 0 joins
    none. `budget_pieces` bounds all that is shown; what is weakest goes first.
    """

    alike: float | None = ALIKE
    half_life_days: float | None = None
    recency: float = 0.2
    join_pieces: int = 0
    budget_pieces: int | None = None


REWRITES_WEIGHT: Final = 0.5
"""What all rewrites of a question count together, beside 1 for the question itself."""


@record
class RewriteOptions:
    """How a question is rewritten: by which methods, beside a file of synonyms, and at what weight.

    Follow-ups count by themselves: their standalone form is the question. With `by_model`, a
    language model writes what else would be made by rule, and what no rule can make.
    """

    methods: tuple[Method, ...] = ("follow-up",)
    synonyms: Synonyms | None = None
    weight: float = REWRITES_WEIGHT
    by_model: bool = False

    def has_work(self, query: Query) -> bool:
        """Whether anything may be made of a query."""
        others = [method for method in self.methods if method != "follow-up"]
        return bool(query.history or others or self.synonyms)


@record
class AgentOptions:
    """The limits of a model that searches on its own: its replies, all its tokens, seconds."""

    steps: int = 4
    tokens: int = 20_000
    seconds: float = 60.0


@record
class SearchOptions:
    """How a search is carried out.

    `candidates` is the depth of each retriever. `fusion` makes one ranking of theirs, `weights`
    are by retriever (1 unless given), `rrf_k` is the constant of "rrf". The `unit` that is ranked
    is the passage, or the document by its best passage. With `feedback`, what the first
    `feedback_hits` of a hybrid search say is a retriever of its own: "rocchio" compares all that
    was found with the vector moved toward theirs by `feedback_weight`, "rm3" searches again with
    their `feedback_terms` likeliest terms, which then weigh `feedback_weight`, from 0 to 1. The
    keyword score of a passage is its own BM25 and `document_weight` times that of its document.
    What was found by vectors counts `foreign_weight` times as much in a language that the embedder
    does not know.

    `rerank_candidates` are read by a reranker, or k where that is more. `min_score` is held against
    the score that is shown: the fused one, or that of a later stage. With `distinct`, passages of
    the same text fill one place, and near duplicates as `select` says. Where `section_pieces` is
    more than 0, a hit is shown with the widest section around it that has at most so many word
    pieces. `rewrite` says what the question is also searched by, `graph` whether passages are added
    that join what the first hits name, and `agent`, where it is given, lets a model search on; a
    model is asked through the `rewriter`.
    """

    k: int = 10
    mode: SearchMode = "hybrid"
    candidates: int = CANDIDATES
    fusion: Fusion = "best"
    rrf_k: int = 60
    weights: Mapping[str, float] = field(default_factory=lambda: WEIGHTS)
    unit: Unit = "passages"
    feedback: Feedback = "rocchio"
    feedback_hits: int = 1
    feedback_weight: float = 0.6
    feedback_terms: int = 10
    document_weight: float = 2.0
    foreign_weight: float = 0.04
    min_score: float | None = None
    distinct: bool = False
    section_pieces: int = 0
    rerank_candidates: int = RERANK_CANDIDATES
    select: SelectOptions = SelectOptions()
    rewrite: RewriteOptions = RewriteOptions()
    graph: bool = True
    agent: AgentOptions | None = None
    rewriter: Rewriter | None = None

    @property
    def rerank_depth(self) -> int:
        """How many hits the reranker reads."""
        return max(self.k, self.rerank_candidates)

    @property
    def selects(self) -> bool:
        """Whether hits past the first k may come to be among them."""
        select = self.select
        widens = self.section_pieces > 0 or select.join_pieces > 0
        return self.distinct or widens or select.half_life_days is not None


SOURCES: Final = 6
"""Passages that an answer is made from."""


@record
class AskOptions:
    """How a question is answered, and the hash of the settings that this came from.

    The `context` says what a model is sent: what a search found, all that the asker may see, or
    that where it fits; `by_document` puts the sources in the order of their documents' text,
    `tell_changed` looks whether the files cited are still as they were read. With `strict`, claims
    that nothing supports are left out; with `repair`, a model is asked once to write them again
    before. `abstain` is the estimated probability of there being no
    answer from which none is written; `calibrated` are the languages in which the embedder's
    cosines mean to that estimate what they were fitted with.
    """

    search: SearchOptions = SearchOptions(k=SOURCES, distinct=True)
    abstain: float = 0.6
    calibrated: frozenset[str] = frozenset()
    strict: bool = False
    repair: bool = True
    template: str = "grounded"
    context: AskContext = "search"
    by_document: bool = False
    tell_changed: bool = True
    settings_hash: str = ""


KEEP_DAYS: Final = 90
"""Days after which an answer leaves the log."""


@record
class LogOptions:
    """What becomes of answers: whether they are kept, for how many days (None: for good), and
    whether a remote model's answer to the same question is given again."""

    keep: bool = True
    keep_days: float | None = KEEP_DAYS
    reuse: bool = False


def describe_said(
    *,
    allow: Iterable[str] | None = None,
    public: bool = False,
    tags: Mapping[str, JSON] | None = None,
    archived: bool | None = None,
) -> dict[str, JSON]:
    """What a call says of documents, as it is kept; only what it says. Raises BadSetting."""
    if public and allow is not None:
        raise BadSetting("allow and public at once", hint="say one of them")
    said: dict[str, JSON] = {}
    if public:
        said["allow"] = None
    elif allow is not None:
        said["allow"] = [*sorted(check_allow(allow))]
    if tags:
        said["tags"] = dict(tags)
    if archived is not None:
        said["archived"] = archived
    return said


def hold_principals(principals: Iterable[str] | Owner) -> Principals:
    """The set that a caller holds; a single text would be taken apart, so it is refused.

    Raises BadQuery, also for what names nobody.
    """
    if isinstance(principals, Owner):
        return principals
    if isinstance(principals, str):
        raise BadQuery(
            f"principals={principals!r} is one text, not a set of them",
            hint=f"write {{{principals!r}}}",
        )
    if not isinstance(principals, Iterable):
        raise BadQuery(
            f"principals={principals!r} is no set",
            hint='write {"user:ann"}, or leave it out for public documents only',
        )
    names = tuple(principals)
    for name in names:
        if not is_principal(name):
            raise BadQuery(f"principals hold {name!r}, which names nobody", hint=_explain(name))
    return frozenset(names)


def _explain(name: object) -> str:
    """How a principal that is none is to be written."""
    if name == OWNER.value:
        return "the owner stands alone: ibid.OWNER in Python, --as '*' at the command line"
    return "name a kind and a name without spaces, such as user:ann or group:hr"


def check_allow(allow: Iterable[str]) -> frozenset[str]:
    """The principals as a set. Raises BadSetting for one text, and for what names nobody."""
    if isinstance(allow, str):
        raise BadSetting(f"allow={allow!r} is one text, not a set", hint=f"write {{{allow!r}}}")
    names = tuple(allow)
    for name in names:
        if not is_principal(name):
            raise BadSetting(f"allow holds {name!r}, which names nobody", hint=_explain(name))
    return frozenset(names)
