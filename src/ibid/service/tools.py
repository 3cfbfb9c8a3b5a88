"""The library as tools of a model, by the Model Context Protocol: search, fetch, ask.

`search` and `fetch` have the shapes that the known clients expect; nothing here changes anything.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Annotated, Any, Final, TypeAlias

from anyio.to_thread import run_sync
from mcp.server.mcpserver import Context as ToolContext
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import BaseModel, Field

from ibid.errors import AccessDenied, IbidError
from ibid.library import Library
from ibid.records import Principals, Query
from ibid.service.bodies import MOST_CHARACTERS
from ibid.shapes import shape_answer
from ibid.version import VERSION

MOST_FOUND: Final = 10

FindPrincipals: TypeAlias = Callable[[ToolContext, str], Awaitable[Principals]]
"""Whom a call is made for, who must have the permission that is named."""

_ORDERS: Final = (
    "ask gives an answer from the user's documents, each sentence cited and checked; search finds"
    " documents, fetch gives one whole."
)
_READS: Final = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)

Text = Annotated[str, Field(min_length=1, max_length=MOST_CHARACTERS)]


class Found(BaseModel):
    """A document that was found."""

    id: str
    title: str
    url: str


class Results(BaseModel):
    """The documents that were found, best first."""

    results: list[Found]


class Fetched(BaseModel):
    """A document, whole."""

    id: str
    title: str
    text: str
    url: str
    metadata: dict[str, Any]


class Answered(BaseModel):
    """An answer with its proof, as `/v1/ask` gives it."""

    answer: dict[str, Any]


def make_tools(library: Library, find_principals: FindPrincipals) -> MCPServer:
    """A server of the tools, for whomever `find_principals` tells of each call."""
    server = MCPServer("ibid", instructions=_ORDERS, version=VERSION, log_level="WARNING")

    async def run(
        context: ToolContext, permission: str, work: Callable[[Library, Principals], Any]
    ) -> Any:
        try:
            principals = await find_principals(context, permission)
            return await run_sync(work, library, principals)
        except IbidError as error:
            raise ToolError(str(error)) from error

    @server.tool(annotations=_READS)
    async def search(query: Text, context: ToolContext) -> Results:
        """Find documents by words and meaning."""
        found: Results = await run(context, "search", partial(_search, query))
        return found

    @server.tool(annotations=_READS)
    async def fetch(id: Text, context: ToolContext) -> Fetched:
        """A document that search found, whole."""
        found: Fetched = await run(context, "search", partial(_fetch, id))
        return found

    @server.tool(annotations=_READS)
    async def ask(question: Text, context: ToolContext) -> Answered:
        """Answer a question from the documents: each sentence cited, each citation checked."""
        found: Answered = await run(context, "ask", partial(_ask, question))
        return found

    return server


def _search(text: str, library: Library, principals: Principals) -> Results:
    hits = library.run_search(Query(text, principals), k=MOST_FOUND).hits
    found = {
        hit.document_id: Found(
            id=hit.document_id,
            title=hit.document.title or hit.document_id,
            url=hit.document.source or "",
        )
        for hit in hits
    }
    return Results(results=list(found.values()))


def _fetch(id: str, library: Library, principals: Principals) -> Fetched:
    document = library.document(id, principals)
    return Fetched(
        id=document.id,
        title=document.title or document.id,
        text=document.text,
        url=document.source or "",
        metadata={**document.metadata, **document.tags},
    )


def _ask(question: str, library: Library, principals: Principals) -> Answered:
    return Answered(answer=shape_answer(library.run_ask(Query(question, principals))))


def serve_tools(library: Library, principals: Principals) -> None:
    """Serve the tools on standard input and output, for one caller, until the input ends."""

    async def find_principals(context: ToolContext, permission: str) -> Principals:
        return principals

    make_tools(library, find_principals).run("stdio")


def check_permission(scopes: frozenset[str], permission: str) -> None:
    """Raise AccessDenied for a caller who may not do this."""
    if permission not in scopes:
        raise AccessDenied(
            f"this needs the scope {permission}", hint=f"you have {', '.join(sorted(scopes))}"
        )
