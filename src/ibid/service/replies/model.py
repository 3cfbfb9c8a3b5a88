"""What every model of a reply is, and how a route names its own."""

from __future__ import annotations

from typing import Any, Final

from pydantic import BaseModel

_MEANINGS: Final = {200: "Done.", 201: "Made.", 202: "Taken; a job does it."}


class Reply(BaseModel):
    """A reply, or a part of one; more fields may come, none changes its name or meaning."""


def describe(model: Any, status: int = 200, **more: Any) -> dict[int | str, Any]:
    """The `responses` of a route that succeeds with this model."""
    return {status: {"model": model, "description": _MEANINGS[status], **more}}
