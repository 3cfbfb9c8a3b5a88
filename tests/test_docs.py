"""The documentation runs: each command and each Python block, against the sample handbook.

In a `console` block, lines after `$ ` are commands and the others what they print on standard
output, where `…` stands for anything and a line of it for any lines; a command leaves with 0 unless
`echo $?` follows. A `python` block runs after the ones before it on its page, and prints what the
comments beside its prints say.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from command_line import HANDBOOK, call
from ibid.settings import Settings, describe_settings

ROOT: Final = Path(__file__).parent.parent
PAGES: Final = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])

_BLOCK: Final = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
_SAID: Final = re.compile(r"print\(.*\)  # (.+)$", re.M)
_LINK: Final = re.compile(r"\]\((?!https?:)([^)#]+)\)")


@pytest.fixture
def _desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder to work in that has the examples and a library still to be made."""
    shutil.copytree(HANDBOOK.parent, tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("IBID_LIBRARY", str(tmp_path / "library"))


def read_blocks(page: Path, kind: str) -> list[str]:
    return [body for found, body in _BLOCK.findall(page.read_text()) if found == kind]


def split_commands(block: str) -> Iterator[tuple[str, str]]:
    """Each command of a block with the output that the page gives for it."""
    for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


def run_command(command: str) -> tuple[str, int]:
    """What a command prints on standard output, and its exit code."""
    words = shlex.split(command)
    if words[0] == "ibid":
        done = call(*words[1:])
        return done.out, done.code
    shell = subprocess.run(words, capture_output=True, text=True, check=False)
    return shell.stdout, shell.returncode


def matches(expected: str, found: str) -> bool:
    pattern = "".join(
        "(?s:.*)" if line.strip() == "…" else re.escape(line).replace("…", ".*")
        for line in expected.splitlines(keepends=True)
    )
    return re.fullmatch(pattern, found) is not None


def pages_with(kind: str) -> list[Path]:
    return [page for page in PAGES if read_blocks(page, kind)]


@pytest.mark.usefixtures("_desk")
@pytest.mark.parametrize("page", pages_with("console"), ids=lambda page: page.name)
def test_commands_print_what_the_page_says(page: Path) -> None:
    commands = [pair for block in read_blocks(page, "console") for pair in split_commands(block)]
    code = 0
    for command, expected in commands:
        if command == "echo $?":
            assert f"{code}\n" == expected
            code = 0
            continue
        assert code == 0, f"the command before `{command}` left with {code}"
        found, code = run_command(command)
        assert matches(expected, found), f"`{command}` prints:\n{found}"
    assert code == 0


@pytest.mark.usefixtures("_desk")
@pytest.mark.parametrize("page", pages_with("python"), ids=lambda page: page.name)
def test_python_prints_what_the_page_says(page: Path) -> None:
    names: dict[str, object] = {}
    for block in read_blocks(page, "python"):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(block, str(page), "exec"), names)
        assert out.getvalue().splitlines() == _SAID.findall(block)


@pytest.mark.usefixtures("_desk")
def test_the_readme_shows_what_run_prints() -> None:
    """The script's two commands, with its question, against the README's first block."""
    script = (ROOT / "run").read_text()
    question = re.search(r'^question="(.+)"$', script, re.M)
    assert question is not None
    commands = [f"sync {HANDBOOK.relative_to(ROOT)}", f'ask "{question[1]}"']
    printed = [f"$ ibid {command}\n{call(*shlex.split(command)).out}" for command in commands]
    assert read_blocks(ROOT / "README.md", "text")[0] == "\n".join(printed)


def test_commands_of_scripts_are_there() -> None:
    for block in read_blocks(ROOT / "README.md", "sh"):
        for line in block.splitlines():
            assert (ROOT / shlex.split(line)[0]).exists(), line


def test_every_setting_is_documented() -> None:
    page = (ROOT / "docs" / "CLI.md").read_text()
    for row in describe_settings(Settings()):
        default = "none" if row["default"] is None else str(row["default"])
        line = f"| `{row['key']}` | {default} | {row['help']} |"
        assert line in page, f"missing or out of date: {line}"


def test_every_dependency_is_justified() -> None:
    """The table of the stack and pyproject.toml name the same packages."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed = {re.split(r"[<>=]", line)[0] for line in project["dependencies"]}
    table = (ROOT / "docs" / "ARCHITECTURE.md").read_text().split("## The stack")[1]
    cells = re.findall(r"^\| ([^|]+) \|", table, re.M)[1:]
    named = {name for cell in cells for name in cell.split(", ")}
    assert needed == named - {"SQLite (standard library)", "---"}


def test_every_room_is_drawn() -> None:
    page = (ROOT / "docs" / "ARCHITECTURE.md").read_text()
    floors = page.split("## The floors")[1].split("## ")[0]
    rooms = {path.name for path in (ROOT / "src" / "ibid").iterdir() if path.name[0] not in "_."}
    rooms -= {"version.py", "py.typed"}
    assert [room for room in rooms if room not in floors] == []


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in _LINK.findall(page.read_text()):
        assert (page.parent / target).exists(), target
