"""Where the user's settings lie, and which library is meant."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit


def find_library(
    flag: str | None = None,
    *,
    environ: Mapping[str, str] = os.environ,
    cwd: Path | None = None,
) -> str:
    """The library that is meant: a folder's path, or an address such as postgresql://….

    It is the one that the flag names, else IBID_LIBRARY, else the nearest `.ibid` in this folder
    or above it, else the one in the user's data folder; it need not exist.
    """
    cwd = cwd or Path.cwd()
    named = flag or environ.get("IBID_LIBRARY")
    if named:
        return named if "://" in named else os.path.normpath(cwd / Path(named).expanduser())
    for folder in (cwd, *cwd.parents):
        if (folder / ".ibid").is_dir():
            return str(folder / ".ibid")
    import platformdirs  # noqa: PLC0415 - as above

    return platformdirs.user_data_dir("ibid", appauthor=False)


def hide_password(location: str) -> str:
    """A location as it may be shown: an address without its password."""
    if "://" not in location:
        return location
    parts = urlsplit(location)
    user, at, host = parts.netloc.rpartition("@")
    options = [(name, value) for name, value in parse_qsl(parts.query) if name != "password"]
    return urlunsplit(
        parts._replace(
            netloc=f"{user.partition(':')[0]}{at}{host}", query=urlencode(options, safe="/")
        )
    )


def find_user_dir() -> Path:
    """The user's configuration folder."""
    import platformdirs  # noqa: PLC0415 - 18 ms that most imports of this module don't need

    return Path(platformdirs.user_config_dir("ibid", appauthor=False))
