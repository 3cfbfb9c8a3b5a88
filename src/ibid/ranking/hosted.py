"""Reranking over HTTP: endpoints in the shapes of Cohere, Jina, TEI and vLLM, from one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ibid.errors import MalformedOutput
from ibid.protocols import Calibration
from ibid.records import JSON
from ibid.wire import PayloadTooLarge, Wire

TEXTS_PER_REQUEST: Final = 100
"""Passages sent at a time; more than a search reranks unless it is told to."""


@dataclass(frozen=True, slots=True)
class RerankShape:
    """The JSON of one kind of endpoint: where it is asked, with what, and where the scores are.

    `texts` names the list of passages and `score` the number of each result; `results` names the
    list of these, "" where it is the whole reply. `extra` is sent along.
    """

    path: str
    texts: str
    results: str
    score: str
    extra: Mapping[str, JSON]


RERANK_SHAPES: Final[Mapping[str, RerankShape]] = {
    "cohere": RerankShape("/v2/rerank", "documents", "results", "relevance_score", {}),
    "jina": RerankShape(
        "/rerank", "documents", "results", "relevance_score", {"return_documents": False}
    ),
    "tei": RerankShape("/rerank", "texts", "", "score", {"raw_scores": False, "truncate": True}),
    "vllm": RerankShape("/rerank", "documents", "results", "relevance_score", {}),
}
"""The shapes by name: Cohere's API v2, Jina's v1, text-embeddings-inference, and vLLM's server.

`path` is what comes after the base address; vLLM's and Jina's base ends in /v1.
"""


class HostedReranker:
    """Asks an endpoint; a passage without any letter or mark is never sent and scores lowest.

    `calibration` None takes the scores as they come, which all these endpoints give from 0 to 1
    unless a model of another kind is served.
    """

    def __init__(
        self,
        wire: Wire,
        model: str,
        shape: RerankShape,
        *,
        calibration: Calibration | None = None,
    ) -> None:
        self.name = model or "rerank"
        self.remote = wire.remote
        self.calibration = calibration
        self._wire = wire
        self._model = model
        self._shape = shape

    def rerank(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """The endpoint's scores, in the order of the texts.

        A batch that is too large for the endpoint is halved, down to one text. Raises
        ModelUnavailable, ModelTimeout or MalformedOutput.
        """
        sent = [index for index, text in enumerate(texts) if text.strip()]
        given: dict[int, float] = {}
        for at in range(0, len(sent), TEXTS_PER_REQUEST):
            batch = sent[at : at + TEXTS_PER_REQUEST]
            given.update(zip(batch, self._request(query, [texts[i] for i in batch]), strict=True))
        least = min(given.values(), default=0.0)
        return [given.get(index, least) for index in range(len(texts))]

    def _request(self, query: str, texts: list[str]) -> list[float]:
        shape = self._shape
        body: dict[str, JSON] = {"query": query, shape.texts: [*texts], **shape.extra}
        if self._model:
            body["model"] = self._model
        try:
            reply = self._wire.post(shape.path, body)
        except PayloadTooLarge:
            if len(texts) == 1:
                raise
            half = len(texts) // 2
            return self._request(query, texts[:half]) + self._request(query, texts[half:])
        return _read_scores(reply, shape, len(texts), self._wire.origin)


def _read_scores(reply: JSON, shape: RerankShape, count: int, origin: str) -> list[float]:
    """The scores of a reply in the order of the texts; endpoints send the best first."""
    found = reply.get(shape.results) if isinstance(reply, dict) else reply
    scores: dict[int, float] = {}
    for result in found if isinstance(found, list) else ():
        index = result.get("index") if isinstance(result, dict) else None
        score = result.get(shape.score) if isinstance(result, dict) else None
        if isinstance(index, int) and isinstance(score, int | float):
            scores[index] = float(score)
    if sorted(scores) != list(range(count)):
        raise MalformedOutput(
            f"{origin} scored {len(scores)} passages where {count} were sent",
            hint="look whether the address is that of a reranker, and search.rerank names its kind",
        )
    return [scores[index] for index in range(count)]
