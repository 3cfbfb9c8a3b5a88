"""The word pieces of a model's own tokenizer.json."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tokenizers import Encoding
from tokenizers import Tokenizer as PieceReader

from ibid.errors import BadQuery, ModelUnavailable
from ibid.record import record


@record
class Pair:
    """A query and a text as a model reads them together: ids, which of the two each is of (0, 1),
    and how many of the text's pieces were cut."""

    ids: list[int]
    types: list[int]
    cut: int


class PieceTokenizer:
    """Cuts text as the model does, whole: neither padding nor a limit is applied."""

    def __init__(self, path: Path) -> None:
        self._reader = _read_tokenizer(path)
        probe = self._reader.encode("a").special_tokens_mask
        self._leading = probe.index(0) if 0 in probe else len(probe)
        self._trailing = probe[::-1].index(0) if 0 in probe else 0

    @property
    def special_tokens(self) -> int:
        """How many tokens the model wants around a text."""
        return self._leading + self._trailing

    @property
    def inner(self) -> slice:
        """Where a text's own pieces stand among its ids."""
        return slice(self._leading, -self._trailing or None)

    def spans(self, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        """For each text the character ranges of its pieces, in order, without special tokens."""
        encodings = self._reader.encode_batch(list(texts), add_special_tokens=False)
        return [encoding.offsets for encoding in encodings]

    def encode(self, texts: Sequence[str], *, max_tokens: int) -> list[list[int]]:
        """For each text its ids with the special tokens around them, at most `max_tokens` pieces.

        A longer text loses its end, never the special tokens after it.
        """
        encodings = self._reader.encode_batch_fast(list(texts))
        return [self._cut(encoding.ids, max_tokens) for encoding in encodings]

    def encode_pairs(self, query: str, texts: Sequence[str], *, max_length: int) -> list[Pair]:
        """The query with each text, as one sequence of at most `max_length` ids.

        Only the text loses its end. Raises BadQuery for a query that leaves it no room.
        """
        encodings = self._reader.encode_batch([(query, text) for text in texts])
        return [_cut_pair(encoding, max_length) for encoding in encodings]

    def _cut(self, ids: list[int], max_tokens: int) -> list[int]:
        if len(ids) <= max_tokens + self.special_tokens:
            return ids
        return ids[: self._leading + max_tokens] + ids[len(ids) - self._trailing :]


def _cut_pair(encoding: Encoding, max_length: int) -> Pair:
    cut = max(0, len(encoding.ids) - max_length)
    of_text = [place for place, part in enumerate(encoding.sequence_ids) if part == 1]
    if cut and cut >= len(of_text):
        raise BadQuery(
            f"the question takes {len(encoding.ids) - len(of_text)} of the {max_length} pieces "
            "that the reranker reads",
            hint="ask more briefly, or leave the reranker out",
        )
    # What is cut is the end of the text, before the special tokens that close the pair.
    gone = slice(of_text[-1] + 1 - cut, of_text[-1] + 1) if cut else slice(0, 0)
    ids, types = list(encoding.ids), list(encoding.type_ids)
    del ids[gone], types[gone]
    return Pair(ids, types, cut)


def _read_tokenizer(path: Path) -> PieceReader:
    try:
        reader = PieceReader.from_str(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ModelUnavailable(
            f"the tokenizer {path} can't be read: {error.strerror}",
            hint="a model's folder holds a tokenizer.json beside its model.onnx",
        ) from error
    except Exception as error:  # the library raises nothing narrower
        raise ModelUnavailable(
            f"{path} is no tokenizer that can be used: {error}",
            hint="export the model again, with a tokenizer.json of the tokenizers library",
        ) from error
    reader.no_padding()
    reader.no_truncation()
    # "[SEP]" in a document is five characters of text, not an order to the model.
    reader.encode_special_tokens = True
    return reader
