"""What every verb shares: the options, the library it opens, the way its outcome is printed."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import click

from ibid.cli.output import print_json
from ibid.errors import BadQuery
from ibid.flows.options import hold_principals
from ibid.openers import open_library
from ibid.record import record
from ibid.records import OWNER, Principals
from ibid.settings import Settings, find_library, load_settings

if TYPE_CHECKING:
    from ibid.libraries import Libraries
    from ibid.library import Library
    from ibid.shapes import Shape

FOUND_NOTHING: Final = 3


@record
class Outcome:
    """What a verb has to say: as JSON, in words, and as an exit code.

    `notes` are its warnings, which the JSON holds in fields of its own.
    """

    shape: Shape
    words: str
    code: int = 0
    notes: tuple[str, ...] = ()


@record
class Call:
    """One call of a verb: who asks, which library, and in which form to answer."""

    places: tuple[str, ...] = ()
    principals: Principals = frozenset()
    as_json: bool = False
    flags: Mapping[str, Any] = field(default_factory=dict)

    @property
    def place(self) -> str | None:
        """The library that the call names, None for none. Raises UsageError for several."""
        if len(self.places) > 1:
            raise click.UsageError("only search and ask take several libraries")
        return self.places[0] if self.places else None

    def find_library(self) -> str:
        """Where the library lies that this call is about."""
        return find_library(self.place)

    def load_settings(
        self, flags: Mapping[str, Any] | None = None, *, override: Path | None = None
    ) -> Settings:
        """The settings in force, with what this call says by their keys; None says nothing.

        `override` is a file that is stronger than the other files and the environment; what must
        not leave this machine stays here all the same.
        """
        library = self.find_library()
        said = {**self.flags, **(flags or {})}
        if override is not None and load_settings(said, library=library).offline:
            said["offline"] = True
        return load_settings(said, library=library, override=override)

    def open_library(
        self,
        *,
        create: bool = False,
        sends: Sequence[Part] = (),
        flags: Mapping[str, Any] | None = None,
        reindexing: bool = False,
        override: Path | None = None,
    ) -> Library:
        """The library, opened; made when it is missing and the verb may.

        With `reindexing`, also one that was made with other parts than the settings name. An
        `override` is as in `load_settings`.

        `sends` names the parts that the verb hands text to. Where such a part is not on this
        machine, a line on standard error says where the text goes.
        """
        settings = self.load_settings(flags, override=override)
        library = open_library(
            self.find_library(), settings=settings, create=create, reindexing=reindexing
        )
        self._tell_remotes(library, sends)
        return library

    @contextmanager
    def open_libraries(
        self, *, sends: Sequence[Part] = (), flags: Mapping[str, Any] | None = None
    ) -> Iterator[Library | Libraries]:
        """What is asked: the one library, or all that the call names, by the words it names them.

        Raises UsageError for one that is named twice.
        """
        if len(self.places) < 2:
            with self.open_library(sends=sends, flags=flags) as library:
                yield library
            return
        from ibid.libraries import Libraries

        if len({find_library(place) for place in self.places}) < len(self.places):
            raise click.UsageError("a library is named twice; give each once")
        with ExitStack() as stack:
            opened = {}
            for place in self.places:
                call = replace(self, places=(place,))
                opened[place] = stack.enter_context(call.open_library(sends=sends, flags=flags))
            yield Libraries(opened)

    def _tell_remotes(self, library: Library, sends: Sequence[Part]) -> None:
        for part in sends:
            if (address := library.find_remote(part)) is not None:
                click.echo(f"text may go to the {part} at {address}", err=True)


Part: TypeAlias = Literal["embedder", "reranker", "generator", "rewriter", "contextualizer"]

Verb = Callable[..., Outcome]


def verb(function: Verb) -> click.Command:
    """A command from a function that takes the call and its own options and gives an outcome."""
    name = function.__name__.removesuffix("_command").replace("_", "-")

    @functools.wraps(function)
    def invoke(**options: Any) -> int:
        call = Call(
            places=options.pop("places"),
            principals=read_principals(options.pop("principals")),
            as_json=options.pop("as_json"),
            flags={"offline": True} if options.pop("offline") else {},
        )
        outcome = function(call, **options)
        if call.as_json:
            print_json(outcome.shape)
            return outcome.code
        if outcome.words:
            click.echo(outcome.words)
        for note in outcome.notes:
            click.echo(f"note: {note}", err=True)
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
        click.option(
            "--library", "places", multiple=True, metavar="PLACE", help="The library's folder."
        ),
    ):
        function = option(function)
    return function


def opens_files(function: Any) -> Any:
    """The option of every verb that reads files."""
    return click.option(
        "--password",
        envvar="IBID_PASSWORD",
        show_envvar=True,
        help="Opens files that are encrypted.",
    )(function)


def read_principals(names: tuple[str, ...]) -> Principals:
    """The set that the caller holds; `*` is the owner, who stands alone. Raises BadQuery."""
    if OWNER.value not in names:
        return hold_principals(names)
    if len(set(names)) > 1:
        raise BadQuery(
            "--as '*' beside other principals", hint="the owner sees all: leave them out"
        )
    return OWNER
