"""The command line, run inside the process of the tests: what it prints and the code it leaves."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ibid.cli import run

HANDBOOK: Final = Path(__file__).parent.parent / "examples" / "handbook"


@dataclass(frozen=True, slots=True)
class Done:
    """A call that has ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """The one object on standard output."""
        found: dict[str, Any] = json.loads(self.out)
        assert found["schema_version"] == 1
        return found


def call(*arguments: str | Path, encoding: str = "utf-8") -> Done:
    """Run one call."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding=encoding) for _ in range(2))
    code: object = 0
    with redirect_stdout(out), redirect_stderr(err):
        try:
            run([str(argument) for argument in arguments])
        except SystemExit as left:
            code = left.code
    assert isinstance(code, int)
    return Done(code, _read(out), _read(err))


def _read(stream: io.TextIOWrapper) -> str:
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode(stream.encoding)
