"""The reference of the service: its OpenAPI document, and the page that shows it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.staticfiles import StaticFiles

from ibid.service.access import is_guarded
from ibid.service.replies import add_examples
from ibid.service.routes import list_routes

PATH: Final = "/docs"

PAGE: Final = Path(__file__).parent

_BEARER: Final = {
    "type": "http",
    "scheme": "bearer",
    "description": "A key of `ibid key create`, or a token of the identity provider.",
}


def add_reference(app: FastAPI) -> None:
    """Have an app, whose routes are all there, tell of itself at /openapi.json and at /docs."""

    def describe() -> dict[str, Any]:
        app.openapi_schema = app.openapi_schema or describe_service(app)
        return app.openapi_schema

    app.openapi = describe  # type: ignore[method-assign]  # as FastAPI has it done
    app.mount(PATH, StaticFiles(directory=PAGE, html=True), name="reference")


def describe_service(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI document of an app: every route, with all its replies and an example."""
    document = get_openapi(
        title=app.title, version=app.version, summary=app.summary, routes=app.routes
    )
    document["components"]["securitySchemes"] = {"bearer": _BEARER}
    for route in list_routes(app):
        if is_guarded(route):
            for method in route.methods:
                document["paths"][route.path_format][method.lower()]["security"] = [{"bearer": []}]
    add_examples(document)
    return document
