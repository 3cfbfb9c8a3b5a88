"""From settings to the wire of a part: its address, its key, and whether text may go there."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from ibid.errors import BadSetting, ModelUnavailable
from ibid.protocols import Embedder, Generator, Reranker
from ibid.settings import Settings, find_user_dir

if TYPE_CHECKING:
    from ibid.wire import Wire

PartT = TypeVar("PartT", Embedder, Generator, Reranker)


def open_wire(
    part: str,
    base_url: str | None,
    model: str | None,
    *,
    sign: Callable[[str], Mapping[str, str]] | None = None,
    **patience: Any,
) -> tuple[Wire, str]:
    """The connection of a part to its endpoint, and the model to ask for there.

    `patience` goes to the wire. Raises BadSetting where either isn't set.
    """
    if base_url is None or model is None:
        missing = "base_url" if base_url is None else "model"
        raise BadSetting(
            f"{part}.name is that of an endpoint, but {part}.{missing} says nothing",
            hint=f"set IBID_{part.upper()}_BASE_URL and IBID_{part.upper()}_MODEL",
        )
    from ibid.keys import find_secret
    from ibid.wire import Wire, sign_bearer

    secret = find_secret(f"IBID_{part.upper()}_API_KEY", os.environ, user_dir=find_user_dir())
    key = secret.value if secret is not None else ""
    return Wire(base_url, key=key, sign=sign or sign_bearer, **patience), model


def refuse_remote(part: PartT, settings: Settings) -> PartT:
    """The part, unless it would send text away and nothing may leave this machine.

    Raises ModelUnavailable.
    """
    if settings.offline and part.remote is not None:
        raise ModelUnavailable(
            f"{part.name} would send text to {part.remote}, and ibid is offline",
            hint="leave --offline and IBID_OFFLINE out, or use a local model",
        )
    return part
