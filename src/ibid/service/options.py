"""The options of the service, as they come from the settings and the flags of `ibid serve`."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from ibid.errors import BadSetting
from ibid.settings.sections import ServeSettings

LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
"""The names under which a machine reaches itself."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Whose tokens are taken: their issuer, whom they must be for, where the issuer's keys are,
    and the claim that holds the groups of a person. `scopes` is what their bearers may do."""

    issuer: str
    audience: str
    jwks_url: str
    groups_claim: str = "groups"
    scopes: frozenset[str] = frozenset({"search", "ask"})


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """How a library is served.

    Without `keys_needed` whoever reaches the service may do everything, and sees what the
    `principals` see. `hosts` are the names under which it may be called beside those of this
    machine; none means any where keys are needed. `requests` is how many are worked on at once,
    `asks` how many of them write answers, `per_minute` how many one caller may send. `traces` is
    where spans go.
    """

    host: str = "127.0.0.1"
    port: int = 8642
    keys_needed: bool = False
    principals: frozenset[str] = frozenset()
    hosts: frozenset[str] = frozenset()
    requests: int = 400
    asks: int = 64
    per_minute: int | None = None
    body_bytes: int = 110_000_000
    log_text: bool = False
    identity: Identity | None = None
    traces: str | None = None


def is_loopback(host: str) -> bool:
    """Whether an address is one that only this machine reaches."""
    try:
        return host in LOOPBACK or ip_address(host).is_loopback
    except ValueError:
        return False


def choose_options(
    serve: ServeSettings, principals: frozenset[str], *, offline: bool = False
) -> ServeOptions:
    """The options that settings and the call come to.

    Raises BadSetting for what would leave a service open to others, for half an identity, and,
    `offline`, for keys and traces that are elsewhere.
    """
    alone = is_loopback(serve.host)
    if serve.auth == "off" and not alone:
        raise BadSetting(
            f"without keys a service is for this machine alone, and {serve.host} is for others",
            hint="leave serve.auth as it is and make keys with `ibid key create`",
        )
    keys_needed = serve.auth == "keys" or (serve.auth == "auto" and not alone)
    if keys_needed and principals:
        raise BadSetting(
            "--as is for a service without keys: here, callers are known by theirs",
            hint="leave it out",
        )
    return ServeOptions(
        host=serve.host,
        port=serve.port,
        keys_needed=keys_needed,
        principals=principals,
        hosts=frozenset(_split(serve.hosts)),
        requests=serve.requests,
        asks=serve.asks,
        per_minute=serve.per_minute,
        body_bytes=serve.body_bytes,
        log_text=serve.log_text,
        identity=_choose_identity(serve, offline=offline),
        traces=_choose_traces(serve, offline=offline),
    )


def _choose_identity(serve: ServeSettings, *, offline: bool) -> Identity | None:
    named = (serve.issuer, serve.audience, serve.jwks_url)
    if not any(named):
        return None
    issuer, audience, jwks_url = named
    if not (issuer and audience and jwks_url):
        raise BadSetting(
            "serve.issuer, serve.audience and serve.jwks_url belong together",
            hint="set all three, or none",
        )
    host = urlsplit(jwks_url).hostname
    if offline and host is not None and not is_loopback(host):
        raise BadSetting(
            f"serve.jwks_url is at {host}, and ibid is offline",
            hint="name a file with them: serve.jwks_url = file:///…",
        )
    return Identity(
        issuer, audience, jwks_url, serve.groups_claim, frozenset(_split(serve.token_scopes))
    )


def _choose_traces(serve: ServeSettings, *, offline: bool) -> str | None:
    host = urlsplit(serve.traces or "").hostname
    if offline and host is not None and not is_loopback(host):
        raise BadSetting(
            f"serve.traces is at {host}, and ibid is offline", hint="leave it out, or --offline"
        )
    return serve.traces


def _split(names: str | None) -> list[str]:
    return [name.strip() for name in (names or "").split(",") if name.strip()]
