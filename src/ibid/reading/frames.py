"""What goes over the pipes between a reading child and its parent: JSON, then the text as bytes.

A frame is two lengths, four bytes each, big-endian; the header in JSON; the body. Nothing in it
is ever executed or unpickled: the child has read a stranger's file.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from ibid import errors
from ibid.errors import IbidError, UnreadableDocument
from ibid.records import Blocks, Document

MAX_FRAME: Final = 256 * 1024 * 1024
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
    """The frame of a document as a reader gives it, without source and time of change.

    Attachments of attachments become its own, with the names of both.
    """
    documents = [document, *flatten_attachments(document.attachments)]
    texts = [one.text.encode("utf-8") for one in documents]
    headers = [_pack_header(one, len(text)) for one, text in zip(documents, texts, strict=True)]
    return pack_frame({"documents": headers}, b"".join(texts))


def flatten_attachments(attachments: Iterable[Document], above: str = "") -> Iterator[Document]:
    """All attachments at any depth, each named by its path: `letter.eml/contract.pdf`."""
    for one in attachments:
        name = f"{above}{one.id}"
        yield replace(one, id=name, attachments=())
        yield from flatten_attachments(one.attachments, f"{name}/")


def _pack_header(document: Document, length: int) -> dict[str, Any]:
    return {
        "id": document.id,
        "bytes": length,
        "blocks": Blocks.of(document.blocks).rows,
        "title": document.title,
        "media_type": document.media_type,
        "metadata": document.metadata,
        "tags": document.tags,
        "allow": None if document.allow is None else sorted(document.allow),
        "archived": document.archived,
    }


def unpack_document(headers: Sequence[Mapping[str, Any]], body: bytes) -> Document:
    """The document of a frame's `documents` and body, with its attachments."""
    documents, start = [], 0
    for header in headers:
        documents.append(_unpack_header(header, body[start : start + header["bytes"]]))
        start += header["bytes"]
    return replace(documents[0], attachments=tuple(documents[1:]))


def _unpack_header(header: Mapping[str, Any], text: bytes) -> Document:
    return Document(
        id=header["id"],
        text=text.decode("utf-8"),
        blocks=Blocks(header["blocks"]),
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
