"""Keys are shown nowhere: not in settings, output, errors and what led to them, logs or objects."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, cast

import pytest

import ibid
from command_line import call
from conftest import open_hashing
from ibid.keys import KEYS_FILE, Secret, find_secret
from ibid.openers import EMBEDDERS, choose_generator
from ibid.settings import load_settings
from ibid.testing.embedders import HashingEmbedder
from ibid.testing.generator_suite import make_prompt
from ibid.testing.servers import Reply, serve
from ibid.wire import Wire
from model_server import WIRES, ModelWire, refuse, stream

KEY: Final = "sk-very-secret-0123456789"


@pytest.fixture(params=WIRES, ids=lambda wire: wire.name)
def wire(request: pytest.FixtureRequest) -> ModelWire:
    found: ModelWire = request.param
    return found


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("IBID_GENERATOR_API_KEY", KEY)
    monkeypatch.setenv("IBID_DEBUG", "1")
    return KEY


@pytest.fixture
def place(tmp_path: Path) -> Path:
    with open_hashing(tmp_path / "library") as library:
        library.ingest(ibid.Document("leave", "Leave lasts sixteen weeks."))
    return tmp_path / "library"


def repeat_key(wire: ModelWire) -> dict[str, Reply]:
    """Servers that repeat the key to whoever asks, and those that fail otherwise."""
    return {
        "refused": refuse(401, f"the key {KEY} is not known"),
        "busy": refuse(503, f"not now, {KEY}"),
        "cut": stream(wire.say(["Leave"])[:2], cut=True),
        "stalled": stream(wire.say(["Leave"])[:2], stall=True),
        "no JSON": stream([f"data: {{{KEY}\n\n".encode()]),
    }


def list_causes(error: BaseException) -> Iterator[BaseException]:
    found: BaseException | None = error
    while found is not None:
        yield found
        found = found.__cause__ or found.__context__


@pytest.mark.parametrize("fault", repeat_key(WIRES[0]))
def test_no_error_and_nothing_that_led_to_it_holds_the_key(
    wire: ModelWire, key: str, fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    flags: dict[str, Any] = {"generator.name": wire.name, "generator.model": "m"}
    limits = {"generator.retries": 0, "generator.idle_seconds": 0.2}
    with serve(lambda body: repeat_key(wire)[fault]) as server:
        settings = load_settings({**flags, **limits, "generator.base_url": server.url})
        generator = choose_generator(None, settings, HashingEmbedder())()
        with pytest.raises(ibid.ModelError) as caught:
            list(generator.generate(make_prompt()))
        sent = {name.lower(): value for name, value in server.headers[0].items()}
    assert KEY in sent[wire.key_header]  # it was sent
    told = [f"{error!r} {error} {error.args}" for error in list_causes(caught.value)]
    whole = "".join(traceback.format_exception(caught.value))
    for text in (*told, whole, caplog.text, repr(generator), repr(settings)):
        assert KEY not in text


@pytest.mark.parametrize("fault", repeat_key(WIRES[0]))
@pytest.mark.parametrize("as_json", [False, True])
def test_the_command_line_never_shows_the_key(
    place: Path,
    wire: ModelWire,
    key: str,
    fault: str,
    as_json: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(cast(Any, EMBEDDERS), "hashing", lambda settings: HashingEmbedder())
    with serve(lambda body: repeat_key(wire)[fault]) as server:
        for name, value in {
            "EMBEDDER_NAME": "hashing",
            "GENERATOR_NAME": wire.name,
            "GENERATOR_MODEL": "m",
            "GENERATOR_BASE_URL": server.url,
            "GENERATOR_RETRIES": "0",
            "GENERATOR_IDLE_SECONDS": "0.2",
        }.items():
            monkeypatch.setenv(f"IBID_{name}", value)
        asked = call("ask", "How long is leave?", "--library", place, *["--json"] * as_json)
        shown = call("config", "--library", place, *["--json"] * as_json)
    assert asked.code in (1, 4)
    assert shown.code == 0
    assert all(KEY not in text for text in (asked.out, asked.err, shown.out, shown.err))


def test_no_object_shows_the_key() -> None:
    line = Wire("https://models.example", key=KEY)
    client = line._client
    assert all(KEY not in repr(o) for o in (line, client, Secret(KEY, "here")))
    line.close()


# -- where keys come from -------------------------------------------------------------------------


def test_a_key_comes_from_the_environment_a_file_or_the_users_own(tmp_path: Path) -> None:
    own = tmp_path / KEYS_FILE
    own.write_text('IBID_GENERATOR_API_KEY = "own"\n')
    own.chmod(0o600)
    named = tmp_path / "named"
    named.write_text("from a file\n")
    name = "IBID_GENERATOR_API_KEY"
    every = {name: " plain ", f"{name}_FILE": str(named)}
    for environ, value in (
        (every, "plain"),
        ({f"{name}_FILE": str(named)}, "from a file"),
        ({}, "own"),
    ):
        secret = find_secret(name, environ, user_dir=tmp_path)
        assert secret is not None
        assert secret.value == value
        assert value not in repr(secret)
    assert find_secret(name, {}, user_dir=tmp_path / "none") is None


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o666])
def test_keys_that_others_can_read_are_refused(tmp_path: Path, mode: int) -> None:
    own = tmp_path / KEYS_FILE
    own.write_text(f'IBID_GENERATOR_API_KEY = "{KEY}"\n')
    own.chmod(mode)
    with pytest.raises(ibid.BadSetting, match=f"mode {mode:04o}") as refused:
        find_secret("IBID_GENERATOR_API_KEY", {}, user_dir=tmp_path)
    assert KEY not in str(refused.value)
    assert "chmod 600" in refused.value.hint


@pytest.mark.parametrize("text", [f"IBID_X = {KEY}", f'[a]\nb = "{KEY}"', f'x = ["{KEY}"]'])
def test_keys_that_cannot_be_read_are_not_repeated(tmp_path: Path, text: str) -> None:
    own = tmp_path / KEYS_FILE
    own.write_text(text)
    own.chmod(0o600)
    with pytest.raises(ibid.BadSetting) as refused:
        find_secret("IBID_X", {}, user_dir=tmp_path)
    assert KEY not in "".join(traceback.format_exception(refused.value))


def test_a_key_in_the_settings_is_refused_and_not_repeated(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(f'[generator]\napi_key = "{KEY}"\n')
    with pytest.raises(ibid.BadSetting, match="keys are never settings") as refused:
        load_settings(user_dir=tmp_path)
    assert KEY not in "".join(traceback.format_exception(refused.value))
