"""How a service begins: at an address that it can have, with callers that it can know."""

from __future__ import annotations

import json
import socket
import time
from pathlib import Path

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ed25519

import ibid
from command_line import call
from ibid.errors import BadSetting
from ibid.service.options import Identity, choose_options
from ibid.service.server import open_sockets
from ibid.settings import load_settings
from ibid.settings.sections import ServeSettings
from service_client import serving


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IBID_LIBRARY", str(tmp_path / "served"))


def test_a_port_that_is_taken_is_told_with_the_way_out() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        told = call("serve", "--port", str(port), "--json")
    assert told.code == 2
    error = told.json["error"]
    assert error["type"] == "BadSetting"
    assert f"127.0.0.1:{port}" in error["message"]
    assert "--port" in error["hint"]


@pytest.mark.parametrize("host", ["192.0.2.1", "no-such-host.invalid"])
def test_an_address_of_another_machine_is_refused(host: str) -> None:
    with pytest.raises(BadSetting, match="an address of this machine"):
        open_sockets(host, 0)


def test_every_address_of_a_name_is_listened_at() -> None:
    sockets = open_sockets("localhost", 0)
    try:
        found = {address[4][0] for address in socket.getaddrinfo("localhost", None)}
        assert {one.getsockname()[0] for one in sockets} == found
    finally:
        for one in sockets:
            one.close()


@pytest.mark.parametrize("flags", [("--host", "0.0.0.0"), ("--auth", "keys")])
def test_without_a_key_that_callers_could_show_nothing_starts(flags: tuple[str, ...]) -> None:
    def refuse() -> str:
        told = call("serve", *flags, "--port", "0", "--json")
        assert told.code == 2
        hint: str = told.json["error"]["hint"]
        return hint

    assert "ibid key create" in refuse()
    made = call("key", "create", "--json").json
    assert call("key", "revoke", made["id"]).code == 0
    assert "ibid key create" in refuse()


# -- the keys of an identity provider -------------------------------------------------------------


def test_keys_that_lie_elsewhere_are_not_fetched_offline() -> None:
    def choose(url: str, *, offline: bool) -> bool:
        serve = ServeSettings(issuer="https://id.test", audience="ibid", jwks_url=url)
        options = choose_options(serve, frozenset(), offline=offline)
        return options.identity is not None

    with pytest.raises(BadSetting, match=r"id\.test.*file:///"):
        choose("https://id.test/keys", offline=True)
    assert choose("https://id.test/keys", offline=False)
    assert choose("file:///etc/keys.json", offline=True)
    assert choose("http://127.0.0.1:8080/keys", offline=True)
    with pytest.raises(BadSetting):
        load_settings({"serve.jwks_url": "ftp://id.test/keys"})


def test_the_keys_may_lie_in_a_file_which_may_change(library: ibid.Library, tmp_path: Path) -> None:
    file = tmp_path / "its keys.json"
    key = ed25519.Ed25519PrivateKey.generate()
    claims = {"iss": "https://id.test", "aud": "ibid", "sub": "ann", "exp": time.time() + 600}
    token = jwt.encode(claims, key, algorithm="EdDSA", headers={"kid": "new"})

    def publish(id: str) -> None:
        public = jwt.algorithms.OKPAlgorithm.to_jwk(key.public_key())
        file.write_text(json.dumps({"keys": [{**json.loads(public), "kid": id}]}))

    identity = Identity("https://id.test", "ibid", file.as_uri())
    with serving(library, keys_needed=True, identity=identity) as client:

        def ask() -> int:
            headers = {"Authorization": f"Bearer {token}"}
            return client.get("/v1/status", headers=headers).status_code

        assert ask() == 503
        publish("old")
        assert ask() == 401
        publish("new")
        assert ask() == 200
        file.write_text("{")
        assert ask() == 503
