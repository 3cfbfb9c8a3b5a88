"""How errors leave the service: one shape, and a status by the kind of error."""

from __future__ import annotations

import logging
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from ibid.errors import HTTP_STATUSES, IbidError
from ibid.service.callers import Unauthenticated
from ibid.shapes import shape_error

_log = logging.getLogger("ibid.service")

_STATUSES: Final = {**HTTP_STATUSES, Unauthenticated: 401}

_TYPES: Final = {
    400: "BadRequest",
    404: "NotFound",
    405: "MethodNotAllowed",
    413: "BodyTooLarge",
    415: "UnsupportedFormat",
    429: "TooManyRequests",
    503: "Busy",
}


def find_status(error: IbidError) -> int:
    """The status of the nearest kind in the tree of errors."""
    return next(_STATUSES[kind] for kind in type(error).__mro__ if kind in _STATUSES)


def refuse(status: int, message: str, hint: str = "", **headers: str) -> JSONResponse:
    """The answer to a request that is not worked on."""
    error = {"type": _TYPES.get(status, "Error"), "message": message, "hint": hint}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return JSONResponse({"error": error}, status, named)


def answer_error(error: IbidError) -> JSONResponse:
    """The answer that tells of an error."""
    status = find_status(error)
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None
    return JSONResponse(shape_error(error), status, headers)


def describe_crash() -> dict[str, Any]:
    """The shape of an error that nobody foresaw; what it was stands in the log."""
    hint = "the log of the service has it by the request's id"
    return {"error": {"type": "InternalError", "message": "something broke here", "hint": hint}}


def handle_errors(app: FastAPI) -> None:
    """Have every error of an app answered in our shape."""

    @app.exception_handler(IbidError)
    async def tell(request: Request, error: IbidError) -> JSONResponse:
        return answer_error(error)

    @app.exception_handler(HTTPException)
    async def tell_http(request: Request, error: HTTPException) -> JSONResponse:
        response = refuse(error.status_code, str(error.detail))
        response.headers.update(error.headers or {})
        return response

    @app.exception_handler(RequestValidationError)
    async def tell_invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"] if part != "body")
        broken = first["type"] == "json_invalid"
        message = "the body is no JSON" if broken else f"{place or 'body'}: {first['msg']}"
        shape = {"type": "BadRequest", "message": message, "hint": "see /openapi.json"}
        return JSONResponse({"error": shape}, 400 if broken else 422)

    @app.exception_handler(Exception)
    async def tell_crash(request: Request, error: Exception) -> JSONResponse:
        return JSONResponse(describe_crash(), 500)
