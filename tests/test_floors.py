"""The floors of the house, read from the imports: every arrow points down."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "src" / "ibid"

FLOORS = [
    {"record", "records", "errors", "version", "language"},
    {"protocols", "plain"},
    {"wire"},
    {
        "sources",
        "reading",
        "chunking",
        "embedding",
        "index",
        "ranking",
        "answering",
        "evaluation",
        "testing",
    },
    {"flows"},
    {
        "inspection",
        "keys",
        "libraries",
        "library",
        "logbook",
        "crew",
        "measuring",
        "openers",
        "parts",
        "settings",
        "shapes",
        "shelf",
        "upkeep",
        "uploads",
    },
    {"service"},
    {"cli"},
    {"__main__"},
]
"""From the ground up; rooms of one floor do not know each other, save those of composition."""

COMPOSITION = FLOORS[5]


def floor_of(room: str) -> int:
    found = [number for number, rooms in enumerate(FLOORS) if room in rooms]
    assert found, f"the room {room} stands on no floor: give it one in test_floors.py"
    return found[0]


def room_of(module: str) -> str:
    return module.removeprefix("ibid").removeprefix(".").split(".")[0]


def imported_rooms(path: Path) -> set[str]:
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            rooms |= {room_of(alias.name) for alias in node.names if alias.name.startswith("ibid")}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ibid"):
            assert node.module is not None
            if node.module == "ibid":
                rooms |= {alias.name for alias in node.names}
            else:
                rooms.add(room_of(node.module))
        assert not (isinstance(node, ast.ImportFrom) and node.level), f"relative import in {path}"
    return rooms


MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_down(path: Path) -> None:
    room = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    for other in imported_rooms(path) - {room}:
        if {room, other} <= COMPOSITION or {room, other} <= FLOORS[0]:
            continue
        assert floor_of(other) < floor_of(room), f"{path.name}: {room} may not import {other}"


def test_every_room_is_documented() -> None:
    for path in PACKAGE.rglob("*.py"):
        assert ast.get_docstring(ast.parse(path.read_text())), f"{path} does not say what it is for"


def walk_top(module: ast.Module) -> Iterator[ast.stmt]:
    """The statements of a module, also those for its types; what runs later makes no circle."""
    for node in module.body:
        yield node
        if isinstance(node, ast.If):
            yield from node.body


def test_no_import_circle() -> None:
    names = {
        path: ".".join(("ibid", *path.relative_to(PACKAGE).with_suffix("").parts))
        for path in MODULES
    }
    graph: dict[str, set[str]] = {}
    for path, name in names.items():
        targets = set()
        for node in walk_top(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module:
                targets |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
        graph[name] = targets & set(names.values())
    done: set[str] = set()

    def walk(name: str, above: tuple[str, ...]) -> None:
        assert name not in above, f"import circle: {' > '.join((*above, name))}"
        if name not in done:
            for target in graph[name]:
                walk(target, (*above, name))
            done.add(name)

    for name in graph:
        walk(name, ())
