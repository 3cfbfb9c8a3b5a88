"""The settings as they are declared: each a field, with its default, its help and its limits."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, Final, TypeAlias, get_args
from urllib.parse import parse_qsl, urlsplit

from ibid.record import record
from ibid.records import AskContext, SearchMode

Scalar: TypeAlias = str | int | float | bool | None


@record
class Limits:
    """What a setting is for and may be; `low` and `high` are allowed themselves."""

    help: str
    low: float = -math.inf
    high: float = math.inf
    choices: tuple[str, ...] = ()
    check: Callable[[str], bool] | None = None


def _setting(default: Scalar, help: str, **limits: Any) -> Any:
    return field(default=default, metadata={"limits": Limits(help, **limits)})


def _is_plain_url(value: str) -> bool:
    """An address without a name or password in it: these would be shown with the settings."""
    try:
        url = urlsplit(value)
    except ValueError:
        return False
    return url.scheme in ("http", "https") and bool(url.hostname) and "@" not in url.netloc


def _is_key_file(value: str) -> bool:
    """A plain address, or a file of this machine."""
    return _is_plain_url(value) or value.startswith("file:///")


def _is_plain_database(value: str) -> bool:
    """The address of a database server without a password in it, likewise."""
    try:
        url = urlsplit(value)
    except ValueError:
        return False
    options = {name for name, _ in parse_qsl(url.query)}
    return (
        url.scheme in ("postgresql", "postgres")
        and not url.password
        and ("password" not in options)
    )


_FUSIONS: Final = ("best", "minmax", "standard", "rrf")
_FEEDBACKS: Final = ("none", "rocchio", "rm3")
_METHODS: Final = ("structure", "sentences", "words", "characters")
_URL_HELP: Final = "http or https address of an OpenAI-compatible endpoint, without a password"


@record
class EmbedderSettings:
    """What turns text into vectors."""

    name: str = _setting("all-MiniLM-L6-v2", "the embedder: a name, or a folder with its model")
    base_url: str | None = _setting(None, _URL_HELP, check=_is_plain_url)
    model: str | None = _setting(None, "the model to ask for at the endpoint")


@record
class GeneratorSettings:
    """What writes the answers."""

    name: str = _setting("extractive", "the generator")
    base_url: str | None = _setting(None, _URL_HELP, check=_is_plain_url)
    model: str | None = _setting(None, "the model to ask for, or the path of a GGUF file")
    temperature: float | None = _setting(0.0, "0 for the likeliest answer", low=0, high=2)
    output_tokens: int = _setting(1024, "tokens that an answer may take", low=1, high=1_000_000)
    context_tokens: int | None = _setting(
        None, "tokens that the model holds; none asks its endpoint", low=1, high=100_000_000
    )
    first_seconds: float = _setting(120.0, "longest wait for the first token", low=0.1, high=86_400)
    idle_seconds: float = _setting(30.0, "longest wait between tokens", low=0.1, high=86_400)
    total_seconds: float = _setting(600.0, "longest time for an answer", low=0.1, high=86_400)
    retries: int = _setting(4, "times that a busy endpoint is asked again", low=0, high=20)


@record
class SpendingSettings:
    """What models that are paid for may take in a day (UTC)."""

    tokens_a_day: int | None = _setting(None, "tokens that may be paid for in a day", low=1)
    money_a_day: float | None = _setting(None, "money that may be spent in a day", low=0)


@record
class Price:
    """The price of a million tokens of a model, sent and written, in a currency of one's own."""

    input: float
    output: float


@record
class ChunkingSettings:
    """How documents are cut; None is as the method has it."""

    by: str = _setting("structure", "what documents are cut by", choices=_METHODS)
    size: int | None = _setting(None, "size of a passage in the method's unit", low=1)
    overlap: int | None = _setting(None, "how much of a passage the next repeats", low=0)


@record
class WeightSettings:
    """What each retriever counts in fusion."""

    lexical: float = _setting(1.0, "weight of the keyword search", low=0, high=1000)
    dense: float = _setting(1.0, "weight of the vector search", low=0, high=1000)
    feedback: float = _setting(2.0, "weight of the search with feedback", low=0, high=1000)
    document: float = _setting(
        2.0, "weight of a document's keyword score beside its passage's", low=0, high=1000
    )
    foreign: float = _setting(
        0.04, "factor of vectors in a language that the embedder does not know", low=0, high=1000
    )


@record
class SearchSettings:
    """How passages are found."""

    k: int = _setting(10, "hits of a search", low=1, high=1000)
    mode: SearchMode = _setting("hybrid", "the retrievers", choices=get_args(SearchMode))
    candidates: int = _setting(100, "passages each retriever finds", low=1, high=10_000)
    fusion: str = _setting("best", "how scores become one ranking", choices=_FUSIONS)
    rrf_k: int = _setting(60, "the constant of reciprocal rank fusion", low=0, high=10_000)
    unit: str = _setting("passages", "what is ranked", choices=("passages", "documents"))
    feedback: str = _setting(
        "rocchio", "what the first hits add: none, by vectors, by terms", choices=_FEEDBACKS
    )
    feedback_hits: int = _setting(1, "hits that feedback is taken from", low=1, high=100)
    feedback_weight: float = _setting(0.6, "how far feedback moves the query", low=0, high=100)
    feedback_terms: int = _setting(10, "terms that rm3 adds to the query", low=1, high=1000)
    weights: WeightSettings = WeightSettings()
    min_score: float | None = _setting(None, "the least score that is shown")
    rerank: str = _setting("none", "the reranker")
    section_pieces: int = _setting(
        0, "word pieces of the section shown with a hit; 0 shows the passage", low=0, high=100_000
    )
    graph: bool = _setting(True, "add passages that join what the first hits name")
    agent: bool = _setting(False, "let the generator search on its own")


@record
class RerankSettings:
    """What the reranker that `search.rerank` names works with."""

    model: str | None = _setting(None, "its model: a folder, a name on the hub or at the endpoint")
    base_url: str | None = _setting(
        None, "http or https address of its endpoint, without a password", check=_is_plain_url
    )
    candidates: int = _setting(50, "passages that are reranked", low=1, high=1000)
    scores: str | None = _setting(
        None, "what it gives: logits, or unit for 0 to 1", choices=("logits", "unit")
    )
    slope: float | None = _setting(None, "slope of its calibration", low=0, high=1000)
    offset: float | None = _setting(None, "offset of its calibration", low=-1000, high=1000)


def _is_methods(value: str) -> bool:
    """Names of ways to rewrite a question, with commas between them, each once."""
    names = [name.strip() for name in value.split(",")]
    return value == NO_METHODS or (set(names) <= {*METHODS} and len({*names}) == len(names))


METHODS: Final = ("follow-up", "decompose", "paraphrases", "hyde", "step-back")
NO_METHODS: Final = "nothing"
_METHODS_HELP: Final = f"{', '.join(METHODS)} (any, with commas), or {NO_METHODS}"


@record
class RewriteSettings:
    """What a question is also searched by."""

    methods: str = _setting("follow-up", _METHODS_HELP, check=_is_methods)
    by: str = _setting(
        "rules", "what rewrites: rules, or the generator", choices=("rules", "model")
    )
    weight: float = _setting(0.5, "what all rewrites count beside the question's 1", low=0, high=1)
    seconds: float = _setting(10.0, "longest wait for a model to rewrite", low=0.1, high=600)
    synonyms: str | None = _setting(None, "a file of synonyms; its path in the library's folder")


@record
class AgentSettings:
    """The limits of a generator that searches on its own."""

    steps: int = _setting(4, "replies of a generator that searches", low=1, high=50)
    tokens: int = _setting(20_000, "tokens it may send and receive", low=1, high=10_000_000)
    seconds: float = _setting(60.0, "longest time for its search", low=0.1, high=3600)


@record
class SelectSettings:
    """What becomes of ranked hits before they are shown."""

    alike: float | None = _setting(
        0.8, "likeness from which two sources of an answer say the same", low=0, high=1
    )
    half_life_days: float | None = _setting(
        None, "days in which a document's recency halves", low=0.001, high=1e6
    )
    recency: float = _setting(
        0.2, "the part of its score that the oldest hit loses, with a half-life", low=0, high=1
    )
    join_pieces: int = _setting(
        0, "word pieces up to which neighbouring hits become one; 0 joins none", low=0, high=100_000
    )
    budget_pieces: int | None = _setting(
        None, "word pieces of all hits together; the weakest go first", low=1
    )


@record
class AskSettings:
    """How questions are answered."""

    sources: int = _setting(6, "passages that an answer is made from", low=1, high=100)
    abstain: float = _setting(
        0.6,
        "probability of no answer from which none is given; 1 only where nothing is found",
        low=0,
        high=1,
    )
    strict: bool = _setting(False, "leave out claims that nothing supports")
    repair: bool = _setting(True, "have a model write claims that nothing supports once again")
    template: str = _setting("grounded", "the wording of the prompt")
    context: AskContext = _setting("search", "what a model is sent", choices=get_args(AskContext))
    cache: bool = _setting(False, "give a remote model's answer to the same question again")
    by_document: bool = _setting(False, "put the sources in the order of their documents' text")


@record
class AnswersSettings:
    """What becomes of the answers that were given."""

    log: bool = _setting(True, "keep every answer in the library")
    keep_days: int | None = _setting(
        90, "days after which an answer leaves the log", low=1, high=36_500
    )


@record
class IngestSettings:
    """How documents are taken in."""

    max_file_bytes: int = _setting(100_000_000, "size of the largest file that is read", low=1)
    readers: int = _setting(1, "processes that read files", low=1, high=64)
    commit_seconds: float = _setting(5.0, "seconds between commits", low=0.1, high=3600)
    contexts: bool = _setting(False, "let the generator write a context for each passage")
    batch: int = _setting(512, "passages after which a commit is made", low=1, high=100_000)


@record
class WorkersSettings:
    """How workers take in the files that a sync hands out."""

    attempts: int = _setting(3, "attempts at a file before it fails", low=1, high=100)
    lost_seconds: float = _setting(
        30.0, "silence after which a worker is taken for dead", low=0.2, high=86_400
    )


@record
class IndexSettings:
    """Where a library may lie, and how vectors are searched in a large one."""

    ann_rows: int = _setting(
        300_000, "passages in a scope from which vectors are approximate", low=1
    )
    ann_share: float = _setting(
        0.04, "part of its vectors that an approximate search looks at", low=0.001, high=1
    )
    ann_cluster: int = _setting(128, "passages in one cluster of vectors", low=16, high=4096)
    network_drive: bool = _setting(False, "open a library on a drive of another machine")
    readers: str | None = _setting(
        None,
        "postgresql:// address of read replicas, without a password",
        check=_is_plain_database,
    )


def _are_languages(value: str) -> bool:
    """Tesseract's names of languages, such as `ces` or `chi_sim`, with `+` between them."""
    return all(name.replace("_", "").isalpha() for name in value.split("+"))


@record
class ReadingSettings:
    """The limits of reading one file, and the languages of scans."""

    max_seconds: float = _setting(120.0, "longest time for one file", low=1, high=86_400)
    memory_bytes: int = _setting(1024**3, "memory of a reading process", low=128 * 1024**2)
    ocr_languages: str | None = _setting(
        None, "languages of scans by tesseract's names, as in ces+eng", check=_are_languages
    )


@record
class VersionSettings:
    """How long past versions are kept."""

    keep_days: float = _setting(
        30.0, "days that `ibid vacuum` keeps replaced versions", low=0, high=36_500
    )


SCOPES: Final = ("search", "ask", "ingest", "admin")
"""What a caller of the service may be let do."""


def _is_scopes(value: str) -> bool:
    return {name.strip() for name in value.split(",")} <= {*SCOPES}


@record
class ServeSettings:
    """How `ibid serve` serves a library."""

    host: str = _setting("127.0.0.1", "the address to listen at")
    port: int = _setting(8642, "the port to listen at; 0 takes any", low=0, high=65_535)
    auth: str = _setting(
        "auto",
        "who must show a key: all (keys), none (off), or all but on this machine (auto)",
        choices=("auto", "keys", "off"),
    )
    hosts: str | None = _setting(None, "names it may be called by, with commas")
    requests: int = _setting(400, "requests worked on at once", low=1, high=100_000)
    asks: int = _setting(64, "answers written at once", low=1, high=10_000)
    per_minute: int | None = _setting(None, "requests of one caller in a minute", low=1)
    body_bytes: int = _setting(110_000_000, "size of the largest request", low=1024)
    log_text: bool = _setting(False, "write questions to the audit log too")
    traces: str | None = _setting(
        None,
        "where spans go by OTLP, such as http://127.0.0.1:4318/v1/traces",
        check=_is_plain_url,
    )
    issuer: str | None = _setting(None, "who issues the tokens that are taken", check=_is_plain_url)
    audience: str | None = _setting(None, "whom a token must be for")
    jwks_url: str | None = _setting(
        None, "where the issuer's public keys are; file:/// names a file", check=_is_key_file
    )
    groups_claim: str = _setting("groups", "the claim of a token with its bearer's groups")
    token_scopes: str = _setting(
        "search,ask", "what the bearer of a token may do, with commas", check=_is_scopes
    )


@record
class Settings:
    """All settings; the sections are the tables of `config.toml`."""

    embedder: EmbedderSettings = EmbedderSettings()
    generator: GeneratorSettings = GeneratorSettings()
    chunking: ChunkingSettings = ChunkingSettings()
    search: SearchSettings = SearchSettings()
    rerank: RerankSettings = RerankSettings()
    select: SelectSettings = SelectSettings()
    rewrite: RewriteSettings = RewriteSettings()
    agent: AgentSettings = AgentSettings()
    ask: AskSettings = AskSettings()
    spending: SpendingSettings = SpendingSettings()
    answers: AnswersSettings = AnswersSettings()
    ingest: IngestSettings = IngestSettings()
    workers: WorkersSettings = WorkersSettings()
    reading: ReadingSettings = ReadingSettings()
    versions: VersionSettings = VersionSettings()
    index: IndexSettings = IndexSettings()
    serve: ServeSettings = ServeSettings()
    offline: bool = _setting(False, "refuse all that would leave this machine")
    lock_timeout_s: float = _setting(30.0, "seconds to wait for another writer", low=0, high=86_400)
    prices: Mapping[str, Price] = field(default_factory=dict)
    """Of models by their names, from the tables `[prices."name"]` of `config.toml`."""
    origins: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    """Where values came from, by key: a file, a variable, or a flag; others are defaults."""
