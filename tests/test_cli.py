"""The command line as a whole: help, exit codes, errors, streams; what it does not import."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest

from command_line import HANDBOOK, Done, call
from ibid.cli import VERBS, find_exit_code, ibid
from ibid.errors import EXIT_CODES, IbidError, ModelTimeout, UnknownDocument

HEAVY = {"numpy", "onnxruntime", "tantivy", "fastapi", "pydantic", "rich", "faiss", "tokenizers"}

DOCUMENTED = Path(__file__).parent.parent / "docs" / "CLI.md"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The sample handbook, synced."""
    place = tmp_path_factory.mktemp("cli") / "library"
    assert call("sync", HANDBOOK, "--library", place).code == 0
    return str(place)


# -- help ---------------------------------------------------------------------------------------


def test_help_imports_nothing_heavy() -> None:
    traced = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "ibid", "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    imported = {line.rsplit("|", 1)[-1].strip() for line in traced.stderr.splitlines()}
    assert "ibid.cli" in imported
    assert not {name.split(".")[0] for name in imported} & HEAVY
    assert [name for name in VERBS if f"\n  {name} " not in traced.stdout] == []


@pytest.mark.parametrize("name", VERBS)
def test_each_verb_tells_what_the_table_tells(name: str) -> None:
    command = ibid.get_command(click.Context(ibid), name)
    assert command is not None
    assert command.name == name
    assert (command.help or "").split("\n\n")[0] == VERBS[name][1]
    options = {flag for parameter in command.params for flag in parameter.opts}
    assert {"--json", "--as", "--library", "--offline"} <= options
    told = [p for p in command.params if isinstance(p, click.Option) and not p.help]
    assert not told, "an option without help"
    assert f"\n## {name}\n" in DOCUMENTED.read_text(), "a verb that docs/CLI.md leaves out"


def test_completion_of_a_verb() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ibid"],
        env=os.environ
        | {"_IBID_COMPLETE": "bash_complete", "COMP_WORDS": "ibid sea"}
        | {"COMP_CWORD": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "plain,search\n"


# -- exit codes and errors ----------------------------------------------------------------------


def error_of(done: Done) -> dict[str, str]:
    error: dict[str, str] = done.json["error"]
    assert set(error) == {"type", "message", "hint"}
    assert done.err == ""
    return error


@pytest.mark.parametrize(
    ("arguments", "kind", "code"),
    [
        (["search"], "UsageError", 2),
        (["serch", "x"], "UsageError", 2),
        (["search", "x", "--mode", "psychic"], "UsageError", 2),
        (["search", "x", "-k", "0"], "UsageError", 2),
        (["search", "x", "--filter", "tag.a ="], "BadQuery", 2),
        (["search", "x", "--rerank", "nosuch"], "BadSetting", 2),
        (["search", "x", "--version", "99"], "BadQuery", 2),
        (["list", "--as", "*", "--as", "user:ann"], "BadQuery", 2),
        (["ask", "x", "--generator", "nosuch"], "BadSetting", 2),
        (["set", "leave.md"], "UsageError", 2),
        (["set", "leave.md", "--nobody", "--public"], "UsageError", 2),
        (["set", "leave.md", "--tag", "untold"], "UsageError", 2),
        (["add", "nosuch.md"], "UsageError", 2),
        (["sync", "nosuch"], "UsageError", 2),
        (["chunk", str(HANDBOOK / "leave.md"), "--size", "0"], "BadSetting", 2),
        (["show", "nosuch.md"], "UnknownDocument", 1),
        (["remove", "nosuch.md"], "UnknownDocument", 1),
        (["forget", "nosuch"], "UnknownSource", 1),
        (["status", "--library", "/nonexistent/library"], "LibraryNotFound", 1),
    ],
)
def test_an_error_is_one_object_and_a_code(
    arguments: list[str], kind: str, code: int, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IBID_LIBRARY", library)
    done = call(*arguments, "--json")
    assert (error_of(done)["type"], done.code) == (kind, code)
    in_words = call(*arguments)
    assert (in_words.out, in_words.code) == ("", code)
    assert "Error: " in in_words.err


def test_the_column_of_a_bad_filter(library: str) -> None:
    done = call("list", "--library", library, "--filter", "title == 3", "--json")
    assert done.code == 2
    assert "column 8" in error_of(done)["message"]


def test_a_mistaken_call_makes_no_library(tmp_path: Path) -> None:
    for verb in ("sync", "add", "update"):
        assert call(verb, tmp_path / "nosuch", "--library", tmp_path / "library").code == 2
    assert not (tmp_path / "library").exists()


def test_json_after_the_end_of_options_is_a_word(library: str) -> None:
    done = call("search", "--library", library, "--mode", "lexical", "--", "--json")
    assert (done.out, done.code) == ("nothing found\n", 3)


def test_the_nearest_kind_gives_the_exit_code() -> None:
    assert find_exit_code(UnknownDocument("x")) == EXIT_CODES[IbidError] == 1
    assert find_exit_code(ModelTimeout("x")) == 4


def test_offline_refuses_what_would_leave(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IBID_GENERATOR_BASE_URL", "http://models.invalid/v1")
    monkeypatch.setenv("IBID_GENERATOR_MODEL", "m")
    ask = ("ask", "How long is parental leave?", "--library", library, "--generator", "openai")
    refused = call(*ask, "--offline", "--json")
    assert refused.code == 4
    assert error_of(refused)["type"] == "ModelUnavailable"
    unreachable = call(*ask, "--json")
    assert unreachable.code == 4
    assert unreachable.json["error"]["type"] == "ModelUnavailable"
    assert "the generator at http://models.invalid" in unreachable.err
    monkeypatch.setenv("IBID_GENERATOR_BASE_URL", "http://127.0.0.1:9/v1")
    here = call(*ask, "--offline", "--json")  # this machine is no remote one
    assert "can't be reached" in here.json["error"]["message"]
    assert "text may go" not in here.err


def test_every_part_that_sends_text_is_told_of(
    tmp_path: Path, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Contexts too: a model is sent the documents that come in."""
    page = tmp_path / "fern.md"
    page.write_text("Ferns like shade.")
    for name, value in {
        "INGEST_CONTEXTS": "1",
        "GENERATOR_NAME": "openai",
        "GENERATOR_BASE_URL": "http://models.invalid/v1",
        "GENERATOR_MODEL": "m",
    }.items():
        monkeypatch.setenv(f"IBID_{name}", value)
    add = ("add", page, "--id", "fern.md", "--library", library)
    assert "the contextualizer at http://models.invalid" in call(*add).err
    refused = call(*add, "--offline", "--json")
    assert (refused.code, error_of(refused)["type"]) == (4, "ModelUnavailable")


def test_what_nobody_foresaw_is_one_line(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(place: str | None) -> str:
        raise ZeroDivisionError("a fault\nof ours")

    monkeypatch.setattr("ibid.cli.call.find_library", fail)
    done = call("list", "--json")
    assert done.code == 1
    error = error_of(done)
    assert error["type"] == "InternalError"
    assert error["message"] == "ZeroDivisionError: a fault of ours"
    assert "Traceback" not in call("list").err
    monkeypatch.setenv("IBID_DEBUG", "1")
    assert "Traceback" in call("list").err


# -- streams ------------------------------------------------------------------------------------


def test_text_that_a_stream_lacks_is_escaped(tmp_path: Path) -> None:
    (tmp_path / "price.md").write_text("Nine € a month 🌳", encoding="utf-8")
    assert call("convert", tmp_path / "price.md").out == "Nine € a month 🌳\n"
    words = call("convert", tmp_path / "price.md", encoding="latin-1").out
    assert words == "Nine \\u20ac a month \\U0001f333\n"
    done = call("convert", tmp_path / "price.md", "--json", encoding="latin-1")
    assert done.json["text"] == "Nine € a month 🌳"


@pytest.mark.parametrize("arguments", [["list"], ["list", "--json"], ["show", "x", "--json"]])
def test_a_reader_that_leaves_is_no_error(arguments: list[str], library: str) -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as closed:
        done = subprocess.run(
            [sys.executable, "-m", "ibid", *arguments, "--library", library],
            stdout=closed,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (done.stderr, done.returncode) == ("", 1)


def test_an_interrupt_gives_130(tmp_path: Path) -> None:
    """The sync waits for the lock that is held here, so it is surely interrupted at work."""
    import fcntl

    library = tmp_path / "library"
    assert call("sync", HANDBOOK, "--library", library).code == 0
    with (library / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        child = subprocess.Popen(
            [sys.executable, "-m", "ibid", "remove", "leave.md", "--json", "--library", library],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # Whoever started the tests in the background has made SIGINT ignored.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
        _wait_until_open(child.pid, library / "lock")
        child.send_signal(signal.SIGINT)
        out, _ = child.communicate(timeout=30)
    assert child.returncode == 130
    assert Done(130, out, "").json["error"]["type"] == "Interrupted"


def _wait_until_open(pid: int, file: Path) -> None:
    descriptors = Path(f"/proc/{pid}/fd")
    if not descriptors.is_dir():
        pytest.skip("this system has no /proc to see a child's open files in")
    for _ in range(1000):
        if any(_points_at(link, file) for link in descriptors.iterdir()):
            return
        time.sleep(0.02)
    raise AssertionError(f"the child never opened {file}")


def _points_at(link: Path, file: Path) -> bool:
    try:
        return link.readlink() == file
    except FileNotFoundError:
        return False
