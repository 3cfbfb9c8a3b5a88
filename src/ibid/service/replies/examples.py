"""Examples of replies in the OpenAPI document: real ones, of a service of the sample handbook.

`python tests/api_page.py` records them anew from the requests of docs/API.md.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, Final

EXAMPLES: Final = Path(__file__).parent / "examples.json"


@cache
def read_examples() -> dict[str, Any]:
    """The reply of each route, by its method and path."""
    found: dict[str, Any] = json.loads(EXAMPLES.read_text(encoding="utf-8"))
    return found


def add_examples(document: dict[str, Any]) -> None:
    """Put into an OpenAPI document what each route replies when all is well."""
    for route, example in read_examples().items():
        method, path = route.split(" ", 1)
        replies = document["paths"][path][method.lower()]["responses"]
        replies[min(replies)]["content"]["application/json"]["example"] = example
