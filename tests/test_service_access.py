"""Who may do what over HTTP: nothing of another's shows anywhere, whatever is called."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from starlette.testclient import TestClient

import ibid
from command_line import call
from conftest import write
from ibid.errors import BadSetting
from ibid.service.access import is_guarded
from ibid.service.app import make_app
from ibid.service.keys import create_key, find_key, list_keys, revoke_key
from ibid.service.logs import AUDIT_FILE, start_logs
from ibid.service.options import Identity, ServeOptions, choose_options
from ibid.service.routes import list_routes
from ibid.service.store import Store
from ibid.settings.sections import ServeSettings
from ibid.testing.servers import reply_json, serve
from service_client import await_job, make_key, serving

SECRET = "The merger with Quagga is signed in May."
WORD = "quagga"
ANN = frozenset({"user:ann"})

OPEN = {"/healthz", "/readyz"}
"""The routes that answer anyone: they tell of the service alone."""


@pytest.fixture
def client(library: ibid.Library) -> Iterator[TestClient]:
    library.ingest(
        [
            ibid.Document("ann/quagga.md", SECRET, title="Quagga", allow=ANN),
            ibid.Document("public.md", "Lunch is at noon in the hall."),
        ]
    )
    with serving(library, keys_needed=True) as client:
        yield client


@pytest.fixture
def ann(library: ibid.Library) -> dict[str, str]:
    return make_key(library, "user:ann", prefix="ann/")


@pytest.fixture
def bob(library: ibid.Library) -> dict[str, str]:
    scopes = ["search", "ask", "ingest", "admin"]
    return make_key(library, "user:bob", prefix="bob/", scopes=scopes)


def test_every_route_asks_who_calls(library: ibid.Library) -> None:
    routes = list(list_routes(make_app(library, ServeOptions())))
    assert len(routes) > 20
    for route in routes:
        assert is_guarded(route) == (route.path not in OPEN), route.path


def test_without_a_key_nothing_is_answered(client: TestClient, library: ibid.Library) -> None:
    for path, operations in client.get("/openapi.json").json()["paths"].items():
        if path in OPEN:
            continue
        address = path.replace("{number}", "1").replace("{id}", "x").replace("{model}", "ibid")
        for method in operations:
            for headers in ({}, {"Authorization": "Bearer ibid_00000000_x"}):
                told = client.request(method, address, params={"id": "x"}, headers=headers)
                assert told.status_code == 401, (method, path)
                assert told.headers["WWW-Authenticate"] == "Bearer"


def test_a_key_without_the_scope_is_told_so(client: TestClient, library: ibid.Library) -> None:
    searcher = make_key(library, scopes=["search"])
    assert client.post("/v1/search", json={"query": "x"}, headers=searcher).status_code == 200
    told = client.post("/v1/ask", json={"question": "x"}, headers=searcher)
    assert told.status_code == 403
    assert "scope ask" in told.json()["error"]["message"]


def fuzz(answer: str, job: str, evaluation: str) -> list[tuple[str, str, dict[str, Any]]]:
    """Every route, with what is Ann's."""
    id = "ann/quagga.md"
    text = {"text": "Overwritten."}
    return [
        ("POST", "/v1/search", {"json": {"query": "merger in May", "explain": True, "k": 50}}),
        ("POST", "/v1/search", {"json": {"query": "merger", "include_archived": True}}),
        ("POST", "/v1/search", {"json": {"query": "merger", "version": 1}}),
        ("POST", "/v1/search", {"json": {"query": "merger", "filter": "id like 'ann/%'"}}),
        ("POST", "/v1/ask", {"json": {"question": "When is the merger signed?", "explain": True}}),
        ("POST", "/v1/ask", {"json": {"question": "What is signed?", "context": "whole"}}),
        ("GET", "/v1/documents", {}),
        ("GET", "/v1/documents", {"params": {"id": id}}),
        ("GET", "/v1/documents", {"params": {"filter": "id like 'ann/%'"}}),
        ("GET", "/v1/pages/1.png", {"params": {"id": id}}),
        ("PUT", "/v1/documents", {"params": {"id": id}, "json": text}),
        ("POST", "/v1/documents", {"params": {"id": id}, "json": text}),
        ("PATCH", "/v1/documents", {"params": {"id": id}, "json": {"allow": None}}),
        ("DELETE", "/v1/documents", {"params": {"id": id}}),
        ("DELETE", "/v1/documents", {"params": {"id": id, "purge": "true"}}),
        ("GET", "/v1/sources", {}),
        ("GET", "/v1/status", {}),
        ("GET", "/v1/answers", {}),
        ("GET", f"/v1/answers/{answer}", {}),
        ("GET", f"/v1/answers/{answer}/places", {}),
        ("POST", f"/v1/answers/{answer}/replay", {}),
        ("POST", f"/v1/answers/{answer}/feedback", {"json": {"rating": "good"}}),
        ("POST", f"/v1/answers/{answer}/golden", {"json": {"contains": "May"}}),
        ("POST", "/v1/diagnose", {"json": {"question": "The merger?", "text": "merger in May"}}),
        ("POST", "/v1/diagnose", {"json": {"question": "When is it?", "document_id": id}}),
        ("POST", "/v1/evaluate", {}),
        ("POST", "/v1/evaluate", {"json": {"cases": [_case(id)]}}),
        ("POST", "/v1/evaluate", {"json": {"cases": [{**_case(id), "as": ["user:ann"]}]}}),
        ("GET", f"/v1/evaluate/{evaluation}", {}),
        ("GET", f"/v1/evaluate/{evaluation}/report.html", {}),
        ("GET", f"/v1/jobs/{evaluation}", {}),
        ("GET", "/v1/jobs", {}),
        ("GET", f"/v1/jobs/{job}", {}),
        ("POST", "/v1/chat/completions", {"json": _chat("When is the merger signed?")}),
        ("GET", "/v1/models", {}),
        ("GET", "/v1/models/ibid", {}),
        ("POST", "/v1/embeddings", {"json": {"model": "ibid", "input": "merger"}}),
        ("POST", "/v1/lab", {"json": {"question": "merger in May", "evidence": "May"}}),
        ("POST", "/v1/sources/sync", {"params": {"name": "papers"}}),
        ("GET", "/healthz", {}),
        ("GET", "/readyz", {}),
        ("GET", "/metrics", {}),
    ]


def test_the_fuzz_knows_every_route(library: ibid.Library) -> None:
    """A new route needs its line there, so that it is looked at too."""
    known = {(method, path) for method, path, _ in fuzz("x", "y", "z")}
    for route in list_routes(make_app(library, ServeOptions())):
        for method in route.methods or ():
            tried = [path for name, path in known if name == method]
            assert any(route.path_regex.fullmatch(path) for path in tried), (method, route.path)


def _case(id: str) -> dict[str, Any]:
    return {"question": "When is the merger signed?", "document_id": id}


def _chat(text: str) -> dict[str, Any]:
    return {"model": "ibid", "messages": [{"role": "user", "content": text}]}


def test_nothing_of_ann_shows_to_bob(
    client: TestClient, library: ibid.Library, ann: dict[str, str], bob: dict[str, str]
) -> None:
    asked = client.post("/v1/ask", json={"question": "When is the merger signed?"}, headers=ann)
    assert WORD in asked.text.lower()
    sent = client.post("/v1/documents?id=ann/note", json={"text": SECRET}, headers=ann)
    await_job(client, sent.json()["job_id"], ann)
    library.set("ann/note", allow=ANN)
    judge = make_key(library, "user:ann", scopes=["admin"])
    body = {"cases": [_case("ann/quagga.md")]}
    evaluated = client.post("/v1/evaluate?wait=60", json=body, headers=judge).json()["job_id"]
    before = library.documents(ibid.OWNER)
    for method, path, options in fuzz(asked.json()["answer_id"], sent.json()["job_id"], evaluated):
        told = client.request(method, path, headers=bob, **options)
        assert told.status_code < 500, (method, path, told.text)
        assert WORD not in told.text.lower().replace("ann/quagga.md", ""), (method, path)
        if "params" in options and options["params"].get("id") and method != "POST":
            assert told.status_code in (403, 404)
            assert (told.status_code == 403) == (method == "PUT")
    assert library.documents(ibid.OWNER) == before
    assert len(client.get("/v1/documents", headers=bob).json()["documents"]) == 1
    assert client.get("/v1/status", headers=bob).json()["documents"] == 1


def test_a_sync_tells_only_of_what_its_caller_sees(
    client: TestClient, library: ibid.Library, bob: dict[str, str], folder: Path
) -> None:
    rules = '[[rules]]\nmatch = "ann/**"\nallow = ["user:ann"]\n'
    write(folder, {"ibid.toml": rules, "ann/quagga.md": SECRET, "open.md": "Open."})
    library.sync(folder, prefix="papers")
    write(folder, {"ann/quagga.md": f"{SECRET} Twice.", "open.md": "Open again."})
    write(folder, {"ann/quagga-two.md": SECRET, "ann/quagga.pdf": "broken"})

    def sync() -> dict[str, Any]:
        (source,) = client.get("/v1/sources", headers=bob).json()["sources"]
        assert source["documents"] == 1
        sent = client.post(f"/v1/sources/sync?name={source['name']}", headers=bob)
        return await_job(client, sent.json()["job_id"], bob)

    job = sync()
    assert job["report"]["updated"] == ["papers/open.md"]
    (folder / "ann" / "quagga.md").unlink()
    (folder / "open.md").unlink()
    later = sync()
    assert later["report"]["removed"] == ["papers/open.md"]
    for told in (job, later):
        assert WORD not in json.dumps(told)
        assert (told["state"], told["done"], told["total"]) == ("done", 100, 100)
        assert "passages" not in told["report"]


def test_what_is_there_and_what_is_not_are_told_alike(
    client: TestClient, bob: dict[str, str]
) -> None:
    """The same words for a document that is hidden and for one that never was."""
    for method in ("GET", "PATCH", "DELETE", "PUT", "POST"):
        body = {"text": "x"} if method in ("PUT", "POST") else {"archived": True}
        options: Any = {} if method in ("GET", "DELETE") else {"json": body}
        told = [
            client.request(method, "/v1/documents", params={"id": id}, headers=bob, **options)
            for id in ("ann/quagga.md", "ann/nothing.md")
        ]
        assert told[0].status_code == told[1].status_code
        assert told[0].text.replace("quagga", "nothing") == told[1].text


def test_a_key_writes_under_its_own_prefix_alone(client: TestClient, bob: dict[str, str]) -> None:
    assert client.delete("/v1/documents?id=public.md", headers=bob).status_code == 403
    sent = client.post("/v1/documents", files={"file": ("a.md", b"Mine.")}, headers=bob)
    assert sent.json()["ids"] == ["bob/a.md"]
    assert await_job(client, sent.json()["job_id"], bob)["state"] == "done"
    again = client.post("/v1/documents?id=bob/a.md", json={"text": "x"}, headers=bob)
    assert again.status_code == 409


# -- keys -----------------------------------------------------------------------------------------


def test_a_key_is_kept_as_a_hash_and_taken_back_at_once(tmp_path: Path) -> None:
    store = Store(tmp_path)
    key, text = create_key(store, name="n", principals=["user:a"], scopes=["ask"])
    assert find_key(store, text) == key
    assert find_key(store, text[:-1]) is None
    assert find_key(store, text + "é") is None
    secret = text.split("_", 2)[2].encode()
    store.close()
    assert all(secret not in path.read_bytes() for path in tmp_path.iterdir())
    assert (tmp_path / "service.db").stat().st_mode & 0o077 == 0
    store = Store(tmp_path)
    revoke_key(store, key.id)
    assert find_key(store, text) is None
    assert [one.revoked_at is not None for one in list_keys(store)] == [True]
    store.close()


@pytest.mark.parametrize(
    "options",
    [
        {"scopes": []},
        {"scopes": ["ask", "fly"]},
        {"scopes": ["ask"], "principals": ["*"]},
        {"scopes": ["ask"], "principals": [""]},
        {"scopes": ["ingest"], "prefix": ""},
    ],
)
def test_a_key_that_cannot_be_is_refused(tmp_path: Path, options: Any) -> None:
    store = Store(tmp_path)
    with pytest.raises(BadSetting):
        create_key(store, **{"name": "", "principals": [], **options})
    assert list_keys(store) == []
    store.close()


def test_keys_at_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IBID_LIBRARY", str(tmp_path))
    made = call("key", "create", "--principal", "group:hr", "--scope", "ask,ingest", "--json").json
    assert made["key"].startswith(f"ibid_{made['id']}_")
    assert made["prefix"] == f"{made['id']}/"
    assert call("key", "revoke", made["id"]).code == 0
    (listed,) = call("key", "list", "--json").json["keys"]
    assert listed["revoked_at"]
    assert "key" not in listed
    assert call("key", "revoke", "none").code == 2
    assert call("key", "revoke").code == 2
    assert call("serve", "--as", "*").code == 2


def test_a_service_for_others_is_never_open() -> None:
    others = ServeSettings(host="0.0.0.0")
    assert choose_options(others, frozenset()).keys_needed
    assert not choose_options(ServeSettings(), frozenset()).keys_needed
    assert choose_options(ServeSettings(auth="keys"), frozenset()).keys_needed
    with pytest.raises(BadSetting):
        choose_options(ServeSettings(host="0.0.0.0", auth="off"), frozenset())
    with pytest.raises(BadSetting):
        choose_options(others, ANN)
    with pytest.raises(BadSetting):
        choose_options(ServeSettings(issuer="https://id.test"), frozenset())


def test_without_keys_callers_see_what_the_service_was_started_with(
    library: ibid.Library,
) -> None:
    library.ingest(ibid.Document("ann/quagga.md", SECRET, allow=ANN))
    with serving(library) as client:
        assert client.get("/v1/documents").json()["documents"] == []
    with serving(library, principals=ANN) as client:
        assert len(client.get("/v1/documents").json()["documents"]) == 1


# -- logs -----------------------------------------------------------------------------------------


def test_the_audit_log_tells_who_did_what_and_no_text_or_key(
    library: ibid.Library, capsys: pytest.CaptureFixture[str]
) -> None:
    library.ingest(ibid.Document("ann/quagga.md", SECRET, allow=ANN))
    headers = make_key(library, "user:ann", prefix="ann/")
    folder = Path(library.location)
    root = logging.getLogger()
    before = root.handlers[:], root.level
    start_logs(folder)
    try:
        with serving(library, keys_needed=True) as client:
            body = {"question": "When is the merger signed?"}
            asked = client.post("/v1/ask", json=body, headers=headers)
            client.delete("/v1/documents?id=ann/quagga.md", headers=headers)
    finally:
        root.handlers[:] = before[0]
        root.setLevel(before[1])
        audit = logging.getLogger("ibid.service.audit")
        audit.handlers.pop().close()
    written = (folder / AUDIT_FILE).read_text()
    first, second = (json.loads(line) for line in written.splitlines())
    assert first["principals"] == ["user:ann"]
    assert first["answer"] == asked.json()["answer_id"]
    assert first["documents"] == ["ann/quagga.md"]
    assert (second["method"], second["documents"]) == ("DELETE", ["ann/quagga.md"])
    assert second["request_id"] != first["request_id"]
    told = written + capsys.readouterr().err
    assert "merger" not in told
    assert headers["Authorization"].split("_", 2)[2] not in told
    assert (folder / AUDIT_FILE).stat().st_mode & 0o077 == 0


# -- tokens ---------------------------------------------------------------------------------------

RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)
EC = ec.generate_private_key(ec.SECP256R1())


@pytest.fixture(scope="module")
def identity() -> Iterator[Identity]:
    """An identity provider whose public keys are served on this machine."""
    keys = [
        {**json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(RSA.public_key())), "kid": "rsa"},
        {**json.loads(jwt.algorithms.ECAlgorithm.to_jwk(EC.public_key())), "kid": "ec"},
    ]
    published = {"keys": [{**key, "use": "sig"} for key in keys]}
    with serve(lambda _: reply_json(published)) as server:
        yield Identity("https://id.test", "ibid", server.url, "teams")


def sign(key: Any = RSA, kid: str = "rsa", algorithm: str = "RS256", **changes: Any) -> Any:
    claims = {
        "iss": "https://id.test",
        "aud": "ibid",
        "sub": "ann",
        "exp": time.time() + 600,
        "teams": ["hr", 7],
        **changes,
    }
    claims = {name: value for name, value in claims.items() if value is not None}
    text = jwt.encode(claims, key, algorithm=algorithm, headers={"kid": kid})
    return {"Authorization": f"Bearer {text}"}


def test_a_token_names_its_bearer_and_their_groups(
    library: ibid.Library, identity: Identity
) -> None:
    library.ingest(ibid.Document("ann/quagga.md", SECRET, allow=frozenset({"group:hr"})))
    with serving(library, keys_needed=True, identity=identity) as client:
        for headers in (sign(), sign(EC, "ec", "ES256")):
            told = client.get("/v1/status", headers=headers).json()
            assert told["caller"]["principals"] == ["group:hr", "user:ann"]
            assert told["documents"] == 1
        assert client.get("/v1/jobs", headers=sign()).status_code == 403
        alone = client.get("/v1/status", headers=sign(teams=None)).json()
        assert alone["caller"]["principals"] == ["user:ann"]
        assert alone["documents"] == 0


def test_names_of_groups_that_hold_blanks_are_encoded(
    library: ibid.Library, identity: Identity
) -> None:
    """No two of them become one, and one that is nothing but a blank is nobody's."""
    with serving(library, keys_needed=True, identity=identity) as client:
        held = sign(teams=["Human Resources", "Human%20Resources", " "], sub="auth0|7")
        told = client.get("/v1/status", headers=held).json()
        assert told["caller"]["principals"] == [
            "group:Human%20Resources",
            "group:Human%2520Resources",
            "user:auth0|7",
        ]


def test_a_token_that_is_not_for_us_is_refused(library: ibid.Library, identity: Identity) -> None:
    other = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    public = RSA.public_key()
    pem = public.public_bytes(*_pem()).decode()
    refused = [
        sign(iss="https://other.test"),
        sign(aud="others"),
        sign(exp=time.time() - 600),
        sign(exp=None),
        sign(sub=None),
        sign(iss=None),
        sign(aud=None),
        sign(other),
        sign(kid="unknown"),
        {"Authorization": f"Bearer {_forge(pem)}"},
        {"Authorization": f"Bearer {jwt.encode({'sub': 'ann'}, '', algorithm='none')}"},
        {"Authorization": "Bearer not.a.token"},
    ]
    with serving(library, keys_needed=True, identity=identity) as client:
        assert client.get("/v1/status", headers=sign()).status_code == 200
        for headers in refused:
            assert client.get("/v1/status", headers=headers).status_code == 401


def _pem() -> tuple[Any, Any]:
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    return Encoding.PEM, PublicFormat.SubjectPublicKeyInfo


def _forge(pem: str) -> str:
    """A token signed with the public key as if it was a secret, which a careless reader takes."""
    import base64
    import hashlib
    import hmac

    def pack(part: dict[str, Any]) -> str:
        return base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode()

    claims = {"iss": "https://id.test", "aud": "ibid", "sub": "ann", "exp": time.time() + 600}
    signed = f"{pack({'alg': 'HS256', 'kid': 'rsa'})}.{pack(claims)}"
    digest = hmac.new(pem.encode(), signed.encode(), hashlib.sha256).digest()
    return f"{signed}.{base64.urlsafe_b64encode(digest).rstrip(b'=').decode()}"
