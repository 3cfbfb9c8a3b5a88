"""Time to the first streamed token at the terminal, beside bare clients of the same endpoint.

    python bench/first_token.py [--delay-ms 500] [--rounds 9]

A server on this machine waits as long as a model would before its first token, then streams an
answer. Each client is a fresh process that prints what it is sent; what is timed is from its start
to the first byte on its standard output. `ibid ask --stream` starts, opens a library of the sample
handbook that lies warm on disk, searches it and asks; a bare client sends the very request that
ibid sent and prints the pieces. The bare clients are httpx2 alone and, where it is installed, the
official openai package. All run in turn, round after round.

Prints the best and the median of each, and the ratios of the medians to that of each bare client.
Beside them, and not judged, stands a process that stays: the same question asked again of an open
library, from the call to the first piece, and the same bare request on an open connection.

The exit code is 1 when a first token takes more than 1.2 times as long as with the official client
(or httpx2, where that is not installed).
"""

from __future__ import annotations

import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

from results import make_parser, save_results

import ibid
from ibid.settings import load_settings
from ibid.testing.servers import EVENTS, Reply, serve
from ibid.wire import Wire

ROOT: Final = Path(__file__).parent.parent
QUESTION: Final = "How long is parental leave?"
SAID: Final = "Parental leave lasts sixteen weeks [1]."

MOST: Final = 1.2

HTTPX2: Final = """
import json, sys, httpx2
address, body = sys.argv[1] + "/chat/completions", json.load(open(sys.argv[2]))
with httpx2.stream("POST", address, json=body) as reply:
    for line in reply.iter_lines():
        if line.startswith("data: {"):
            for choice in json.loads(line[6:])["choices"]:
                print(choice["delta"].get("content") or "", end="", flush=True)
"""
OPENAI: Final = """
import json, sys, openai
client = openai.OpenAI(base_url=sys.argv[1], api_key="none")
for chunk in client.chat.completions.create(**json.load(open(sys.argv[2]))):
    for choice in chunk.choices:
        print(choice.delta.content or "", end="", flush=True)
"""


def main() -> int:
    """Print the table; 1 when a requirement is missed."""
    parser = make_parser(__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--delay-ms", type=float, default=500.0)
    options = parser.parse_args()

    def answer(body: Any) -> Reply:
        time.sleep(options.delay_ms / 1000)
        return Reply([*map(to_event, SAID.split()), b"data: [DONE]\n\n"], headers=EVENTS)

    with tempfile.TemporaryDirectory() as scratch, serve(answer) as server:
        place, request = Path(scratch, "library"), Path(scratch, "request.json")
        environ = make_environ(server.url)
        ibid_ask = [str(Path(sys.executable).with_name("ibid")), "ask", QUESTION, "--stream"]
        subprocess.run(
            [ibid_ask[0], "sync", str(ROOT / "examples/handbook"), "--library", str(place)],
            check=True,
            capture_output=True,
        )
        commands = {"ibid ask --stream": [*ibid_ask, "--library", str(place)]}
        time_command(commands["ibid ask --stream"], environ)
        request.write_text(json.dumps(server.bodies[-1]))
        bare = [server.url, str(request)]
        commands["bare httpx2"] = [sys.executable, "-c", HTTPX2, *bare]
        if importlib.util.find_spec("openai") is not None:
            commands["bare openai"] = [sys.executable, "-c", OPENAI, *bare]
        took = time_rounds(
            {name: partial(time_command, c, environ) for name, c in commands.items()},
            options.rounds,
        )
        took |= time_inside(place, server.url, server.bodies[-1], options.rounds)
    return report(took, options)


def to_event(word: str) -> bytes:
    """One chunk of a streamed answer."""
    chunk = {"choices": [{"delta": {"content": f"{word} "}, "finish_reason": None}]}
    return f"data: {json.dumps(chunk)}\n\n".encode()


def make_environ(url: str) -> dict[str, str]:
    """The environment in which ibid asks this endpoint."""
    said = {"NAME": "openai", "MODEL": "m", "BASE_URL": url}
    return {**os.environ, **{f"IBID_GENERATOR_{name}": value for name, value in said.items()}}


def time_command(command: list[str], environ: dict[str, str]) -> float:
    """Milliseconds from the start of a process to its first byte; SystemExit when it fails."""
    start = time.perf_counter()
    with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        first = process.stdout.read(1)
        took = time.perf_counter() - start
        process.stdout.read()
    if process.returncode or not first:
        raise SystemExit(f"{command[0]} ended with {process.returncode}")
    return took * 1000


def time_rounds(timed: dict[str, Callable[[], float]], rounds: int) -> dict[str, list[float]]:
    """What each takes, in turn, once to warm up and then round after round."""
    for run in timed.values():
        run()
    took: dict[str, list[float]] = {name: [] for name in timed}
    for _ in range(rounds):
        for name, run in timed.items():
            took[name].append(run())
    return took


def time_inside(place: Path, url: str, body: Any, rounds: int) -> dict[str, list[float]]:
    """The same in this process, where library and connection stay open."""
    settings = load_settings(
        {"generator.name": "openai", "generator.model": "m", "generator.base_url": url}
    )
    wire = Wire(url)

    def ask_bare() -> float:
        start = time.perf_counter()
        stream = wire.stream("/chat/completions", body)
        next(stream)
        took = time.perf_counter() - start
        stream.close()
        return took * 1000

    with ibid.open(place, settings=settings) as library:

        def ask() -> float:
            start = time.perf_counter()
            pieces: list[float] = []
            library.ask(QUESTION, on_text=lambda piece: pieces.append(time.perf_counter() - start))
            return pieces[0] * 1000

        return time_rounds({"library.ask, open": ask, "bare wire, open": ask_bare}, rounds)


def report(took: dict[str, list[float]], options: Any) -> int:
    """The table and the ratios; 1 when one is missed."""
    print(f"first token after {options.delay_ms:g} ms at the server, {options.rounds} rounds\n")
    print(f"{'ms to the first byte':24}{'best':>9}{'median':>9}")
    medians = {name: statistics.median(runs) for name, runs in took.items()}
    for name, runs in took.items():
        print(f"{name:24}{min(runs):9.0f}{medians[name]:9.0f}")
    client = "bare openai" if "bare openai" in medians else "bare httpx2"
    pairs = [("ibid ask --stream", "bare httpx2"), ("ibid ask --stream", client)]
    pairs.append(("library.ask, open", "bare wire, open"))
    ratios = {f"{one} / {other}": medians[one] / medians[other] for one, other in pairs}
    print()
    for name, ratio in ratios.items():
        print(f"{name:44}{ratio:6.2f}")
    save_results(options.save, {"medians_ms": medians, "ratios": ratios})
    return int(ratios[f"ibid ask --stream / {client}"] > MOST)


if __name__ == "__main__":
    sys.exit(main())
