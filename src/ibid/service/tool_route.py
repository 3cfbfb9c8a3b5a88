"""The tools under the service, at /mcp: each call is its key's."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from starlette.datastructures import Headers
from starlette.routing import Route

from ibid.errors import IbidError
from ibid.records import Principals
from ibid.service.access import identify
from ibid.service.failures import answer_error

if TYPE_CHECKING:
    from fastapi import FastAPI
    from mcp.server.mcpserver import Context as ToolContext
    from starlette.types import ASGIApp, Receive, Scope, Send

    from ibid.service.context import Context

PATH: Final = "/mcp"


def has_tools() -> bool:
    """Whether the package that speaks the protocol is there (the extra mcp)."""
    return find_spec("mcp") is not None


class ToolRoute:
    """The route; it answers once the service runs, and to callers who are known."""

    def __init__(self, app: FastAPI) -> None:
        self._app = app
        self._inner: ASGIApp | None = None
        app.router.routes.append(Route(PATH, endpoint=self, include_in_schema=False))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let one request through to the tools."""
        context: Context = self._app.state.context
        assert self._inner is not None
        authorization = Headers(scope=scope).get("authorization")
        try:
            scope["state"]["caller"] = await identify(context, authorization)
        except IbidError as error:
            await answer_error(error)(scope, receive, send)
            return
        await self._inner(scope, receive, send)

    @asynccontextmanager
    async def running(self, context: Context) -> AsyncIterator[None]:
        """Keeps the sessions of clients for as long as the service runs."""
        from mcp.server.transport_security import TransportSecuritySettings  # noqa: PLC0415

        from ibid.service.tools import check_permission, make_tools  # noqa: PLC0415 - an extra

        async def find_principals(call: ToolContext, permission: str) -> Principals:
            headers = call.headers or {}
            caller = await identify(context, headers.get("authorization"))
            check_permission(caller.scopes, permission)
            return caller.principals

        server = make_tools(context.library, find_principals)
        # Names and origins were looked at before, by the guard.
        trusting = TransportSecuritySettings(enable_dns_rebinding_protection=False)
        self._inner = server.streamable_http_app(
            streamable_http_path=PATH, stateless_http=True, transport_security=trusting
        )
        async with server.session_manager.run():
            yield
