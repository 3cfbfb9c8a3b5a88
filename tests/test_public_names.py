"""The public face: which names there are, that each is documented, and how errors are related."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

import ibid
from ibid import errors

PACKAGE: Final = Path(__file__).parent.parent / "src" / "ibid"
MODULES: Final = sorted(PACKAGE.rglob("*.py"))

FACE: Final = {
    "open", "Libraries", "Library", "OWNER",
    "Answer", "AnswerStatus", "Block", "BlockKind", "Citation", "Document", "DocumentInfo", "Hit",
    "IngestReport", "Passage", "Query", "SearchResult", "Verdict",
    "IbidError",
    "InputError", "DuplicateDocument", "EmptyDocument", "UnsupportedFormat", "UnreadableDocument",
    "GoneDocument",
    "BadQuery", "BadSetting", "UnknownAnswer", "UnknownDocument", "UnknownSource",
    "LibraryError", "LibraryNotFound", "LibraryLocked", "LibraryUnreachable",
    "EmbedderMismatch", "FormatTooNew", "Corrupt",
    "ModelError", "ModelUnavailable", "ModelTimeout", "MalformedOutput",
    "AccessDenied", "EvaluationError",
}  # fmt: skip


def test_the_face_is_these_names() -> None:
    assert set(ibid.__all__) == FACE
    assert len(ibid.__all__) == len(FACE)
    for name in FACE:
        assert getattr(ibid, name).__doc__, f"ibid.{name} is not documented"
    with pytest.raises(AttributeError, match="nosuch"):
        ibid.nosuch  # noqa: B018 - the access is what is tested


def test_the_face_and_its_types_agree() -> None:
    """What type checkers are told in ibid/__init__.py is what is loaded."""
    tree = ast.parse((PACKAGE / "__init__.py").read_text())
    told = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.level == 0
        for alias in node.names
    }
    assert FACE - set(errors.__all__) - {"open"} <= told


def test_importing_ibid_loads_next_to_nothing() -> None:
    code = "import ibid, sys; print([m for m in sys.modules if m.startswith('ibid.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "['ibid.errors', 'ibid.version']\n"


def find_public(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    """The functions and classes of a module and the methods of its classes, save private ones."""
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    for node in tree.body:
        if isinstance(node, kinds) and not node.name.startswith("_"):
            yield node.name, node
            for inner in node.body if isinstance(node, ast.ClassDef) else []:
                if isinstance(inner, kinds) and not inner.name.startswith("_"):
                    yield f"{node.name}.{inner.name}", inner


def is_obvious(node: ast.AST) -> bool:
    """A member of a protocol without a body: the protocol's own docstring tells what it is."""
    body = getattr(node, "body", [])
    return len(body) == 1 and isinstance(body[0], ast.Expr) and ast.unparse(body[0]) == "..."


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_every_public_name_is_documented(path: Path) -> None:
    tree = ast.parse(path.read_text())
    assert ast.get_docstring(tree)
    silent = [
        name
        for name, node in find_public(tree)
        if not is_obvious(node)
        and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and not ast.get_docstring(node)
    ]
    assert not silent


# -- errors -------------------------------------------------------------------------------------


def draw_tree() -> dict[str, str]:
    """Each error in the drawing of errors.py with the one it hangs from."""
    parents: dict[str, str] = {}
    branch = "IbidError"
    for line in (errors.__doc__ or "").splitlines():
        names = re.findall(r"\b[A-Z]\w+[a-z]\b", line.split("(")[0])
        if re.match(r"\s*[├└]── ", line):
            branch = names[0]
            parents[branch] = "IbidError"
        elif "──" in line:
            parents |= dict.fromkeys(names, branch)
    return parents


def test_errors_are_as_they_are_drawn() -> None:
    classes = {
        name: kind
        for name, kind in inspect.getmembers(errors, inspect.isclass)
        if issubclass(kind, errors.IbidError)
    }
    found = {
        name: next(base.__name__ for base in kind.__bases__ if issubclass(base, errors.IbidError))
        for name, kind in classes.items()
        if kind is not errors.IbidError
    }
    assert found == draw_tree()
    assert set(classes) == set(errors.__all__) - {"EXIT_CODES", "HTTP_STATUSES"}
    assert issubclass(errors.InputError, ValueError)


def test_an_error_says_what_and_what_next() -> None:
    error = errors.BadQuery("what", hint="what next")
    assert (str(error), error.message, error.hint) == ("what; what next", "what", "what next")
    assert str(errors.BadQuery("what")) == "what"
