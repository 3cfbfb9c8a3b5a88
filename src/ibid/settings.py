"""Settings: what they are, where each value came from, and which library is meant.

A setting is declared once, as a field below; its key in `config.toml` (`search.k`), its name in the
environment (`IBID_SEARCH_K`) and its line in `ibid config` follow from that. Later wins: default,
the user's `config.toml`, the library's, environment, flags. Nothing is read from a synced folder.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NoReturn, TypeAlias, TypeVar, cast, get_args, get_type_hints
from urllib.parse import urlsplit

from ibid.errors import BadSetting
from ibid.records import SearchMode

CONFIG_FILE: Final = "config.toml"

Scalar: TypeAlias = str | int | float | bool | None
S = TypeVar("S")


# -- the declarations ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Limits:
    """What a setting is for and may be; `low` and `high` are allowed themselves."""

    help: str
    low: float = -math.inf
    high: float = math.inf
    choices: tuple[str, ...] = ()
    check: Callable[[str], bool] | None = None


def _setting(default: Scalar, help: str, **limits: Any) -> Any:
    return field(default=default, metadata={"limits": _Limits(help, **limits)})


def _is_plain_url(value: str) -> bool:
    """An address without a name or password in it: these would be shown with the settings."""
    try:
        url = urlsplit(value)
    except ValueError:
        return False
    return url.scheme in ("http", "https") and bool(url.hostname) and "@" not in url.netloc


_METHODS: Final = ("structure", "sentences", "words", "characters")
_URL_HELP: Final = "http or https address of an OpenAI-compatible endpoint, without a password"


@dataclass(frozen=True, slots=True)
class EmbedderSettings:
    """What turns text into vectors."""

    name: str = _setting("all-MiniLM-L6-v2", "the embedder: a name, or a folder with its model")
    base_url: str | None = _setting(None, _URL_HELP, check=_is_plain_url)
    model: str | None = _setting(None, "the model to ask for at the endpoint")


@dataclass(frozen=True, slots=True)
class GeneratorSettings:
    """What writes the answers."""

    name: str = _setting("extractive", "the generator")
    base_url: str | None = _setting(None, _URL_HELP, check=_is_plain_url)
    model: str | None = _setting(None, "the model to ask for at the endpoint")


@dataclass(frozen=True, slots=True)
class ChunkingSettings:
    """How documents are cut; None is as the method has it."""

    by: str = _setting("structure", "what documents are cut by", choices=_METHODS)
    size: int | None = _setting(None, "size of a passage in the method's unit", low=1)
    overlap: int | None = _setting(None, "how much of a passage the next repeats", low=0)


@dataclass(frozen=True, slots=True)
class WeightSettings:
    """What each retriever counts in fusion."""

    lexical: float = _setting(1.0, "weight of the keyword search", low=0, high=1000)
    dense: float = _setting(1.0, "weight of the vector search", low=0, high=1000)


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """How passages are found."""

    k: int = _setting(10, "hits of a search", low=1, high=1000)
    mode: SearchMode = _setting("hybrid", "the retrievers", choices=get_args(SearchMode))  # noqa: RUF009 - a field
    candidates: int = _setting(100, "passages each retriever finds", low=1, high=10_000)
    rrf_k: int = _setting(60, "the constant of reciprocal rank fusion", low=0, high=10_000)
    weights: WeightSettings = WeightSettings()
    min_score: float | None = _setting(None, "the least score that is shown")
    rerank: str = _setting("none", "the reranker")
    section_pieces: int = _setting(
        0, "word pieces of the section shown with a hit; 0 shows the passage", low=0, high=100_000
    )


@dataclass(frozen=True, slots=True)
class AskSettings:
    """How questions are answered."""

    sources: int = _setting(6, "passages that an answer is made from", low=1, high=100)
    min_cosine: float = _setting(0.35, "likeness that needs no common word", low=-1, high=1)
    strict: bool = _setting(False, "leave out claims that nothing supports")


@dataclass(frozen=True, slots=True)
class IngestSettings:
    """How documents are taken in."""

    max_file_bytes: int = _setting(100_000_000, "size of the largest file that is read", low=1)
    readers: int = _setting(1, "processes that read files", low=1, high=64)
    commit_seconds: float = _setting(5.0, "seconds between commits", low=0.1, high=3600)
    contexts: bool = _setting(False, "let the generator write a context for each passage")
    batch: int = _setting(512, "passages after which a commit is made", low=1, high=100_000)


@dataclass(frozen=True, slots=True)
class ReadingSettings:
    """The limits of reading one file."""

    max_seconds: float = _setting(120.0, "longest time for one file", low=1, high=86_400)
    memory_bytes: int = _setting(1024**3, "memory of a reading process", low=128 * 1024**2)


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings; the sections are the tables of `config.toml`."""

    embedder: EmbedderSettings = EmbedderSettings()
    generator: GeneratorSettings = GeneratorSettings()
    chunking: ChunkingSettings = ChunkingSettings()
    search: SearchSettings = SearchSettings()
    ask: AskSettings = AskSettings()
    ingest: IngestSettings = IngestSettings()
    reading: ReadingSettings = ReadingSettings()
    offline: bool = _setting(False, "refuse all that would leave this machine")
    lock_timeout_s: float = _setting(30.0, "seconds to wait for another writer", low=0, high=86_400)
    origins: Mapping[str, str] = field(
        default_factory=lambda: dict.fromkeys(SETTINGS, "default"), compare=False, repr=False
    )
    """Where each value came from, by key: default, a file, a variable, or a flag."""


# -- the table that follows from them -------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting, as a row of the table."""

    key: str
    type: type
    optional: bool
    default: Scalar
    limits: _Limits

    @property
    def variable(self) -> str:
        """Its name in the environment."""
        return "IBID_" + self.key.upper().replace(".", "_")

    @property
    def allowed(self) -> str:
        """What it may be, in words."""
        if self.limits.check is not None:
            words = self.limits.help
        elif self.limits.choices:
            words = f"one of {', '.join(self.limits.choices)}"
        else:
            words = _TYPE_WORDS[self.type]
            if self.limits.low > -math.inf:
                words += f" from {self.limits.low:,}"
            if self.limits.high < math.inf:
                words += f" to {self.limits.high:,}"
        return f"{words}, or none" if self.optional else words


_TYPE_WORDS: Final = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}


def _declare(section: Any, prefix: str = "") -> Iterator[Setting]:
    types = get_type_hints(section)
    for declared in fields(section):
        key, annotation = prefix + declared.name, types[declared.name]
        if is_dataclass(annotation):
            yield from _declare(annotation, f"{key}.")
        if "limits" not in declared.metadata:
            continue
        kinds = get_args(annotation) or (annotation,)
        kind = str if isinstance(kinds[0], str) else kinds[0]  # a Literal's choices are texts
        optional = type(None) in kinds
        default = cast(Scalar, declared.default)
        yield Setting(key, kind, optional, default, declared.metadata["limits"])


SETTINGS: Final[Mapping[str, Setting]] = MappingProxyType({s.key: s for s in _declare(Settings)})
"""Every setting by its key, in the order of the declarations."""


# -- loading --------------------------------------------------------------------------------------


def load_settings(
    flags: Mapping[str, Scalar] | None = None,
    *,
    library: str | None = None,
    environ: Mapping[str, str] = os.environ,
    user_dir: Path | None = None,
) -> Settings:
    """The settings in force, with the origin of each.

    `flags` holds values by key, None for a flag that wasn't given; `library` is what
    `find_library` found; `user_dir` is the user's configuration folder unless given.

    Raises BadSetting, naming file or variable, for an unknown name or a value that isn't allowed.
    """
    values = {key: setting.default for key, setting in SETTINGS.items()}
    origins = dict.fromkeys(SETTINGS, "default")

    def take(key: str, value: object, where: str) -> None:
        if key not in SETTINGS:
            _refuse(where, key, SETTINGS)
        values[key], origins[key] = _check(SETTINGS[key], value, where), where

    for path in _list_files(user_dir or find_user_dir(), library):
        for key, value in _read_file(path):
            take(key, value, str(path))
    for key, text in _read_environment(environ):
        take(key, _parse(SETTINGS[key], text), SETTINGS[key].variable)
    for key, value in (flags or {}).items():
        if value is not None:
            take(key, value, "flag")
    return _build(Settings, values, origins=MappingProxyType(origins))


def describe_settings(settings: Settings) -> list[dict[str, Scalar]]:
    """A row for each setting: key, value, origin, variable, default, allowed and help."""
    return [
        {
            "key": key,
            "value": attrgetter(key)(settings),
            "origin": settings.origins[key],
            "variable": setting.variable,
            "default": setting.default,
            "allowed": setting.allowed,
            "help": setting.limits.help,
        }
        for key, setting in SETTINGS.items()
    ]


def find_user_dir() -> Path:
    """The user's configuration folder."""
    import platformdirs  # noqa: PLC0415 - 18 ms that most imports of this module don't need

    return Path(platformdirs.user_config_dir("ibid", appauthor=False))


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


def _is_within(limits: _Limits, value: Any) -> bool:
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


# -- what follows from settings -------------------------------------------------------------------

_ANSWERING: Final = ("embedder.", "generator.", "chunking.", "search.", "ask.")
"""The sections that what is answered depends on."""


def settings_hash(settings: Settings) -> str:
    """A hash of all settings that affect answers, equal for equal ones on any machine."""
    values = {key: attrgetter(key)(settings) for key in SETTINGS if key.startswith(_ANSWERING)}
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


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
