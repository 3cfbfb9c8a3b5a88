"""The command line: a table of verbs, each imported only when it is used."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from itertools import takewhile
from typing import Final

import click

from ibid.cli.output import abandon_output, prepare_streams, print_error
from ibid.errors import EXIT_CODES, IbidError
from ibid.version import VERSION

VERBS: Final = {
    "add": ("writing", "Create documents from files; an id that exists is refused."),
    "update": ("writing", "Write documents over those with their ids."),
    "sync": ("writing", "Make the library equal to a folder."),
    "remove": ("writing", "Hide documents from now on, or erase them."),
    "set": ("writing", "Set access, tags and archiving of documents."),
    "sources": ("writing", "List the folders that were synced."),
    "forget": ("writing", "Remove a source with its documents."),
    "list": ("reading", "List the documents."),
    "show": ("reading", "Show one document."),
    "search": ("reading", "Find passages."),
    "ask": ("reading", "Answer a question, every sentence cited and checked."),
    "chat": ("chat", "Ask questions that follow one another."),
    "answers": ("answers", "List the answers that were given, or show one."),
    "open": ("answers", "Show the places that an answer cites."),
    "replay": ("answers", "Answer again from what an answer was made of."),
    "feedback": ("answers", "Say whether an answer was good."),
    "evaluate": ("evaluate", "Measure retrieval and answers by golden questions."),
    "golden": ("golden", "Keep the questions that the library is measured by."),
    "status": ("reading", "Tell what the library holds."),
    "convert": ("files", "Show a file as the document it becomes."),
    "chunk": ("files", "Show a file as the passages it becomes."),
    "history": ("upkeep", "Tell what a document was, version by version."),
    "diff": ("upkeep", "Tell what differs between two versions."),
    "stale": ("upkeep", "List the documents to update or archive."),
    "vacuum": ("upkeep", "Drop versions that were replaced long ago."),
    "verify": ("upkeep", "Check every invariant of the library."),
    "reindex": ("upkeep", "Cut, analyse and embed every text anew, then switch over."),
    "export": ("upkeep", "Write the library as one portable file."),
    "import": ("upkeep", "Take in the documents of an exported file."),
    "diagnose": ("diagnosing", "Tell which stage lost the text that a question should find."),
    "tune": ("tuning", "Look for settings that find more of what golden questions expect."),
    "size": ("inspecting", "Tell how large an index gets, and how to ask what it holds."),
    "lab": ("inspecting", "Try how documents are cut and searched, and see the evidence's rank."),
    "serve": ("serve", "Serve the library over HTTP, with its page."),
    "worker": ("worker", "Take in the files that a sync hands out."),
    "mcp": ("serve", "Serve the library to a model, as tools on standard input and output."),
    "key": ("serve", "Make, list and take back the keys of callers."),
    "config": ("settings", "Show the settings and where each came from."),
    "doctor": ("settings", "Tell what is installed, found and wrong."),
    "completion": ("settings", "Print the completion script of a shell."),
}
"""Verb -> the module it lives in, and its line of help; the module isn't needed for `--help`."""

FAILED: Final = 1
INTERRUPTED: Final = 130


class _Verbs(click.Group):
    """Finds a verb's command in its module."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        module = import_module(f"ibid.cli.{VERBS[cmd_name][0]}")
        command: click.Command = getattr(module, f"{cmd_name}_command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Verbs"):
            formatter.write_dl([(name, line) for name, (_, line) in VERBS.items()])


@click.group(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, prog_name="ibid")
def ibid() -> None:
    """Answers from your own documents, each sentence cited and checked.

    A library is the folder given with --library or IBID_LIBRARY, else the nearest .ibid/ upward,
    else one in your data folder. Every verb takes --json: then, and only then, standard output is
    exactly one JSON object. Exit codes: 0 ok, 1 failed, 2 usage, 3 abstained or nothing found,
    4 a model or database could not be reached, 130 interrupted.
    """


def run(arguments: list[str] | None = None) -> None:
    """Run the command line and leave the process with its exit code."""
    prepare_streams()
    try:
        code = _run_verb(sys.argv[1:] if arguments is None else arguments)
    except BrokenPipeError:  # nobody reads on, so there is nobody to tell
        abandon_output()
        code = FAILED
    sys.exit(code)


def _run_verb(arguments: list[str]) -> int:
    """The exit code of one call; what went wrong in it is told here."""
    as_json = "--json" in takewhile(lambda argument: argument != "--", arguments)
    try:
        if not all(argument.isascii() or _is_text(argument) for argument in arguments):
            raise click.UsageError("an argument holds bytes that are no text in this locale")
        code = ibid.main(arguments, prog_name="ibid", standalone_mode=False)
    except (click.Abort, KeyboardInterrupt):
        print_error("Interrupted", "interrupted", "what was committed is kept", as_json=as_json)
        return INTERRUPTED
    except click.ClickException as error:
        return _tell_usage(error, as_json=as_json)
    except IbidError as error:
        print_error(type(error).__name__, error.message, error.hint, as_json=as_json)
        return find_exit_code(error)
    except BrokenPipeError:
        raise
    except Exception as error:  # noqa: BLE001 - the face: what nobody foresaw is one clear line too
        if os.environ.get("IBID_DEBUG"):
            import traceback

            traceback.print_exc()
        message = " ".join(f"{type(error).__name__}: {error}".split())
        hint = "IBID_DEBUG=1 shows where it happened"
        print_error("InternalError", message, hint, as_json=as_json)
        return FAILED
    return code if isinstance(code, int) else 0


def _tell_usage(error: click.ClickException, *, as_json: bool) -> int:
    if as_json:
        context = error.ctx if isinstance(error, click.UsageError) else None
        hint = f"see {context.command_path} --help" if context else "see ibid --help"
        print_error("UsageError", error.format_message(), hint, as_json=True)
    else:
        error.show()
    return error.exit_code


def find_exit_code(error: IbidError) -> int:
    """The exit code of the nearest kind in the tree of errors."""
    return next(EXIT_CODES[kind] for kind in type(error).__mro__ if kind in EXIT_CODES)


def _is_text(argument: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in argument)
