"""The requests of docs/API.md, sent to a service of the sample handbook.

    python tests/api_page.py

writes their replies anew as the examples of the OpenAPI document.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from starlette.testclient import TestClient

import ibid
from ibid.service.replies.examples import EXAMPLES
from service_client import serving

ROOT: Final = Path(__file__).parent.parent
PAGE: Final = ROOT / "docs" / "API.md"
HANDBOOK: Final = ROOT / "examples" / "handbook"
PLACE: Final = "/srv/handbook"
"""Where the examples say that the handbook is."""

_EXCHANGE: Final = re.compile(
    r"^```http\n(.*?)^```\n\n```(json|text)(?: (\d+))?\n(.*?)^```$", re.M | re.S
)
_SIGN: Final = re.compile(r"\s*([\[\]{}:,])\s*")


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request of the page, the reply that it says, and the reply that came."""

    method: str
    path: str
    route: str
    expected: tuple[int, str]
    status: int
    reply: Any

    @property
    def matches(self) -> bool:
        """Whether the reply is the one that the page says."""
        status, text = self.expected
        reply = self.reply if isinstance(self.reply, str) else to_json(self.reply)
        pattern = ".*".join(re.escape(part) for part in squeeze(text).split("…"))
        return status == self.status and re.fullmatch(pattern, squeeze(reply), re.S) is not None


def run_page(folder: Path) -> Iterator[Exchange]:
    """Every exchange of the page in order, with a new library in a folder."""
    with ibid.open(folder / "library") as library:
        library.sync(HANDBOOK)
        with serving(library, principals=frozenset({"group:staff"})) as client:
            routes = read_routes(client)
            known: dict[str, str] = {}
            for request, kind, status, reply in _EXCHANGE.findall(PAGE.read_text()):
                first, *lines = request.splitlines()
                method, path = first.split(" ", 1)
                path = path.format(**known)
                told = client.request(method, path, **read_options(lines))
                came = told.json() if kind == "json" else told.text
                known |= find_ids(came)
                said = (int(status or 200), reply)
                route = f"{method} {match_route(routes, path)}"
                yield Exchange(method, path, route, said, told.status_code, came)
                if told.status_code == 202:
                    await_jobs(client)


def read_routes(client: TestClient) -> list[str]:
    return list(client.get("/openapi.json").json()["paths"])


def match_route(routes: list[str], path: str) -> str:
    """The route of a path: one without parameters before one with them."""
    plain = path.partition("?")[0]
    matching = [route for route in routes if re.fullmatch(re.sub(r"{\w+}", "[^/]+", route), plain)]
    return min(matching, key=lambda route: route.count("{"))


def read_options(lines: list[str]) -> dict[str, Any]:
    """What a request brings: headers, then a body of JSON or the fields of a form."""
    headers = dict(line.split(": ", 1) for line in lines if re.match(r"[A-Z][\w-]+: ", line))
    rest = lines[len(headers) :]
    if headers.pop("Content-Type", "") == "multipart/form-data":
        fields = dict(line.split("=", 1) for line in rest)
        paths = [ROOT / path[1:] for path in fields.values() if path.startswith("@")]
        files = [("file", (path.name, path.read_bytes())) for path in paths]
        return {"headers": headers, "files": files}
    return (
        {"headers": headers, "json": json.loads("\n".join(rest))} if rest else {"headers": headers}
    )


def find_ids(reply: Any) -> dict[str, str]:
    """The ids that a reply gives, by which later requests name them."""
    found = reply if isinstance(reply, dict) else {}
    return {name: found[name] for name in ("answer_id", "job_id") if name in found}


def await_jobs(client: TestClient) -> None:
    while any(
        job["state"] in ("waiting", "running") for job in client.get("/v1/jobs").json()["jobs"]
    ):
        pass


def to_json(reply: Any) -> str:
    text = json.dumps(reply, ensure_ascii=False)
    return text.replace(HANDBOOK.as_uri(), f"file://{PLACE}").replace(str(HANDBOOK), PLACE)


def squeeze(text: str) -> str:
    """A text with its white space alike."""
    return _SIGN.sub(r"\1", re.sub(r"\s+", " ", text)).strip()


def collect_examples(exchanges: Iterable[Exchange]) -> dict[str, Any]:
    """The first good reply of JSON that each route gave."""
    examples: dict[str, Any] = {}
    for one in exchanges:
        if one.status < 300 and not isinstance(one.reply, str):
            examples.setdefault(one.route, json.loads(to_json(one.reply)))
    return examples


def main() -> int:
    """Write the examples."""
    with tempfile.TemporaryDirectory() as folder:
        exchanges = list(run_page(Path(folder)))
    examples = collect_examples(exchanges)
    text = json.dumps(examples, ensure_ascii=False, indent=1, sort_keys=True)
    EXAMPLES.write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
