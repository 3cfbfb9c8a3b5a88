"""How large the index of a library is, and whether it is better searched or sent whole."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ibid.evaluation.approach import CHARACTERS_PER_TOKEN, Approach, choose_approach
from ibid.evaluation.sizing import IndexSize, size_index
from ibid.protocols import Embedder, Index, Scope, Snapshot, Tokenizer
from ibid.records import DocumentInfo

SAMPLED: Final = 20
"""Documents, evenly chosen, by whose beginnings the tokens of all are estimated."""

SAMPLE: Final = 2_000
"""Characters of each of them."""


@dataclass(frozen=True, slots=True)
class Sized:
    """An index by its size, what it is made of, and the way to ask what it holds."""

    size: IndexSize
    dimension: int
    documents: int
    approach: Approach


def size_library(
    scope: Scope,
    *,
    index: Index,
    embedder: Embedder,
    sources: int,
    window: int | None = None,
    changing: bool = False,
    input_prices: Mapping[str, float] | None = None,
) -> Sized:
    """The size of what is in the scope, when `sources` passages of it are sent for a question."""
    snapshot = index.snapshot()
    infos = snapshot.documents(scope)
    passages = sum(info.passages for info in infos)
    tokens = estimate_corpus(infos, snapshot, scope, embedder.tokenizer)
    dimension = (index.manifest and index.manifest.dimension) or embedder.dimension or 0
    return Sized(
        size_index(passages, dimension),
        dimension,
        len(infos),
        choose_approach(
            tokens,
            sent=math.ceil(sources * tokens / passages) if passages else 0,
            window=window,
            restricted=any(info.allow is not None for info in infos),
            changing=changing,
            input_prices=input_prices,
        ),
    )


def estimate_corpus(
    infos: Sequence[DocumentInfo], snapshot: Snapshot, scope: Scope, tokenizer: Tokenizer
) -> int:
    """About how many tokens the documents have: word pieces of a sample, for all characters."""
    step = max(1, len(infos) // SAMPLED)
    texts = [snapshot.document(info.id, scope).document.text[:SAMPLE] for info in infos[::step]]
    characters = sum(map(len, texts))
    pieces = sum(map(len, tokenizer.spans(texts)))
    share = pieces / characters if pieces else 1 / CHARACTERS_PER_TOKEN
    return math.ceil(share * sum(info.characters for info in infos))
