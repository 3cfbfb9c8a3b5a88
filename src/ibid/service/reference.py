"""The reference of the service: its OpenAPI document, and the page that shows it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.openapi.utils import get_openapi
from fastapi.responses import RedirectResponse
from starlette.staticfiles import StaticFiles

from ibid.service.access import is_guarded
from ibid.service.replies import add_examples
from ibid.service.routes import list_routes

PATH: Final = "/docs"

PAGE: Final = Path(__file__).parent / "docs"
"""The files of the page that shows it."""

_JSON: Final = "application/json"

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
    app.add_route(PATH, _lead_to_page, include_in_schema=False)
    app.mount(PATH, StaticFiles(directory=PAGE, html=True), name="reference")


async def _lead_to_page(request: Request) -> RedirectResponse:
    return RedirectResponse(f"{request.scope.get('root_path', '')}{PATH}/")


def describe_service(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI document of an app: every route, with all its replies and an example."""
    document = get_openapi(
        title=app.title, version=app.version, summary=app.summary, routes=app.routes
    )
    document["components"]["securitySchemes"] = {"bearer": _BEARER}
    for route in list_routes(app):
        for method in route.methods or ():
            operation = document["paths"][route.path_format][method.lower()]
            if is_guarded(route):
                operation["security"] = [{"bearer": []}]
            for status, reply in operation["responses"].items():
                if status >= "400":  # which are JSON, whatever the route is there for
                    (reply["content"],) = ({_JSON: one} for one in reply["content"].values())
    add_examples(document)
    return document
