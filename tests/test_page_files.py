"""The files of the page: small, plain, from nowhere else, and without a way to run what is read."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest

PAGE = Path(str(files("ibid") / "service" / "page"))
LOOKS = Path(str(files("ibid") / "looks"))
FILES = sorted([*PAGE.iterdir(), *LOOKS.iterdir()])
MODULES = [path for path in FILES if path.suffix == ".js"]
MOST_LINES = 300
ELSEWHERE = re.compile(r"https?://(?!www\.w3\.org/2000/svg)")
MARKUP = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|createContextualFragment"
    r"|\beval\b|new Function|javascript:"
)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_file_is_small_and_asks_nobody_else(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) < MOST_LINES
    assert not ELSEWHERE.search(text)
    assert not MARKUP.search(text)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_a_module_says_what_it_is_for_and_imports_its_neighbours(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.startswith("// ")
    for name in re.findall(r'from "(.+?)"', text):
        assert (PAGE / name).is_file()


def test_modules_make_no_circle() -> None:
    needed = {
        path.name: re.findall(r'from "\./(.+?)"', path.read_text(encoding="utf-8"))
        for path in MODULES
    }

    def walk(name: str, above: tuple[str, ...]) -> None:
        assert name not in above, f"{' > '.join((*above, name))}"
        for other in needed[name]:
            walk(other, (*above, name))

    walk("app.js", ())


def test_every_file_is_used() -> None:
    used = "\n".join(path.read_text(encoding="utf-8") for path in FILES)
    for path in FILES:
        if path.name != "index.html":
            assert f'"{path.name}"' in used or f'"./{path.name}"' in used, path.name
