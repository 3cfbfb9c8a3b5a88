"""Settings: where each comes from, what is refused, and that keys stay hidden."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ibid.errors import BadSetting
from ibid.keys import GENERATOR_KEY, find_secret
from ibid.settings import (
    SETTINGS,
    Scalar,
    Settings,
    describe_settings,
    find_library,
    load_settings,
    settings_hash,
)


@pytest.fixture
def user_dir(tmp_path: Path) -> Path:
    folder = tmp_path / "user"
    folder.mkdir()
    return folder


@pytest.fixture
def library_dir(tmp_path: Path) -> Path:
    folder = tmp_path / "library"
    folder.mkdir()
    return folder


def test_without_anything_all_is_as_declared(user_dir: Path) -> None:
    settings = load_settings(environ={}, user_dir=user_dir)
    assert settings == Settings()
    assert (settings.search.k, settings.search.mode, settings.search.rrf_k) == (10, "hybrid", 60)
    assert (settings.ask.sources, settings.ask.abstain) == (6, 0.6)
    assert settings.ingest.max_file_bytes == 100_000_000
    assert set(settings.origins.values()) == {"default"}


def test_later_places_win_and_each_value_knows_its_own(user_dir: Path, library_dir: Path) -> None:
    keys = ("search.k", "search.candidates", "ask.sources", "ask.strict", "offline")
    user, library = user_dir / "config.toml", library_dir / "config.toml"
    user.write_text(
        "offline = false\n[search]\nk = 1\ncandidates = 1\n[ask]\nsources = 1\nstrict = false\n"
    )
    library.write_text("[search]\nk = 2\ncandidates = 2\n[ask]\nsources = 2\n")
    settings = load_settings(
        {"search.k": 4, "ask.strict": None},
        library=str(library_dir),
        environ={"IBID_SEARCH_K": "3", "IBID_SEARCH_CANDIDATES": "3"},
        user_dir=user_dir,
    )
    rows = {str(row["key"]): row for row in describe_settings(settings)}
    assert [(rows[key]["value"], rows[key]["origin"]) for key in keys] == [
        (4, "flag"),
        (3, "IBID_SEARCH_CANDIDATES"),
        (2, str(library)),
        (False, str(user)),
        (False, str(user)),
    ]


def test_a_library_in_a_database_has_no_file(user_dir: Path) -> None:
    settings = load_settings(library="postgresql://host/db", environ={}, user_dir=user_dir)
    assert settings == Settings()


CHECKED = {"index.readers": "postgresql://localhost/ibid", "reading.ocr_languages": "ces+eng"}
"""Settings whose check asks for something else than the address of an endpoint."""


def test_every_setting_can_be_given_in_each_place(user_dir: Path) -> None:
    for key, setting in SETTINGS.items():
        value = setting.limits.choices[-1] if setting.limits.choices else setting.default
        if value is None:
            value = CHECKED.get(key, "http://localhost:8080/v1")
            value = value if setting.limits.check else setting.type(7)
        text = str(value).lower() if isinstance(value, bool) else str(value)
        environ = {setting.variable: text}
        by_flag = load_settings({key: value}, environ={}, user_dir=user_dir)
        assert by_flag == load_settings(environ=environ, user_dir=user_dir)
        quoted = f'"{value}"' if isinstance(value, str) else text
        (user_dir / "config.toml").write_text(f"{key} = {quoted}")
        by_file = load_settings(environ={}, user_dir=user_dir)
        assert by_flag == by_file
        assert by_file.origins[key] == str(user_dir / "config.toml")
        (user_dir / "config.toml").unlink()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[search]\nkk = 3", "search.kk is not a setting; did you mean search.k?"),
        ("[serch]\nk = 3", "serch is not a setting; did you mean search."),
        ("search = 3", "search is not a setting"),
        ("search.k.x = 3", "search.k = {'x': 3} can't be used"),
        ("[[rules]]\nmatch = 'hr'", "rules is not a setting"),
        ("[search]\nk = '3'", "search.k = '3' can't be used; it is a whole number from 1 to 1,000"),
        ("[search]\nk = 0", "search.k = 0 can't be used"),
        ("[search]\nk = true", "search.k = True can't be used"),
        ("[search]\nk = 3.0", "search.k = 3.0 can't be used"),
        ("[search]\nmode = 'fast'", "it is one of hybrid, lexical, dense"),
        ("[search]\nmin_score = nan", "it is a number, or none"),
        ("[search]\nmin_score = inf", "it is a number, or none"),
        ("[search]\nmin_score = 1" + "0" * 400, "it is a number, or none"),
        ("[ask]\nabstain = 2", "it is a number from 0 to 1"),
        ("[ask]\nstrict = 1", "it is true or false"),
        ("[embedder]\nname = ''", "it is text"),
        ("[generator]\napi_key = 'x'", "keys are never settings"),
        ("[search", "can't be read"),
    ],
)
def test_a_bad_file_is_named_with_the_key_and_what_is_allowed(
    user_dir: Path, text: str, expected: str
) -> None:
    path = user_dir / "config.toml"
    path.write_text(text)
    with pytest.raises(BadSetting) as caught:
        load_settings(environ={}, user_dir=user_dir)
    assert str(caught.value).startswith(str(path))
    assert expected in str(caught.value)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("IBID_SEARCH_K", "ten", "IBID_SEARCH_K: search.k = 'ten' can't be used"),
        ("IBID_OFFLINE", "maybe", "IBID_OFFLINE: offline = 'maybe' can't be used"),
        ("IBID_SEARCH_KK", "3", "IBID_SEARCH_KK is not a setting; did you mean IBID_SEARCH_K?"),
    ],
)
def test_a_bad_variable_is_named(user_dir: Path, name: str, text: str, expected: str) -> None:
    with pytest.raises(BadSetting) as caught:
        load_settings(environ={name: text}, user_dir=user_dir)
    assert expected in str(caught.value)


def test_variables_of_others_are_left_alone(user_dir: Path) -> None:
    environ = {
        "IBID_PORT": "tcp://10.0.0.1:80",
        "IBID_LIBRARY": "x",
        "IBID_DATA": "y",
        "IBID_GENERATOR_API_KEY": "secret",
        "IBID_GENERATOR_API_KEY_FILE": "z",
        "IBID_SEARCH_K": "",
        "IBID_SEARCH_MIN_SCORE": "none",
        "IBID_OFFLINE": "TRUE",
    }
    settings = load_settings(environ=environ, user_dir=user_dir)
    assert settings == Settings(offline=True)


def test_a_flag_is_checked_too(user_dir: Path) -> None:
    with pytest.raises(BadSetting, match=r"flag: search\.k = 0 can't be used"):
        load_settings({"search.k": 0}, environ={}, user_dir=user_dir)
    with pytest.raises(BadSetting, match="flag: k is not a setting"):
        load_settings({"k": 0}, environ={}, user_dir=user_dir)


@pytest.mark.parametrize(
    "url", ["https://me:hush@host/v1", "ftp://host/hush", "hush", "http://", "http://[hush"]
)
def test_an_address_that_may_hold_a_password_is_refused_unseen(user_dir: Path, url: str) -> None:
    with pytest.raises(BadSetting, match="without a password") as caught:
        load_settings({"generator.base_url": url}, environ={}, user_dir=user_dir)
    assert "hush" not in str(caught.value)


def test_the_hash_is_that_of_what_answers_depend_on(user_dir: Path) -> None:
    def hash_with(**flags: Scalar) -> str:
        return settings_hash(load_settings(flags, environ={}, user_dir=user_dir))

    first = settings_hash(Settings())
    assert hash_with() == first
    assert hash_with(**{"search.k": 10, "search.weights.dense": 1}) == first
    assert hash_with(**{"offline": True, "ingest.batch": 7}) == first
    assert hash_with(**{"search.k": 11}) != first
    assert hash_with(**{"search.weights.dense": 2}) != first


def test_settings_load_lightly() -> None:
    code = (
        "import sys, ibid.settings, ibid.keys;"
        "print(sorted({'numpy','pydantic','platformdirs','rich','click'} & sys.modules.keys()))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


# -- keys


def test_a_key_comes_from_the_environment_a_file_or_the_users_own(
    tmp_path: Path, user_dir: Path
) -> None:
    assert find_secret(GENERATOR_KEY, {}, user_dir=user_dir) is None
    keys = user_dir / "keys.toml"
    keys.write_text(f'{GENERATOR_KEY} = "third"\n')
    keys.chmod(0o600)
    mounted = tmp_path / "mounted"
    mounted.write_text("second\n")
    environ = {f"{GENERATOR_KEY}_FILE": str(mounted)}
    found = [
        find_secret(GENERATOR_KEY, {GENERATOR_KEY: "first", **environ}, user_dir=user_dir),
        find_secret(GENERATOR_KEY, environ, user_dir=user_dir),
        find_secret(GENERATOR_KEY, {}, user_dir=user_dir),
    ]
    assert [(secret.value, secret.origin) for secret in found if secret] == [
        ("first", GENERATOR_KEY),
        ("second", str(mounted)),
        ("third", str(keys)),
    ]
    assert not any(value in repr(found) for value in ("first", "second", "third"))


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o610])
def test_a_file_of_keys_that_others_can_read_is_refused(user_dir: Path, mode: int) -> None:
    keys = user_dir / "keys.toml"
    keys.write_text(f'{GENERATOR_KEY} = "hush"\n')
    keys.chmod(mode)
    with pytest.raises(BadSetting, match="chmod 600") as caught:
        find_secret(GENERATOR_KEY, {}, user_dir=user_dir)
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize("text", ["hush = hush", '[hush]\nx = "hush"', "x = 'hush"])
def test_a_broken_file_of_keys_shows_nothing_of_it(user_dir: Path, text: str) -> None:
    keys = user_dir / "keys.toml"
    keys.write_text(text)
    keys.chmod(0o600)
    with pytest.raises(BadSetting) as caught:
        find_secret(GENERATOR_KEY, {}, user_dir=user_dir)
    assert "hush" not in str(caught.value)
    assert str(keys) in str(caught.value)


def test_a_named_file_of_a_key_must_hold_one(tmp_path: Path, user_dir: Path) -> None:
    path = tmp_path / "key"
    environ = {f"{GENERATOR_KEY}_FILE": str(path)}
    with pytest.raises(BadSetting, match="can't be read"):
        find_secret(GENERATOR_KEY, environ, user_dir=user_dir)
    path.write_text("\n")
    with pytest.raises(BadSetting, match="is empty"):
        find_secret(GENERATOR_KEY, environ, user_dir=user_dir)


# -- which library


def test_the_library_is_named_or_near_or_the_users(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    work = tmp_path / "work" / "deep" / "er"
    work.mkdir(parents=True)
    environ = {"IBID_LIBRARY": "named"}
    assert find_library("../flag.ibid", environ=environ, cwd=work) == str(
        tmp_path / "work/deep/flag.ibid"
    )
    assert find_library(None, environ=environ, cwd=work) == str(work / "named")
    address = "postgresql://host/db"
    assert find_library(address, environ={}, cwd=work) == address
    assert find_library("/else/where", environ={}, cwd=work) == "/else/where"
    own = find_library(environ={}, cwd=work)
    assert Path(own).name == "ibid"
    assert not Path(own).is_relative_to(tmp_path / "work")
    (tmp_path / "work" / ".ibid").mkdir()
    assert find_library(environ={"IBID_LIBRARY": ""}, cwd=work) == str(tmp_path / "work/.ibid")


def test_a_home_folder_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert find_library("~/mine", environ={}) == str(tmp_path / "mine")
