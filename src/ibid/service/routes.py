"""The routes of an app, wherever they were included."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute


def list_routes(app: FastAPI) -> Iterator[APIRoute]:
    """All routes that OpenAPI tells of, in no order."""
    stack: list[Any] = list(app.routes)
    while stack:
        route = stack.pop()
        if isinstance(route, APIRoute):
            yield route
        stack.extend(getattr(getattr(route, "original_router", None), "routes", ()))
