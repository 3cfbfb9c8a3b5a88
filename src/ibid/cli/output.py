"""How the command line speaks: one JSON object on standard output, or words; errors in either."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Mapping
from typing import Any

import click


def prepare_streams() -> None:
    """Make every text printable: what a stream's encoding lacks is escaped instead of raised."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def print_json(shape: Mapping[str, Any]) -> None:
    """Print the one object of a call with --json."""
    import json

    from ibid.shapes import SCHEMA_VERSION

    whole = {"schema_version": SCHEMA_VERSION, **shape}
    click.echo(json.dumps(whole, ensure_ascii=not _is_utf8(), allow_nan=False))


def _is_utf8() -> bool:
    return (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"


def print_error(kind: str, message: str, hint: str = "", *, as_json: bool) -> None:
    """Say what went wrong: as JSON on standard output, or in words on standard error."""
    if as_json:
        print_json({"error": {"type": kind, "message": message, "hint": hint}})
        return
    click.echo(f"Error: {message}", err=True)
    if hint:
        click.echo(f"  {hint}", err=True)


def abandon_output() -> None:
    """Give up standard output, whose reader has gone, so that leaving does not fail on it too."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
