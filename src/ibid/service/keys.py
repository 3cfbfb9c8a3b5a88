"""Keys of callers: made, shown once, kept as hashes, taken back."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from ibid.errors import BadSetting
from ibid.flows.options import check_allow
from ibid.settings.sections import SCOPES

if TYPE_CHECKING:
    import sqlite3

    from ibid.service.store import Store

MARK: Final = "ibid"
"""What every key begins with, so that one that got out is recognized."""


@dataclass(frozen=True, slots=True)
class Key:
    """What is known of a key: whose it is and what it may, not what it is.

    `prefix` begins the ids of all documents that it may write.
    """

    id: str
    name: str
    principals: frozenset[str]
    scopes: frozenset[str]
    prefix: str
    created_at: datetime
    revoked_at: datetime | None = None


def create_key(
    store: Store,
    *,
    name: str,
    principals: Iterable[str],
    scopes: Iterable[str],
    prefix: str | None = None,
) -> tuple[Key, str]:
    """A new key and its text, which is kept nowhere.

    The prefix of a key that may write is its own id unless another is given. Raises BadSetting.
    """
    granted = _check_scopes(scopes, prefix)
    id, secret = secrets.token_hex(4), secrets.token_urlsafe(32)
    key = Key(
        id,
        name,
        check_allow(principals),
        granted,
        f"{id}/" if prefix is None else prefix,
        datetime.now(UTC),
    )
    with store.transaction() as connection:
        connection.execute(
            "INSERT INTO keys VALUES (?, ?, ?, ?, ?, ?, ?, NULL)",
            (
                key.id,
                _hash(secret),
                name,
                json.dumps(sorted(key.principals)),
                json.dumps(sorted(granted)),
                key.prefix,
                key.created_at.isoformat(),
            ),
        )
    return key, f"{MARK}_{id}_{secret}"


def _check_scopes(scopes: Iterable[str], prefix: str | None) -> frozenset[str]:
    granted = frozenset(scopes)
    if not granted or not granted <= {*SCOPES}:
        raise BadSetting(
            f"{', '.join(sorted(granted - {*SCOPES})) or 'nothing'} is no scope",
            hint=f"give any of {', '.join(SCOPES)}",
        )
    if prefix == "" and not granted >= {"ingest", "admin"}:
        raise BadSetting(
            "a key that may write anywhere learns which ids are taken",
            hint="give it a prefix, or the scope admin too",
        )
    return granted


def list_keys(store: Store) -> list[Key]:
    """All keys, those taken back too, in the order in which they were made."""
    return [_read(row) for row in store.read("SELECT * FROM keys ORDER BY created_at, id")]


def revoke_key(store: Store, id: str) -> Key:
    """Take a key back, at once and for good. Raises BadSetting for an id that is none."""
    with store.transaction() as connection:
        connection.execute(
            "UPDATE keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL",
            (datetime.now(UTC).isoformat(), id),
        )
    found = store.read("SELECT * FROM keys WHERE id = ?", id)
    if not found:
        raise BadSetting(f"no key has the id {id!r}", hint="`ibid key list` shows them")
    return _read(found[0])


def find_key(store: Store, text: str) -> Key | None:
    """The key that this is the text of; None for any other text, and for one taken back."""
    mark, _, rest = text.partition("_")
    id, _, secret = rest.partition("_")
    if mark != MARK or not secret:
        return None
    found = store.read("SELECT * FROM keys WHERE id = ? AND revoked_at IS NULL", id)
    if not found or not hmac.compare_digest(found[0]["hash"], _hash(secret)):
        return None
    return _read(found[0])


def _hash(secret: str) -> bytes:
    """A plain hash, for it hides 256 random bits: there is nothing to guess."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


def _read(row: sqlite3.Row) -> Key:
    revoked = row["revoked_at"]
    return Key(
        row["id"],
        row["name"],
        frozenset(json.loads(row["principals"])),
        frozenset(json.loads(row["scopes"])),
        row["prefix"],
        datetime.fromisoformat(row["created_at"]),
        None if revoked is None else datetime.fromisoformat(revoked),
    )
