"""The package that a Word, PowerPoint or Excel file is: parts, their relations and properties."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from urllib.parse import unquote

from lxml import etree

from ibid.errors import UnreadableDocument
from ibid.reading.archive import Archive, open_archive, parse_xml
from ibid.records import JSON

_OLE_SIGNATURE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_RELATIONS: Final = "{http://schemas.openxmlformats.org/package/2006/relationships}"
R: Final = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
A: Final = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_FALLBACK: Final = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_DC: Final = "{http://purl.org/dc/elements/1.1/}"
_TERMS: Final = "{http://purl.org/dc/terms/}"

# ISO/IEC 29500 Strict names the same elements by other addresses.
_STRICT: Final = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)")
_TRANSITIONAL: Final = rb"http://schemas.openxmlformats.org/\1/2006"

_NO_YEAR: Final = 1601  # where Windows begins to count: a date nobody has set

# Titles that programs write when nobody has given one.
_NO_TITLE: Final = re.compile(
    r"untitled|(powerpoint )?presentation|slide 1|document\d*|(microsoft )?(word|excel)\b.*"
    r"|powerpoint-pr\w+|pr[äée]sentation\w* powerpoint|.*\.(docx?|pptx?|xlsx?|dotx?)",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Relation:
    """What one part says of another: the last word of its kind, and the name of that part."""

    kind: str
    target: str


class Package:
    """The parts of an Office file by their names, each parsed when it is asked for."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._names = {name.lower(): name for name in archive.names}

    def __contains__(self, name: str) -> bool:
        return name.lower() in self._names

    def read(self, name: str) -> bytes:
        """The bytes of a part. Raises UnreadableDocument when it is missing or damaged."""
        return _STRICT.sub(_TRANSITIONAL, self.extract(name))

    def extract(self, name: str) -> bytes:
        """The bytes of a part that is a file of its own, as they are."""
        return self._archive.read(self._names.get(name.lower(), name))

    def measure(self, name: str) -> int:
        """The size of a part as the archive tells it."""
        return self._archive.measure(self._names.get(name.lower(), name))

    def parse(self, name: str) -> etree._Element:
        """The root of an XML part. Raises UnreadableDocument as `read` does."""
        root = parse_xml(self.read(name))
        etree.strip_elements(root, _FALLBACK, with_tail=False)
        return root

    def read_relations(self, name: str) -> dict[str, Relation]:
        """The relations of a part by their ids, those to parts that exist; "" is the package."""
        folder, file = posixpath.split(name)
        path = posixpath.join(folder, "_rels", f"{file}.rels")
        if path not in self:
            return {}
        found: dict[str, Relation] = {}
        for node in self.parse(path).iter(f"{_RELATIONS}Relationship"):
            address = unquote(node.get("Target") or "")
            target = posixpath.normpath(posixpath.join("/", folder, address)).lstrip("/")
            if node.get("TargetMode") != "External" and target in self:
                kind = (node.get("Type") or "").rpartition("/")[2]
                found[node.get("Id") or ""] = Relation(kind, target)
        return found

    def find_related(self, name: str, kind: str) -> list[str]:
        """The names of the parts of a kind that a part is related to."""
        return [r.target for r in self.read_relations(name).values() if r.kind == kind]

    def parse_related(self, name: str, kind: str) -> etree._Element | None:
        """The root of the first part of a kind that a part is related to."""
        names = self.find_related(name, kind)
        return self.parse(names[0]) if names else None

    def find_main(self) -> str:
        """The name of the part where the document begins."""
        names = self.find_related("", "officeDocument")
        if not names:
            raise UnreadableDocument("damaged: an Office file without its main part")
        return names[0]

    def read_properties(self) -> tuple[str | None, dict[str, JSON]]:
        """The title that somebody gave the file, and its author and dates."""
        root = self.parse_related("", "core-properties")
        if root is None:
            return None, {}
        values = {
            "title": root.findtext(f"{_DC}title"),
            "author": root.findtext(f"{_DC}creator"),
            "created": root.findtext(f"{_TERMS}created"),
            "modified": root.findtext(f"{_TERMS}modified"),
        }
        return select_properties(values)


def open_package(data: bytes, password: str | None = None) -> Package:
    """The Office file that the bytes hold, decrypted with `password` if need be.

    Raises UnreadableDocument for one that is broken, too large, or protected by another password.
    """
    if is_ole(data):
        if find_ole_name(data, "EncryptedPackage"):
            # Its cryptography takes longer to load than most files to read, and few need it.
            from ibid.reading.office.locked import unlock  # noqa: PLC0415

            return Package(open_archive(unlock(data, password)))
        raise UnreadableDocument(
            "a file of Office 97 to 2003 under a newer name", hint="save it in the newer format"
        )
    return Package(open_archive(data))


def is_ole(data: bytes) -> bool:
    """True for a compound file: old Office, Outlook, or new Office under a password."""
    return data.startswith(_OLE_SIGNATURE)


def find_ole_name(data: bytes, name: str) -> bool:
    """True when a compound file has a stream of this name in its directory."""
    return name.encode("utf-16-le") in data


def select_properties(values: dict[str, str | None]) -> tuple[str | None, dict[str, JSON]]:
    """The title and the metadata among a file's properties, those that say something."""
    told = {name: " ".join(value.split()) for name, value in values.items() if value}
    title = told.pop("title", "")
    metadata: dict[str, JSON] = {}
    for name, value in told.items():
        if value and (name not in ("created", "modified") or _is_date(value)):
            metadata[name] = value
    return (None if _NO_TITLE.fullmatch(title) else title or None), metadata


def _is_date(value: str) -> bool:
    try:
        return datetime.fromisoformat(value).year > _NO_YEAR
    except ValueError:
        return False
