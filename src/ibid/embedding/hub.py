"""Models by their name on the Hugging Face hub: fetched once, then used from the cache."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from ibid.errors import ModelUnavailable

WANTED: Final = (
    "model.onnx",
    "onnx/model.onnx",
    "*.onnx_data",
    "tokenizer.json",
    "config.json",
    "sentence_bert_config.json",
    "1_Pooling/config.json",
    "config_sentence_transformers.json",
)
"""What `read_model_folder` reads; a repository may hold the same weights in ten other forms."""


def fetch_model(name: str, *, cache: Path, offline: bool) -> Path:
    """The folder of a model in the cache, such as "cross-encoder/ms-marco-MiniLM-L6-v2".

    Fetched when it isn't there, unless `offline`. Nothing of the library is sent. Raises
    ModelUnavailable, also for a name of no model.
    """
    from huggingface_hub import snapshot_download  # noqa: PLC0415 - only a model by name needs it
    from huggingface_hub.errors import (  # noqa: PLC0415
        HFValidationError,
    )

    try:
        found = snapshot_download(
            name,
            cache_dir=cache / "hub",
            allow_patterns=list(WANTED),
            local_files_only=offline,
        )
    except (HFValidationError, OSError) as error:
        why = "and ibid is offline" if offline else "and the hub doesn't give it"
        raise ModelUnavailable(
            f"the model {name} is no folder, is not in the cache, {why}: {error}",
            hint="name a folder with model.onnx and tokenizer.json",
        ) from error
    return Path(found)
