"""From names to rerankers, one table; a model is opened when it is first asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ibid.errors import BadSetting
from ibid.openers.endpoints import open_wire, refuse_remote
from ibid.openers.generators import EXTRACTIVE
from ibid.protocols import Calibration, Embedder, Generator, Reranker
from ibid.record import record
from ibid.settings import Settings

if TYPE_CHECKING:
    from ibid.settings.sections import RerankSettings


@record
class RerankParts:
    """What a reranker may be made from; `cache` is where models lie ready."""

    settings: Settings
    embedder: Embedder
    open_generator: Callable[[], Generator]
    cache: Path


def open_reranker(name: str, parts: RerankParts) -> Reranker | None:
    """The reranker of a name with the calibration that the settings say, None for "none".

    Raises BadSetting for a name that isn't known or settings that are missing, ModelUnavailable
    for one that would send text away where nothing may leave this machine.
    """
    if name not in RERANKERS:
        raise BadSetting(
            f"no reranker is called {name!r}", hint=f"use one of {', '.join(RERANKERS)}"
        )
    reranker = RERANKERS[name](parts)
    if reranker is None:
        return None
    refuse_remote(reranker, parts.settings)
    return _recalibrate(reranker, parts.settings.rerank)


def _recalibrate(reranker: Reranker, settings: RerankSettings) -> Reranker:
    """The reranker, with what the settings say of its scores in place of what it says itself."""
    said = (settings.scores, settings.slope, settings.offset)
    if all(value is None for value in said):
        return reranker
    from ibid.ranking.calibration import Recalibrated

    if settings.scores == "unit":
        return Recalibrated(reranker, None)
    own = reranker.calibration if settings.scores is None else None
    base = own or Calibration()
    return Recalibrated(
        reranker,
        Calibration(
            base.slope if settings.slope is None else settings.slope,
            base.offset if settings.offset is None else settings.offset,
        ),
    )


def _open_proximity(parts: RerankParts) -> Reranker:
    from ibid.language.analyzer import analyze
    from ibid.ranking.proximity import ProximityReranker

    return ProximityReranker(analyze)


def _open_late_interaction(parts: RerankParts) -> Reranker:
    embedder: Any = parts.embedder
    if not hasattr(embedder, "embed_tokens"):
        raise BadSetting(
            f"the embedder {parts.embedder.name} gives no vectors of word pieces",
            hint="use the default embedder or one from a folder, or another reranker",
        )
    from ibid.ranking.late_interaction import LateInteractionReranker

    return LateInteractionReranker(embedder)


def _open_cross_encoder(parts: RerankParts) -> Reranker:
    model = parts.settings.rerank.model
    if model is None:
        raise BadSetting(
            "search.rerank is cross-encoder, but rerank.model says nothing",
            hint="set it to a folder with model.onnx and tokenizer.json, or to a name on the hub",
        )
    from ibid.embedding.cross_encoder import CrossEncoder
    from ibid.embedding.local import read_model_folder

    folder = Path(model).expanduser()
    if not folder.is_dir():
        from ibid.embedding.hub import fetch_model

        folder = fetch_model(model, cache=parts.cache, offline=parts.settings.offline)
    return CrossEncoder(read_model_folder(folder), cache=parts.cache)


def _open_listwise(parts: RerankParts) -> Reranker:
    generator = parts.open_generator()
    if generator.name == EXTRACTIVE:
        raise BadSetting(
            "the reranker listwise needs a language model, and the generator is extractive",
            hint="set generator.name and its endpoint, or use another reranker",
        )
    from ibid.ranking.listwise import ListwiseReranker

    return ListwiseReranker(generator)


def _open_hosted(kind: str) -> Callable[[RerankParts], Reranker]:
    """What opens a reranker of one kind of endpoint."""

    def open_hosted(parts: RerankParts) -> Reranker:
        said = parts.settings.rerank
        address = said.base_url or HOSTED[kind]
        if address is None or (said.model is None and kind not in MODELLESS):
            raise BadSetting(
                f"search.rerank is {kind}, but rerank.base_url or rerank.model says nothing",
                hint="set IBID_RERANK_BASE_URL and IBID_RERANK_MODEL",
            )
        from ibid.ranking.hosted import RERANK_SHAPES, HostedReranker

        wire, model = open_wire("rerank", address, said.model or "")
        return HostedReranker(wire, model, RERANK_SHAPES[kind])

    return open_hosted


HOSTED: Final[Mapping[str, str | None]] = {
    "cohere": "https://api.cohere.com",
    "jina": "https://api.jina.ai/v1",
    "tei": None,
    "vllm": None,
}
"""The kinds of endpoints with their public address; None for those that one runs oneself."""

MODELLESS: Final = frozenset({"tei"})
"""Endpoints that serve one model and aren't told which."""

RERANKERS: Final[Mapping[str, Callable[[RerankParts], Reranker | None]]] = {
    "none": lambda parts: None,
    "proximity": _open_proximity,
    "late-interaction": _open_late_interaction,
    "cross-encoder": _open_cross_encoder,
    "listwise": _open_listwise,
    **{kind: _open_hosted(kind) for kind in HOSTED},
}
