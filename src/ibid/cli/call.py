"""What every verb shares: the options, the library it opens, the way its outcome is printed."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import click

from ibid.errors import BadQuery
from ibid.library import Library
from ibid.openers import open_library
from ibid.records import OWNER, Principals
from ibid.settings import Settings, find_library, load_settings
from ibid.shapes import SCHEMA_VERSION, Shape

FOUND_NOTHING: Final = 3


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a verb has to say: as JSON, in words, and as an exit code."""

    shape: Shape
    words: str
    code: int = 0


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a verb: who asks, which library, and in which form to answer."""

    place: str | None = None
    principals: Principals = frozenset()
    as_json: bool = False
    flags: Mapping[str, Any] = field(default_factory=dict)

    def find_library(self) -> str:
        """Where the library lies that this call is about."""
        return find_library(self.place)

    def load_settings(self, **flags: Any) -> Settings:
        """The settings in force, with what the flags of this call say."""
        given = {name: value for name, value in flags.items() if value is not None}
        return load_settings({**self.flags, **given}, library=self.find_library())

    def open_library(self, *, create: bool = False, **flags: Any) -> Library:
        """The library, opened; made when it is missing and the verb may."""
        return open_library(
            self.find_library(), settings=self.load_settings(**flags), create=create
        )


Verb = Callable[..., Outcome]


def verb(function: Verb) -> click.Command:
    """A command from a function that takes the call and its own options and gives an outcome."""
    name = function.__name__.removesuffix("_command").replace("_", "-")

    @functools.wraps(function)
    def invoke(**options: Any) -> int:
        call = Call(
            place=options.pop("library"),
            principals=read_principals(options.pop("principals")),
            as_json=options.pop("as_json"),
            flags={"offline": True} if options.pop("offline") else {},
        )
        outcome = function(call, **options)
        if call.as_json:
            shape = {"schema_version": SCHEMA_VERSION, **outcome.shape}
            click.echo(json.dumps(shape, ensure_ascii=False, default=str))
        elif outcome.words:
            click.echo(outcome.words)
        return outcome.code

    return click.command(name)(_add_options(invoke))


def _add_options(function: Callable[..., int]) -> Callable[..., int]:
    for option in (
        click.option("--offline", is_flag=True, help="Let nothing leave this machine."),
        click.option("--json", "as_json", is_flag=True, help="Print one JSON object."),
        click.option(
            "--as",
            "principals",
            multiple=True,
            metavar="PRINCIPAL",
            help="Who asks, such as user:ann or group:hr; may be repeated. '*' is the owner.",
        ),
        click.option("--library", metavar="PLACE", help="The library's folder."),
    ):
        function = option(function)
    return function


def read_principals(names: tuple[str, ...]) -> Principals:
    """The set that the caller holds; `*` is the owner, who stands alone. Raises BadQuery."""
    if OWNER.value not in names:
        return frozenset(names)
    if len(set(names)) > 1:
        raise BadQuery(
            "--as '*' beside other principals", hint="the owner sees all: leave them out"
        )
    return OWNER


def relative(path: Path) -> str:
    """A path as a person would write it from here."""
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)
