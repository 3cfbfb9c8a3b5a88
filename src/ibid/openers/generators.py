"""Generators by name: what writes the answers, made from settings, and what it may cost."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from ibid.errors import BadSetting
from ibid.openers.endpoints import open_wire, refuse_remote
from ibid.protocols import Embedder, Generator
from ibid.settings import Settings

if TYPE_CHECKING:
    from ibid.answering.options import ModelOptions
    from ibid.wire import Wire

EXTRACTIVE: Final = "extractive"

ANTHROPIC_URL: Final = "https://api.anthropic.com/v1"
OLLAMA_URL: Final = "http://127.0.0.1:11434/v1"
VLLM_URL: Final = "http://127.0.0.1:8000/v1"


def choose_generator(
    given: object, settings: Settings, embedder: Embedder
) -> Callable[[], Generator]:
    """What opens the generator handed over, or the one that the settings name.

    Raises BadSetting for an unknown name; the opener raises what opening it does.
    """
    if given is not None and not isinstance(given, str):
        return lambda: limit_spending(refuse_remote(_adapt(given), settings), settings)
    name = settings.generator.name
    if name not in GENERATORS:
        raise BadSetting(
            f"no generator is called {name!r}", hint=f"use one of {', '.join(GENERATORS)}"
        )
    opener = GENERATORS[name]
    return lambda: limit_spending(refuse_remote(opener(settings, embedder), settings), settings)


def _adapt(given: object) -> Generator:
    if hasattr(given, "generate"):
        return cast(Generator, given)
    from ibid.answering.functions import FunctionGenerator

    return FunctionGenerator(cast(Any, given))


def limit_spending(generator: Generator, settings: Settings) -> Generator:
    """The generator, held to what may be spent in a day where that is limited.

    A model on this machine costs nothing unless it has a price. Raises BadSetting where money is
    limited and the model has no price.
    """
    limits, price = settings.spending, settings.prices.get(generator.name)
    limited = limits.tokens_a_day is not None or limits.money_a_day is not None
    if not limited or (generator.remote is None and price is None):
        return generator
    if price is None and limits.money_a_day is not None:
        raise BadSetting(
            f"spending.money_a_day is set, and {generator.name} has no price",
            hint=f'write [prices."{generator.name}"] with input and output into config.toml, '
            "the price of a million tokens each",
        )
    from ibid.answering.spending import Budget, Ledger, MeteredGenerator, Rate

    return MeteredGenerator(
        generator,
        Ledger(find_ledger()),
        Budget(limits.tokens_a_day, limits.money_a_day),
        Rate(price.input, price.output) if price is not None else Rate(),
        output_tokens=settings.generator.output_tokens,
    )


def find_ledger() -> Path:
    """Where it is written down what the calls of this user took."""
    import platformdirs

    return Path(platformdirs.user_state_dir("ibid", appauthor=False)) / "spending.db"


# -- one opener for each name -----------------------------------------------------------------


def _open_extractive(settings: Settings, embedder: Embedder) -> Generator:
    from ibid.answering.extractive import ExtractiveGenerator

    return ExtractiveGenerator(embedder)


def _open_openai(settings: Settings, embedder: Embedder) -> Generator:
    from ibid.answering.chat import ChatGenerator

    return ChatGenerator(*_open_wire(settings, None), options=_model_options(settings))


def _open_anthropic(settings: Settings, embedder: Embedder) -> Generator:
    from ibid.answering.anthropic import AnthropicGenerator, sign_anthropic

    wire, model = _open_wire(settings, ANTHROPIC_URL, sign=sign_anthropic)
    return AnthropicGenerator(wire, model, options=_model_options(settings))


def _open_ollama(settings: Settings, embedder: Embedder) -> Generator:
    from ibid.answering.chat import ChatGenerator
    from ibid.answering.windows import ask_ollama, find_ollama_cloud

    url = settings.generator.base_url or OLLAMA_URL
    wire, model = _open_wire(settings, OLLAMA_URL)
    return ChatGenerator(
        wire,
        model,
        options=_model_options(settings),
        find_context=lambda: ask_ollama(url, model),
        remote=find_ollama_cloud(model),
    )


def _open_vllm(settings: Settings, embedder: Embedder) -> Generator:
    from ibid.answering.chat import ChatGenerator
    from ibid.answering.windows import SECONDS, ask_models

    wire, model = _open_wire(settings, VLLM_URL)
    url = settings.generator.base_url or VLLM_URL
    probe, _ = open_wire("generator", url, model, timeout=SECONDS, retries=0)
    return ChatGenerator(
        wire,
        model,
        options=_model_options(settings),
        find_context=lambda: ask_models(probe, model),
    )


def _open_local(settings: Settings, embedder: Embedder) -> Generator:
    from ibid.answering.local_model import LocalGenerator, find_server
    from ibid.wire import Wire

    if settings.generator.model is None:
        raise BadSetting(
            "generator.name is local, but generator.model says nothing",
            hint="set IBID_GENERATOR_MODEL to the path of a GGUF file",
        )
    return LocalGenerator(
        Path(settings.generator.model).expanduser(),
        server=find_server(os.environ),
        connect=lambda url, key: Wire(url, key=key, **_patience(settings)),
        options=_model_options(settings),
    )


GENERATORS: Final[Mapping[str, Callable[[Settings, Embedder], Generator]]] = {
    EXTRACTIVE: _open_extractive,
    "openai": _open_openai,
    "anthropic": _open_anthropic,
    "ollama": _open_ollama,
    "vllm": _open_vllm,
    "local": _open_local,
}


def _open_wire(
    settings: Settings,
    url: str | None,
    *,
    sign: Callable[[str], Mapping[str, str]] | None = None,
) -> tuple[Wire, str]:
    asked = settings.generator
    base_url = asked.base_url or url
    return open_wire("generator", base_url, asked.model, sign=sign, **_patience(settings))


def _patience(settings: Settings) -> dict[str, Any]:
    asked = settings.generator
    return {
        "timeout": asked.total_seconds,
        "first_timeout": asked.first_seconds,
        "idle_timeout": asked.idle_seconds,
        "retries": asked.retries,
    }


def _model_options(settings: Settings) -> ModelOptions:
    from ibid.answering.options import ModelOptions

    asked = settings.generator
    return ModelOptions(asked.temperature, asked.output_tokens, asked.context_tokens)
