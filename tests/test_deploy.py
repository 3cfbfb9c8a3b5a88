"""What `deploy/` starts: the files that a container is made of, its commands, and the unit, run as
they stand there but for the address of the library and the port."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import threading
import tomllib
from pathlib import Path
from typing import Final

import pytest

from conftest import command_line
from system import require

ROOT: Final = Path(__file__).parent.parent
CONTAINER: Final = (ROOT / "deploy" / "Containerfile").read_text()
UNIT: Final = (ROOT / "deploy" / "ibid.service").read_text()
PORT: Final = "8642"


def read_steps(name: str) -> list[str]:
    """What stands behind an instruction of the container file."""
    return re.findall(rf"^{name} (.+)$", CONTAINER, re.M)


def find_setting(name: str) -> str:
    """A value of the unit."""
    (value,) = re.findall(rf"^{name}=(.+)$", UNIT, re.M)
    return str(value)


def start(words: list[str], environ: dict[str, str]) -> subprocess.Popen[str]:
    assert Path(words[0]).name == "ibid"
    return subprocess.Popen(command_line(words[1:]), env=environ, text=True, stderr=subprocess.PIPE)


def make_environ(place: Path, said: str) -> dict[str, str]:
    named = dict(pair.split("=", 1) for pair in shlex.split(said))
    assert named["IBID_LIBRARY"]
    return {
        **os.environ,
        **named,
        "IBID_LIBRARY": str(place),
        "IBID_EMBEDDER_NAME": "hashing",
    }


def run_like(words: list[str], environ: dict[str, str], check: str | None = None) -> None:
    """Refused without a key; with one it answers, is healthy, and ends at SIGTERM."""
    with start(words, environ) as refused:
        assert refused.stderr is not None
        assert "ibid key create" in refused.stderr.read()
    assert refused.returncode == 2
    made = command_line(["key", "create", "--principal", "user:ann"])
    subprocess.run(made, env=environ, check=True, capture_output=True)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    with start([*words, "--port", port], environ) as server:
        assert server.stderr is not None
        line = server.stderr.readline()
        assert line.startswith("serving "), line
        threading.Thread(target=server.stderr.read, daemon=True).start()
        if check is not None:
            command = [sys.executable, *json.loads(check)[1:]]
            assert PORT in command[-1]
            command[-1] = command[-1].replace(PORT, port)
            subprocess.run(command, check=True)
        server.send_signal(signal.SIGTERM)
    assert server.returncode == 0


def test_a_container_has_what_is_built_and_installs_extras_that_are_there() -> None:
    copied = [word for step in read_steps("COPY") for word in step.split()[:-1]]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert [name for name in copied if not (ROOT / name).exists()] == []
    assert {"pyproject.toml", "src", project["readme"], *project["license-files"]} <= {*copied}
    (extras,) = re.findall(r"/src\[(.+?)\]", CONTAINER)
    assert set(extras.split(",")) <= project["optional-dependencies"].keys()


def test_a_container_serves_what_it_says(tmp_path: Path) -> None:
    (command,) = (step for step in read_steps("CMD"))
    (check,) = read_steps("HEALTHCHECK")
    assert read_steps("EXPOSE") == [PORT]
    environ = make_environ(tmp_path / "library", read_steps("ENV")[0])
    run_like(json.loads(command), environ, check.removeprefix("CMD "))


def test_a_unit_serves_what_it_says(tmp_path: Path) -> None:
    environ = make_environ(tmp_path / "library", find_setting("Environment"))
    run_like(shlex.split(find_setting("ExecStart")), environ)
    assert find_setting("RestartPreventExitStatus") == "2"


@pytest.mark.system("systemd-analyze")
def test_a_unit_is_one_that_systemd_knows(tmp_path: Path) -> None:
    require("systemd-analyze")
    unit = tmp_path / "ibid.service"
    unit.write_text(UNIT.replace(find_setting("ExecStart"), sys.executable))
    done = subprocess.run(
        ["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert done.returncode == 0
