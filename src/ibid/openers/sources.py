"""From where documents lie to their source: a folder, a prefix in an object store, a website."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import unquote, urlsplit

from ibid.errors import ModelUnavailable
from ibid.protocols import Source
from ibid.settings import Settings


def open_source(place: str | os.PathLike[str], settings: Settings) -> Source:
    """The source at a place: a folder's path, or an address such as s3://BUCKET/PREFIX.

    Raises InputError where there is none, BadSetting for an address that can't be used, and
    ModelUnavailable where nothing may leave this machine.
    """
    place = os.fspath(place)
    scheme, separator, _ = place.partition("://")
    return SOURCES.get(scheme if separator else "", _open_objects)(place, settings)


def _open_folder(place: str, settings: Settings) -> Source:
    from ibid.sources.folder import FolderSource

    return FolderSource(place)


def _open_file_url(place: str, settings: Settings) -> Source:
    return _open_folder(unquote(urlsplit(place).path), settings)


def _open_objects(place: str, settings: Settings) -> Source:
    from ibid.sources.objects import LOCAL, ObjectSource

    if urlsplit(place).scheme not in LOCAL:
        _refuse_offline(place, settings)
    return ObjectSource(place)


def _open_website(place: str, settings: Settings) -> Source:
    from ibid.sources.web.source import WebSource
    from ibid.wire import is_loopback

    if not is_loopback(urlsplit(place).hostname or ""):
        _refuse_offline(place, settings)
    return WebSource(place)


def _refuse_offline(place: str, settings: Settings) -> None:
    """Raise ModelUnavailable where a source lies elsewhere and this machine is to stay alone."""
    if settings.offline:
        raise ModelUnavailable(
            f"{place} lies on another machine, and ibid is offline",
            hint="leave --offline and IBID_OFFLINE out, or sync a folder",
        )


SOURCES: Final[Mapping[str, Callable[[str, Settings], Source]]] = {
    "": _open_folder,
    "file": _open_file_url,
    "http": _open_website,
    "https": _open_website,
}
"""Scheme of the place -> what opens it; a folder has none, any other is an object store's."""
