"""Keys of endpoints: from the environment or from files that only their owner can read."""

from __future__ import annotations

import os
import stat
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from ibid.errors import BadSetting

KEYS_FILE: Final = "keys.toml"

EMBEDDER_KEY: Final = "IBID_EMBEDDER_API_KEY"
GENERATOR_KEY: Final = "IBID_GENERATOR_API_KEY"

_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


@dataclass(frozen=True, slots=True)
class Secret:
    """A key that isn't shown where the object is; `origin` tells where it came from."""

    value: str = field(repr=False)
    origin: str


def find_secret(name: str, environ: Mapping[str, str], *, user_dir: Path) -> Secret | None:
    """The key of this name, or None.

    It is what the variable holds, else the content of the file that NAME_FILE names (so containers
    hand over secrets), else what `keys.toml` in the user's configuration folder says; that file
    must be its user's alone.

    Raises BadSetting for a file that can't be used, never with what it holds.
    """
    if value := environ.get(name, "").strip():
        return Secret(value, name)
    if path := environ.get(f"{name}_FILE", "").strip():
        return Secret(_read_secret(Path(path), f"{name}_FILE"), path)
    path_of_keys = user_dir / KEYS_FILE
    if path_of_keys.is_file() and (value := _read_keys(path_of_keys).get(name, "")):
        return Secret(value, str(path_of_keys))
    return None


def _read_secret(path: Path, variable: str) -> str:
    try:
        value = path.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise BadSetting(
            f"{variable} names {path}, which can't be read", hint="name a file that holds the key"
        ) from error
    if not value:
        raise BadSetting(
            f"{variable} names {path}, which is empty", hint="name a file that holds the key"
        )
    return value


def _read_keys(path: Path) -> dict[str, str]:
    try:
        with path.open("rb") as file:
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            found = {} if mode & _OTHERS else tomllib.load(file)
    except (OSError, ValueError):
        # The parser's own message may quote what stands there.
        raise BadSetting(
            f"{path} can't be read", hint='write lines such as IBID_GENERATOR_API_KEY = "…"'
        ) from None
    if mode & _OTHERS:
        raise BadSetting(
            f"{path} can be read by others (mode {mode:04o})",
            hint=f"run `chmod 600 {path}`, and renew the keys if others had access",
        )
    if not all(isinstance(value, str) for value in found.values()):
        raise BadSetting(f"{path} holds more than texts", hint="write one key a line, in quotes")
    return found
