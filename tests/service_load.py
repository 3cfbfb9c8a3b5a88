"""Many callers of one service at once, while one of them writes: what they were told, how fast, and
what was not whole."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import subprocess
import threading
import time
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import psutil

import ibid
from conftest import command_line, open_hashing

PARTS: Final = 3
"""Passages of a document."""

KEPT: Final = 20
"""Documents that are written anew, over and over."""

SEARCHES_AN_ASK: Final = 4

SAMPLE_SECONDS: Final = 0.5
LATE: Final = 0.95

WORDS: Final = [
    f"{first}{second}{third}"
    for first in ("bar", "cel", "dor", "fen", "gal", "hul", "jor", "kel", "lum", "mor")
    for second in ("a", "e", "i", "o", "u")
    for third in ("dan", "fin", "gor", "lis", "men", "nak", "pol", "rin", "sot", "tur")
]
PLACES: Final = ("red hall", "north tower", "old mill", "lower archive", "glass house")


@dataclass(slots=True)
class Load:
    """What callers saw: seconds of every request by its kind, and what went wrong."""

    seconds: dict[str, list[float]] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    megabytes: list[float] = field(default_factory=list)
    lasted: float = 0.0

    def count(self, kind: str) -> int:
        """How many of a kind were answered."""
        return len(self.seconds.get(kind, ()))

    def find_late(self, kind: str) -> float:
        """The seconds within which 95 of 100 of a kind were answered."""
        ordered = sorted(self.seconds.get(kind, ())) or [0.0]
        return ordered[min(len(ordered) - 1, int(LATE * len(ordered)))]


def name_owner(number: int) -> str:
    """A name that no other document has."""
    return f"{WORDS[number % 500]}{WORDS[number * 7 % 499]}{number}".capitalize()


def write_page(number: int, edition: int, chance: random.Random) -> str:
    """A page of three passages; one holds what is asked for, each tells its edition."""
    owner, place = name_owner(number), PLACES[number % len(PLACES)]
    parts = []
    for part in range(PARTS):
        filling = " ".join(chance.choices(WORDS, k=60))
        fact = f"The ledger of {owner} is kept in the {place}. " if part == 0 else ""
        parts.append(f"# Part {part}\n\n{fact}This is edition{edition} of page{number}. {filling}.")
    return "\n\n".join(parts)


def ask_for(number: int) -> str:
    return f"Where is the ledger of {name_owner(number)} kept?"


def fill_place(place: Path, passages: int) -> int:
    """Make a library of so many passages; how many documents it has."""
    count, chance = -(-passages // PARTS), random.Random(1)
    with open_hashing(place) as library:
        pages = (
            ibid.Document(f"{number}.md", write_page(number, 0, chance), media_type="text/markdown")
            for number in range(count)
        )
        library.ingest(pages)
    return count


# -- the service and its callers ------------------------------------------------------------------


def run_load(place: Path, documents: int, *, askers: int, searchers: int, seconds: float) -> Load:
    """What so many callers were told in so many seconds by a service of its own process."""
    environ = {**os.environ, "IBID_LIBRARY": str(place), "IBID_EMBEDDER_NAME": "hashing"}
    command = command_line(["serve", "--port", "0"])
    with subprocess.Popen(command, env=environ, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        url = server.stderr.readline().split()[-1]
        threading.Thread(target=drain, args=(server.stderr,), daemon=True).start()
        try:
            load = asyncio.run(call_all(url, server.pid, documents, askers, searchers, seconds))
        finally:
            server.terminate()
        if (code := server.wait(60)) != 0:
            load.faults.append(f"the server left with {code}")
    with open_hashing(place) as library:
        load.faults += [str(problem) for problem in library.verify()]
    return load


def drain(lines: Iterable[str]) -> None:
    for _ in lines:
        pass


async def call_all(
    url: str, process: int, documents: int, askers: int, searchers: int, seconds: float
) -> Load:
    load, start = Load(), time.perf_counter()
    until = start + seconds
    address = urlsplit(url)

    async def repeat(kind: str, seed: int, make: Callable[[random.Random], Request]) -> None:
        chance = random.Random(seed)
        caller = Caller(address.hostname or "", address.port or 0)
        while time.perf_counter() < until:
            request, began = make(chance), time.perf_counter()
            try:
                status, reply = await caller.call(request.method, request.path, request.body)
                load.seconds.setdefault(kind, []).append(time.perf_counter() - began)
                request.check(status, reply)
            except (AssertionError, OSError, ValueError, asyncio.IncompleteReadError) as error:
                load.faults.append(f"{kind}: {type(error).__name__}: {error}"[:500])
                caller.close()
        caller.close()

    async def sample() -> None:
        server = psutil.Process(process)
        while time.perf_counter() < until:
            load.megabytes.append(server.memory_info().rss / 1e6)
            await asyncio.sleep(SAMPLE_SECONDS)

    kinds: list[tuple[str, int, Callable[[random.Random], Request]]] = [
        ("ask", askers, lambda chance: make_ask(chance, documents)),
        ("search", searchers, lambda chance: make_search(chance, documents)),
        ("read", 1, make_read),
    ]
    work: list[Coroutine[Any, Any, None]] = [sample(), write_on(load, address, until)]
    for kind, callers, make in kinds:
        work += [repeat(kind, seed, make) for seed in range(callers)]
    await asyncio.gather(*work)
    load.lasted = time.perf_counter() - start
    return load


async def write_on(load: Load, address: Any, until: float) -> None:
    """Write kept documents over, one job after the other."""
    caller, chance = Caller(address.hostname, address.port), random.Random(0)
    edition = 0
    while time.perf_counter() < until:
        edition, number = edition + 1, edition % KEPT
        page = write_page(number, edition + 1, chance)
        began = time.perf_counter()
        body = {"text": page, "media_type": "text/markdown"}
        status, told = await caller.call("PUT", f"/v1/documents?id={number}.md", body)
        if status != 202:
            load.faults.append(f"write: {status} {told[:200]!r}")
            break
        job = {"job_id": json.loads(told)["job_id"], "state": "waiting"}
        while job["state"] in ("waiting", "running"):
            await asyncio.sleep(0.02)
            _, told = await caller.call("GET", f"/v1/jobs/{job['job_id']}", None)
            job = json.loads(told)
        load.seconds.setdefault("write", []).append(time.perf_counter() - began)
        if job["state"] != "done":
            load.faults.append(f"write: {job}")
    caller.close()


@dataclass(frozen=True, slots=True)
class Request:
    """A request, and what its reply must be."""

    method: str
    path: str
    body: dict[str, Any] | None
    check: Callable[[int, bytes], None]


def make_search(chance: random.Random, documents: int) -> Request:
    query = f"ledger of {name_owner(chance.randrange(documents))} {chance.choice(WORDS)}"

    def check(status: int, reply: bytes) -> None:
        assert status == 200, (status, reply[:200])
        hits = json.loads(reply)["hits"]
        assert hits
        check_editions(hits)

    return Request("POST", "/v1/search", {"query": query, "k": 10}, check)


def make_ask(chance: random.Random, documents: int) -> Request:
    question = ask_for(chance.randrange(documents))

    def check(status: int, reply: bytes) -> None:
        assert status == 200, (status, reply[:200])
        answer = json.loads(reply)
        assert answer["status"] == "answered", answer["text"]
        check_editions(answer["sources"])

    return Request("POST", "/v1/ask", {"question": question, "log": False}, check)


def make_read(chance: random.Random) -> Request:
    id = f"{chance.randrange(KEPT)}.md"

    def check(status: int, reply: bytes) -> None:
        assert status == 200, (status, reply[:200])
        shown = json.loads(reply)
        assert len(shown["passages"]) == PARTS, shown["passages"]
        assert len(set(re.findall(r"edition\d+", shown["text"]))) == 1, shown["text"]
        for passage in shown["passages"]:
            assert shown["text"][passage["start"] : passage["end"]] == passage["text"]

    return Request("GET", f"/v1/documents?id={id}", None, check)


def check_editions(found: Iterable[dict[str, Any]]) -> None:
    """All passages of a document in one reply are of one edition."""
    editions: dict[str, set[str]] = {}
    for hit in found:
        editions.setdefault(hit["document_id"], set()).update(
            re.findall(r"edition\d+", hit["text"])
        )
    assert all(len(of_one) == 1 for of_one in editions.values()), editions


class Caller:
    """One connection of HTTP/1.1, kept open: as little work as a caller can be."""

    def __init__(self, host: str, port: int) -> None:
        self._host, self._port = host, port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def call(self, method: str, path: str, body: dict[str, Any] | None) -> tuple[int, bytes]:
        """The status and the body of a reply."""
        if self._streams is None:
            self._streams = await asyncio.open_connection(self._host, self._port, limit=2**24)
        reader, writer = self._streams
        sent = b"" if body is None else json.dumps(body).encode()
        writer.write(
            f"{method} {path} HTTP/1.1\r\nHost: {self._host}:{self._port}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(sent)}\r\n\r\n".encode()
            + sent
        )
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = re.search(rb"content-length: (\d+)", head)
        assert length is not None, head
        return int(head.split(b" ", 2)[1]), await reader.readexactly(int(length[1]))

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


# -- the same without a service -------------------------------------------------------------------


def time_library(place: Path, documents: int, *, seconds: float) -> dict[str, list[float]]:
    """The seconds of each search and ask through the Python API, one after the other."""
    spent: dict[str, list[float]] = {"search": [], "ask": []}
    chance = random.Random(5)

    def measure(kind: str, work: Callable[[], object]) -> None:
        began = time.perf_counter()
        work()
        spent[kind].append(time.perf_counter() - began)

    with open_hashing(place) as library:
        library.ask(ask_for(0))
        until = time.perf_counter() + seconds
        while time.perf_counter() < until:
            for _ in range(SEARCHES_AN_ASK):
                body = make_search(chance, documents).body or {}
                measure("search", partial(library.search, body["query"], k=10))
            query = ibid.Query(ask_for(chance.randrange(documents)), frozenset())
            measure("ask", partial(library.run_ask, query, log=False))
    return spent
