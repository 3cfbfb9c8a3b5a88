"""What goes over the pipes between a reading child and its parent: JSON, then the text as bytes.

A frame is two lengths, four bytes each, big-endian; the header in JSON; the body. Nothing in it
is ever executed or unpickled: the child has read a stranger's file.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping
from typing import Any, Final

from ibid import errors
from ibid.errors import IbidError, UnreadableDocument
from ibid.plain import pack_blocks, unpack_blocks
from ibid.records import Document

MAX_FRAME: Final = 512 * 1024 * 1024
"""Bytes of header and body beyond which a document is too large to be taken."""

OUT_OF_MEMORY: Final = 77
"""The exit code of a child that reached its limit: it has no memory left to say so."""

_LENGTHS: Final = struct.Struct(">II")


class BadFrame(Exception):
    """What came is no frame, or too large a one."""


def pack_frame(header: Mapping[str, Any], body: bytes = b"") -> bytes:
    """The bytes of one frame."""
    head = json.dumps(header, separators=(",", ":")).encode("ascii")
    return _LENGTHS.pack(len(head), len(body)) + head + body


def read_frame(read: Callable[[int], bytes]) -> tuple[dict[str, Any], bytes] | None:
    """The next frame, `read` giving exactly as many bytes as asked for, fewer only at the end.

    None at the end. Raises BadFrame for one that is too large or isn't in JSON.
    """
    lengths = read(_LENGTHS.size)
    if len(lengths) < _LENGTHS.size:
        return None
    head_length, body_length = _LENGTHS.unpack(lengths)
    if head_length + body_length > MAX_FRAME:
        raise BadFrame(f"more than {MAX_FRAME // 1024**2} MiB")
    content = read(head_length + body_length)
    if len(content) < head_length + body_length:
        return None
    try:
        return json.loads(content[:head_length]), content[head_length:]
    except ValueError as error:
        raise BadFrame("not in JSON") from error


def pack_document(document: Document) -> bytes:
    """The frame of a document as a reader gives it: without id, source and time of change."""
    header = {
        "blocks": pack_blocks(document.blocks),
        "title": document.title,
        "media_type": document.media_type,
        "metadata": document.metadata,
        "tags": document.tags,
        "allow": None if document.allow is None else sorted(document.allow),
        "archived": document.archived,
    }
    return pack_frame({"document": header}, document.text.encode("utf-8"))


def unpack_document(header: Mapping[str, Any], body: bytes) -> Document:
    """The document of a frame's `document` and body."""
    return Document(
        id="",
        text=body.decode("utf-8"),
        blocks=unpack_blocks(header["blocks"]),
        title=header["title"],
        media_type=header["media_type"],
        metadata=header["metadata"],
        tags=header["tags"],
        allow=None if header["allow"] is None else frozenset(header["allow"]),
        archived=header["archived"],
    )


def pack_error(error: IbidError) -> bytes:
    """The frame of a failure."""
    fields = {"type": type(error).__name__, "message": error.message, "hint": error.hint}
    return pack_frame({"error": fields})


def unpack_error(fields: Mapping[str, str]) -> IbidError:
    """The failure of a frame's `error`."""
    kind = getattr(errors, fields["type"]) if fields["type"] in errors.__all__ else None
    if not (isinstance(kind, type) and issubclass(kind, IbidError)):
        kind = UnreadableDocument
    return kind(fields["message"], hint=fields["hint"])
