"""How much a served model holds, as far as its server tells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from ibid.errors import ModelError
from ibid.records import JSON
from ibid.wire import Wire

OLLAMA_TOKENS: Final = 4096
"""What Ollama gives a model that nothing says more of; it cuts what is longer without a word."""

OLLAMA_CLOUD: Final = "https://ollama.com"

SECONDS: Final = 3.0
"""A server that doesn't tell this in time is asked nothing: the answer matters more."""


def ask_models(wire: Wire, model: str) -> int | None:
    """What `/models` tells of a model, as vLLM does; None where it tells nothing.

    The wire is closed, as it was opened for this alone.
    """
    told = _ask(wire, "/models")
    wire.close()
    for entry in _list_models(told, "data"):
        length = entry.get("max_model_len")
        if entry.get("id") == model and isinstance(length, int):
            return length
    return None


def ask_ollama(url: str, model: str) -> int:
    """What Ollama holds of a model: as it runs, else as its file says, else OLLAMA_TOKENS."""
    wire = Wire(url.rstrip("/").removesuffix("/v1"), timeout=SECONDS, retries=0)
    try:
        names = {model, f"{model}:latest"}
        for entry in _list_models(_ask(wire, "/api/ps"), "models"):
            length = entry.get("context_length")
            if entry.get("model") in names and isinstance(length, int) and length > 0:
                return length
        shown = _ask(wire, "/api/show", {"model": model})
    finally:
        wire.close()
    return _read_parameter(shown) or min([OLLAMA_TOKENS, *_find_trained(shown)])


def find_ollama_cloud(model: str) -> str | None:
    """Where Ollama itself sends the text for its cloud models; None for one that it runs here."""
    return OLLAMA_CLOUD if model.endswith(("-cloud", ":cloud")) else None


def _ask(wire: Wire, path: str, body: Mapping[str, JSON] | None = None) -> Mapping[str, JSON]:
    """What the server tells; nothing where it can't, since the question itself will say why."""
    try:
        told = wire.get(path) if body is None else wire.post(path, body)
    except ModelError:
        return {}
    return told if isinstance(told, dict) else {}


def _list_models(told: Mapping[str, JSON], name: str) -> Iterator[Mapping[str, JSON]]:
    models = told.get(name)
    return (
        entry for entry in (models if isinstance(models, list) else ()) if isinstance(entry, dict)
    )


def _read_parameter(shown: Mapping[str, JSON]) -> int | None:
    """The `num_ctx` of a model file, whose parameters are lines of names and values."""
    parameters = shown.get("parameters")
    for line in parameters.splitlines() if isinstance(parameters, str) else ():
        name, _, value = line.strip().partition(" ")
        if name == "num_ctx" and value.strip().isdecimal():
            return int(value)
    return None


def _find_trained(shown: Mapping[str, JSON]) -> list[int]:
    """The length that a model was trained for, under the name of its architecture."""
    told = shown.get("model_info")
    return [
        value
        for name, value in (told.items() if isinstance(told, dict) else ())
        if name.endswith(".context_length") and isinstance(value, int)
    ]
