"""Who calls, and what they may do: one function that every route goes through."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from fastapi import Depends, Request
from fastapi.routing import APIRoute

from ibid.errors import AccessDenied
from ibid.service.callers import Caller, Unauthenticated
from ibid.service.context import Context
from ibid.service.keys import MARK, find_key
from ibid.settings.sections import SCOPES

Permission: TypeAlias = Literal["search", "ask", "ingest", "admin"]


async def identify(context: Context, authorization: str | None) -> Caller:
    """The caller that a request's Authorization names. Raises Unauthenticated."""
    scheme, _, text = (authorization or "").partition(" ")
    text = text.strip()
    if not authorization or (not text and not context.options.keys_needed):
        if context.options.keys_needed:
            raise Unauthenticated(
                "no key was given", hint="send Authorization: Bearer and a key of `ibid key`"
            )
        return Caller("local", context.options.principals, frozenset(SCOPES), "")
    if scheme.lower() == "bearer" and text.startswith(f"{MARK}_"):
        if (key := find_key(context.store, text)) is not None:
            return Caller(f"key:{key.id}", key.principals, key.scopes, key.prefix)
    elif scheme.lower() == "bearer" and context.tokens is not None:
        return await context.tokens.read(text)
    elif not context.options.keys_needed:
        # Chat clients always send a key, also where none is needed.
        return Caller("local", context.options.principals, frozenset(SCOPES), "")
    raise Unauthenticated(
        "this key is not known, or was taken back", hint="`ibid key create` makes one"
    )


def need(*permissions: Permission) -> Any:
    """The dependency of a route: its caller, who has one of these permissions.

    It raises Unauthenticated for a caller who isn't known, AccessDenied without any of them.
    """

    async def find_caller(request: Request) -> Caller:
        caller = await identify(request.app.state.context, request.headers.get("authorization"))
        request.state.caller = caller
        if caller.scopes.isdisjoint(permissions):
            raise AccessDenied(
                f"this needs the scope {' or '.join(permissions)}",
                hint=f"you have {', '.join(sorted(caller.scopes)) or 'none'}",
            )
        return caller

    find_caller.permission = permissions  # type: ignore[attr-defined]  # read by is_guarded
    return Depends(find_caller)


def is_guarded(route: APIRoute) -> bool:
    """Whether a route asks who calls."""
    return any(hasattr(needed.call, "permission") for needed in route.dependant.dependencies)
