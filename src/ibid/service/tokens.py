"""Tokens of an identity provider (OpenID Connect): checked by its keys, read as callers."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, unquote, urlsplit

import jwt

from ibid.errors import ModelUnavailable
from ibid.records import is_principal
from ibid.service.callers import Caller, Unauthenticated
from ibid.service.options import Identity

ALGORITHMS: Final = ("RS256", "ES256", "PS256", "EdDSA")
"""What a token may be signed by: keys of two halves alone, whatever its own header says."""

LEEWAY_SECONDS: Final = 30
KEYS_SECONDS: Final = 300
FETCH_SECONDS: Final = 5

_ENCODED: Final = re.compile(r"[\s%]")


class Tokens:
    """Reads the tokens of one issuer; its keys are fetched when one is first needed, and kept."""

    def __init__(self, identity: Identity) -> None:
        self._identity = identity
        self._keys = _open_keys(identity.jwks_url)

    async def read(self, text: str) -> Caller:
        """The caller that a token names: `user:` and its subject, `group:` and each of its groups.

        Raises Unauthenticated, and ModelUnavailable where the issuer's keys can't be had.
        """
        return await asyncio.to_thread(self._read, text)

    def _read(self, text: str) -> Caller:
        identity = self._identity
        try:
            key = self._keys.get_signing_key_from_jwt(text)
            claims = jwt.decode(
                text,
                key,
                algorithms=list(ALGORITHMS),
                audience=identity.audience,
                issuer=identity.issuer,
                leeway=LEEWAY_SECONDS,
                options={"require": ["exp", "aud", "iss", "sub"]},
            )
        except jwt.PyJWKClientConnectionError as error:
            raise ModelUnavailable(
                "the keys of the identity provider can't be had", hint="try again in a moment"
            ) from error
        except jwt.PyJWTError as error:
            raise Unauthenticated(
                f"this token is not taken: {type(error).__name__}", hint="sign in again"
            ) from error
        subject = str(claims["sub"])
        groups = _list_groups(claims.get(identity.groups_claim))
        held = (_name("user", subject), *(_name("group", name) for name in groups))
        principals = frozenset(filter(is_principal, held))
        return Caller(f"token:{subject}", principals, identity.scopes, f"{subject}/")


def _open_keys(url: str) -> jwt.PyJWKClient | _KeyFile:
    parts = urlsplit(url)
    if parts.scheme == "file":
        return _KeyFile(Path(unquote(parts.path)))
    return jwt.PyJWKClient(url, lifespan=KEYS_SECONDS, timeout=FETCH_SECONDS)


class _KeyFile:
    """The keys of a file, read for each token: whoever changes them there changes them here."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def get_signing_key_from_jwt(self, text: str) -> jwt.PyJWK:
        """The key that a token names. Raises errors of PyJWT."""
        id = jwt.get_unverified_header(text).get("kid")
        try:
            keys = jwt.PyJWKSet.from_json(self._path.read_text(encoding="utf-8")).keys
        except (OSError, ValueError) as error:
            raise jwt.PyJWKClientConnectionError(str(error)) from error
        for key in keys:
            if key.key_id == id and key.public_key_use in ("sig", None):
                return key
        raise jwt.PyJWKClientError(f"no key {id!r}")


def _name(kind: str, name: str) -> str:
    """A principal by the name that the provider gives it; what no principal holds is encoded.

    No two names become one, since the sign of the encoding is encoded too.
    """
    return f"{kind}:{_ENCODED.sub(lambda match: quote(match[0]), name)}"


def _list_groups(claim: Any) -> list[str]:
    """The groups of a claim, which is a list of names, or one name."""
    names = claim if isinstance(claim, list) else [claim]
    return [name for name in names if isinstance(name, str) and name.strip()]
