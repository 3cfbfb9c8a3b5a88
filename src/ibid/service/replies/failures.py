"""What is said of replies in the OpenAPI document: the one shape of errors, by their statuses."""

from __future__ import annotations

from typing import Any, Final

from pydantic import BaseModel, ConfigDict


class Failing(BaseModel):
    """What went wrong, and what to do next."""

    type: str
    message: str
    hint: str


class Failure(BaseModel):
    """The body of every reply that is not a success."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "error": {
                    "type": "UnknownDocument",
                    "message": "no document 'a.md'",
                    "hint": "`ibid list` shows the ids",
                }
            }
        }
    )

    error: Failing


_STATUSES: Final = {
    400: "What was asked can't be understood.",
    401: "The caller is not known.",
    403: "The caller's key has not this scope, or writes elsewhere.",
    404: "There is none, or none that the caller may see.",
    409: "There is one already.",
    413: "The request is too large.",
    415: "This type is not read.",
    422: "The request has not the form that it must have.",
    429: "The caller asks too often.",
    503: "The service is busy, or something that it needs can't be reached.",
}

FAILURES: Final[dict[int | str, dict[str, Any]]] = {
    status: {"model": Failure, "description": meaning} for status, meaning in _STATUSES.items()
}
"""The replies that any route may give."""
