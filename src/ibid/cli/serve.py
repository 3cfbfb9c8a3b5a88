"""Verbs of the service: serve, key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ibid.cli.call import Call, Outcome, verb
from ibid.cli.words import make_table
from ibid.errors import BadSetting
from ibid.records import Owner
from ibid.settings.sections import SCOPES
from ibid.shapes import shape_time

if TYPE_CHECKING:
    from ibid.service.keys import Key


@verb
@click.option("--host", help="The address to listen at; this machine alone unless given.")
@click.option("--port", type=click.IntRange(0, 65_535), help="The port to listen at.")
@click.option("--auth", type=click.Choice(("auto", "keys", "off")), help="Who must show a key.")
def serve_command(call: Call, host: str | None, port: int | None, auth: str | None) -> Outcome:
    """Serve the library over HTTP, with its page.

    On this machine alone no key is needed, and callers see what --as lets them; at any other
    address each caller must show one of `ibid key`. Ctrl-C or SIGTERM ends it.
    """
    principals = call.principals
    if isinstance(principals, Owner):
        raise BadSetting(
            "the owner does not stand before a service", hint="name principals with --as"
        )
    from ibid.service.options import choose_options
    from ibid.service.server import serve

    flags = {"serve.host": host, "serve.port": port, "serve.auth": auth}
    settings = call.load_settings(flags)
    options = choose_options(settings.serve, principals, offline=settings.offline)
    with call.open_library(create=True, sends=("embedder", "reranker", "generator")) as library:
        serve(
            library,
            options,
            on_start=lambda url: click.echo(f"serving {library.location} at {url}", err=True),
        )
    return Outcome({"stopped": True}, "")


@verb
def mcp_command(call: Call) -> Outcome:
    """Serve the library to a model, as tools on standard input and output.

    It is what a client of the Model Context Protocol starts; the tools search, fetch and ask, and
    see what --as lets them.
    """
    from importlib.util import find_spec

    if call.as_json:
        raise click.UsageError("standard output belongs to the protocol: leave --json out")
    if find_spec("mcp") is None:
        raise BadSetting("the package mcp is missing", hint="pip install 'ibid-rag[mcp]'")
    from ibid.service.tools import serve_tools

    with call.open_library(sends=("embedder", "reranker", "generator")) as library:
        serve_tools(library, call.principals)
    return Outcome({}, "")


@verb
@click.argument("action", type=click.Choice(("create", "list", "revoke")))
@click.argument("id", required=False)
@click.option("--name", default="", help="What the key is for.")
@click.option("--principal", "held", multiple=True, help="Whom its bearer stands for.")
@click.option(
    "--scope", "scopes", default="search,ask", show_default=True, help="What they may do."
)
@click.option("--prefix", help="What begins the ids that they may write.")
def key_command(
    call: Call,
    action: str,
    id: str | None,
    **options: Any,
) -> Outcome:
    """Make, list and take back the keys of callers.

    `create` prints a key, which is kept nowhere: only its hash is. `revoke ID` ends it at once.
    """
    from ibid.service.keys import create_key, list_keys, revoke_key
    from ibid.service.store import Store, find_folder

    if (action == "revoke") != (id is not None):
        raise click.UsageError("revoke names the id of a key, create and list name none")
    store = Store(find_folder(call.find_library()))
    try:
        if id is not None:
            key = revoke_key(store, id)
            return Outcome(_shape_key(key), f"{key.id} is taken back")
        if action == "list":
            return _list(list_keys(store))
        scopes = [name.strip() for name in options["scopes"].split(",")]
        key, text = create_key(
            store,
            name=options["name"],
            principals=options["held"],
            scopes=scopes,
            prefix=options["prefix"],
        )
        return Outcome({**_shape_key(key), "key": text}, text)
    finally:
        store.close()


def _list(keys: list[Key]) -> Outcome:
    words = make_table(
        (
            key.id,
            key.name,
            ", ".join(sorted(key.principals)) or "public documents",
            ", ".join(name for name in SCOPES if name in key.scopes),
            key.prefix if "ingest" in key.scopes else "",
            "taken back" if key.revoked_at else "",
        )
        for key in keys
    )
    return Outcome({"keys": [_shape_key(key) for key in keys]}, words or "no keys")


def _shape_key(key: Key) -> dict[str, Any]:
    return {
        "id": key.id,
        "name": key.name,
        "principals": sorted(key.principals),
        "scopes": sorted(key.scopes),
        "prefix": key.prefix,
        "created_at": shape_time(key.created_at),
        "revoked_at": shape_time(key.revoked_at),
    }
