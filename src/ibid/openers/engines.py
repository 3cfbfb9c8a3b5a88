"""From a library's location to its engine: a folder, or the address of a database server."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ibid.errors import BadSetting, LibraryNotFound
from ibid.protocols import Index
from ibid.settings import Settings

if TYPE_CHECKING:
    from ibid.index.options import Approximation


def open_index(location: str, settings: Settings, *, create: bool) -> Index:
    """The engine for a location. Raises LibraryNotFound where there is none to open."""
    scheme, separator, _ = location.partition("://")
    opener = ENGINES.get(scheme if separator else "")
    if opener is None:
        raise BadSetting(
            f"no engine for {scheme}:// in this ibid",
            hint="give a folder as the library, or an address that begins with postgresql://",
        )
    return opener(location, settings, create)


def _open_embedded(location: str, settings: Settings, create: bool) -> Index:
    folder = Path(location)
    if not create and not (folder / "library.db").exists():
        raise LibraryNotFound(
            f"no library at {folder}",
            hint="make one with `ibid sync FOLDER` or `ibid add PATH`, or name one with --library",
        )
    from ibid.index.embedded.drives import refuse_network_drive
    from ibid.index.embedded.engine import EmbeddedIndex

    if not settings.index.network_drive:
        refuse_network_drive(folder)
    return EmbeddedIndex(
        folder,
        analyze=_analyze,
        lock_timeout_s=settings.lock_timeout_s,
        approximation=_approximation(settings),
    )


def _open_postgres(location: str, settings: Settings, create: bool) -> Index:
    try:
        from ibid.index.postgres.engine import PostgresIndex
    except ImportError as error:
        raise BadSetting(
            f"a library in PostgreSQL needs the extra postgres ({error})",
            hint="run `pip install 'ibid-rag[postgres]'`",
        ) from error
    return PostgresIndex(
        location,
        analyze=_analyze,
        readers=settings.index.readers,
        lock_timeout_s=settings.lock_timeout_s,
        approximation=_approximation(settings),
        create=create,
    )


ENGINES: Final[Mapping[str, Callable[[str, Settings, bool], Index]]] = {
    "": _open_embedded,
    "postgresql": _open_postgres,
    "postgres": _open_postgres,
}
"""Scheme of the location -> what opens it; a folder has none."""


def _approximation(settings: Settings) -> Approximation:
    from ibid.index.options import Approximation

    return Approximation(
        min_rows=settings.index.ann_rows,
        share=settings.index.ann_share,
        cluster_rows=settings.index.ann_cluster,
    )


def _analyze(text: str, language: str | None) -> str:
    from ibid.flows.prepare import analyze_passage

    return analyze_passage(text, language)
