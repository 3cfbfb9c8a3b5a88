"""Settings from their files, the environment and flags; later ones are stronger."""

from __future__ import annotations

import difflib
import hashlib
import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import is_dataclass
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NoReturn, TypeVar, cast, get_type_hints

from ibid.errors import BadSetting
from ibid.settings.places import find_user_dir
from ibid.settings.prices import PRICES, read_prices
from ibid.settings.sections import Limits, Price, Scalar, Settings
from ibid.settings.table import SETTINGS, Setting

CONFIG_FILE: Final = "config.toml"

S = TypeVar("S")


def load_settings(
    flags: Mapping[str, Scalar] | None = None,
    *,
    library: str | None = None,
    environ: Mapping[str, str] = os.environ,
    user_dir: Path | None = None,
    override: Path | None = None,
) -> Settings:
    """The settings in force, with the origin of each.

    `flags` holds values by key, None for a flag that wasn't given; `library` is what
    `find_library` found; `user_dir` is the user's configuration folder unless given; `override` is
    a file of settings that is stronger than all but flags.

    Raises BadSetting, naming file or variable, for an unknown name or a value that isn't allowed.
    """
    values = {key: setting.default for key, setting in SETTINGS.items()}
    origins = dict.fromkeys(SETTINGS, "default")

    def take(key: str, value: object, where: str) -> None:
        if key not in SETTINGS:
            _refuse(where, key, SETTINGS)
        values[key], origins[key] = _check(SETTINGS[key], value, where), where

    prices: dict[str, Price] = {}

    def take_file(path: Path) -> None:
        for key, value in _read_file(path):
            if key == PRICES:
                found = read_prices(value, str(path))
                prices.update(found)
                origins.update({f"{PRICES}.{model}": str(path) for model in found})
            else:
                take(key, value, str(path))

    for path in _list_files(user_dir or find_user_dir(), library):
        take_file(path)
    for key, text in _read_environment(environ):
        take(key, _parse(SETTINGS[key], text), SETTINGS[key].variable)
    if override is not None:
        take_file(override)
    for key, value in (flags or {}).items():
        if value is not None:
            take(key, value, "flag")
    return _build(Settings, values, prices=prices, origins=MappingProxyType(origins))


def _list_files(user_dir: Path, library: str | None) -> list[Path]:
    """The files of settings, later ones stronger; a library in a database has none."""
    folders = [user_dir] if library is None or "://" in library else [user_dir, Path(library)]
    return [path for folder in folders if (path := folder / CONFIG_FILE).is_file()]


def _read_file(path: Path) -> Iterator[tuple[str, object]]:
    import tomllib  # noqa: PLC0415 - most have no such file

    try:
        found = tomllib.loads(path.read_text("utf-8-sig"))
    except (OSError, ValueError) as error:
        raise BadSetting(f"{path} can't be read: {error}", hint="mend it or remove it") from error
    return _flatten(found)


def _flatten(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, object]]:
    """The values of tables by their dotted keys; a table that is no section is a value."""
    for name, value in table.items():
        key = prefix + name
        if isinstance(value, dict) and any(known.startswith(f"{key}.") for known in SETTINGS):
            yield from _flatten(value, f"{key}.")
        else:
            yield key, value


def _refuse(where: str, name: str, known: Iterable[str]) -> NoReturn:
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]}?" if near else "`ibid config` lists the settings"
    if name.rpartition(".")[2] in ("key", "api_key", "password", "secret", "token"):
        hint = "keys are never settings: put them into the environment, as IBID_GENERATOR_API_KEY"
    raise BadSetting(f"{where}: {name} is not a setting", hint=hint)


def _read_environment(environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The settings that variables hold; an empty variable says nothing.

    A name that begins like a section must be a setting. Others that begin with IBID_ may be
    anything: Kubernetes sets IBID_PORT and more where a service is called ibid.
    """
    keys = {setting.variable: key for key, setting in SETTINGS.items()}
    sections = tuple({f"IBID_{key.partition('.')[0].upper()}_" for key in SETTINGS if "." in key})
    for name, text in environ.items():
        if name in keys:
            if text.strip():
                yield keys[name], text.strip()
        elif name.startswith(sections) and not name.endswith(("_API_KEY", "_API_KEY_FILE")):
            _refuse("environment", name, keys)


_FLAGS: Final = {"1": True, "true": True, "0": False, "false": False}


def _parse(setting: Setting, text: str) -> Scalar:
    """The value that a variable's text stands for; the text itself where it stands for none."""
    if setting.type is bool:
        return _FLAGS.get(text.lower(), text)
    try:
        return cast(Scalar, setting.type(text))
    except ValueError:
        return text


def _check(setting: Setting, value: object, where: str) -> Scalar:
    """The value, if it is allowed; a whole number will do for a number."""
    if setting.optional and value == "none":
        return None
    if setting.type is float and type(value) is int and abs(value) < 2**53:
        value = float(value)
    if type(value) is not setting.type or not _is_within(setting.limits, value):
        # What should have been an address may hold a password.
        shown = "" if setting.limits.check else f" = {value!r}"
        raise BadSetting(
            f"{where}: {setting.key}{shown} can't be used", hint=f"it is {setting.allowed}"
        )
    return cast(Scalar, value)


def _is_within(limits: Limits, value: Any) -> bool:
    if isinstance(value, str):
        chosen = not limits.choices or value in limits.choices
        return bool(value) and chosen and (limits.check is None or limits.check(value))
    return bool(limits.low <= value <= limits.high) and abs(value) != math.inf


def _build(section: type[S], values: Mapping[str, Scalar], prefix: str = "", **more: object) -> S:
    """A section, and those below it, from values by key."""
    made = dict(more)
    for name, annotation in get_type_hints(section).items():
        key = prefix + name
        if is_dataclass(annotation):
            made[name] = _build(cast(type[Any], annotation), values, f"{key}.")
        elif key in values:
            made[name] = values[key]
    return section(**made)


_ANSWERING: Final = (
    "embedder.",
    "generator.",
    "chunking.",
    "search.",
    "rerank.",
    "select.",
    "rewrite.",
    "agent.",
    "ask.",
)
"""The sections that what is answered depends on."""


def settings_hash(settings: Settings) -> str:
    """A hash of all settings that affect answers, equal for equal ones on any machine."""
    values = {key: attrgetter(key)(settings) for key in SETTINGS if key.startswith(_ANSWERING)}
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()
