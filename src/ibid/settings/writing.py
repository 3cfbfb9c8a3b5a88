"""Settings written into a `config.toml` that people wrote: only the lines that change do."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from ibid.errors import BadSetting
from ibid.settings.sections import Scalar
from ibid.settings.table import SETTINGS

_HEADER: Final = re.compile(r"^\s*\[([^\[\]]+)\]\s*(#.*)?$")
_ASSIGNED: Final = re.compile(r"^(\s*)([\w.-]+)(\s*=\s*)([^#]*?)(\s*#.*)?$")


def write_settings(path: Path, values: Mapping[str, Scalar]) -> None:
    """Set values by key in a file of settings, made where it is missing; None is "none".

    What else the file says, its comments too, stays as it is. The file is replaced at once or not
    at all. Raises BadSetting for an unknown key, and where the file is written in a way that leaves
    no place for a value.
    """
    unknown = [key for key in values if key not in SETTINGS]
    if unknown:
        raise BadSetting(f"{', '.join(unknown)} is no setting", hint="`ibid config` lists them")
    try:
        lines = path.read_text("utf-8-sig").splitlines() if path.exists() else []
    except (OSError, ValueError) as error:
        raise BadSetting(f"{path} can't be read: {error}", hint="mend it or remove it") from error
    for key, value in values.items():
        _set_line(lines, key, _write_value(value))
    text = "\n".join(lines) + "\n"
    _check_written(text, path, values)
    beside = path.with_name(f".{path.name}.new")
    beside.write_text(text, "utf-8")
    os.replace(beside, path)


def _write_value(value: Scalar) -> str:
    return json.dumps("none" if value is None else value, ensure_ascii=False)


def _set_line(lines: list[str], key: str, value: str) -> None:
    """Change the line that sets a key, or put one where its table begins."""
    table, begins = "", {"": 0}
    for number, line in enumerate(lines):
        if header := _HEADER.match(line):
            table = header[1].replace(" ", "")
            begins[table] = number + 1
        elif (found := _ASSIGNED.match(line)) and _join(table, found[2]) == key:
            lines[number] = f"{found[1]}{found[2]}{found[3]}{value}{found[5] or ''}"
            return
    section, _, name = key.rpartition(".")
    while section not in begins and "." in section:
        section, _, first = section.rpartition(".")
        name = f"{first}.{name}"
    if section in begins:
        lines.insert(begins[section], f"{name} = {value}")
    elif any(re.match(rf"\s*{re.escape(section)}\.", line) for line in lines[: _find_end(lines)]):
        lines.insert(0, f"{key} = {value}")
    else:
        lines += [*([""] if lines else []), f"[{section}]", f"{name} = {value}"]


def _find_end(lines: list[str]) -> int:
    """Where the lines before the first table end."""
    return next((n for n, line in enumerate(lines) if _HEADER.match(line)), len(lines))


def _join(table: str, name: str) -> str:
    return f"{table}.{name}" if table else name


def _check_written(text: str, path: Path, values: Mapping[str, Scalar]) -> None:
    """Raise BadSetting unless the text says these values."""
    said = False
    with suppress(tomllib.TOMLDecodeError):
        table = tomllib.loads(text)
        said = all(
            _look_up(table, key) == ("none" if value is None else value)
            for key, value in values.items()
        )
    if not said:
        told = ", ".join(f"{key} = {_write_value(value)}" for key, value in values.items())
        raise BadSetting(f"{path} has no plain place for {told}", hint="write them there by hand")


def _look_up(table: object, key: str) -> object:
    for name in key.split("."):
        table = table.get(name) if isinstance(table, dict) else None
    return table
