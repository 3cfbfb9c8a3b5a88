"""What a caller may not see shows nowhere, whatever was done to the library before."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ibid
from conftest import open_hashing, write
from ibid.records import SearchMode
from ibid.shapes import (
    shape_answer,
    shape_document,
    shape_error,
    shape_info,
    shape_passages,
    shape_result,
    shape_source,
)
from ibid.testing.embedders import HashingEmbedder
from postgres_server import locate

SECRETS: Final = ("quokka", "numbat", "dugong", "serval", "margay")
"""The word that each document has for itself, in its id, title, heading, text and tags."""

SYNCED: Final = ("quokka", "numbat")
PRINCIPALS: Final = ("user:ann", "group:hr", "group:it")
QUESTION: Final = "Where does the animal sleep in winter?"
MODES: Final[tuple[SearchMode, ...]] = ("lexical", "dense", "hybrid")


@dataclass(frozen=True, slots=True)
class State:
    """What a document is by the model: who may see it (None: all), and what it became."""

    allow: frozenset[str] | None = None
    archived: bool = False
    live: bool = True

    def is_open_to(self, caller: frozenset[str]) -> bool:
        return self.allow is None or bool(self.allow & caller)


@dataclass(frozen=True, slots=True)
class Step:
    """Something that may be done to a document, if it can be."""

    act: str
    secret: str
    allow: frozenset[str]


SETS = st.frozensets(st.sampled_from(PRINCIPALS), max_size=2)
STEPS = st.builds(
    Step,
    act=st.sampled_from(["restrict", "open", "archive", "revive", "update", "remove", "ingest"]),
    secret=st.sampled_from(SECRETS),
    allow=SETS,
)


def write_text(secret: str, edition: int = 0) -> str:
    return f"The {secret} is an animal. In winter the {secret} will sleep in burrow {edition}."


def make_document(secret: str, edition: int = 0) -> ibid.Document:
    return ibid.Document(
        f"{secret}.md",
        write_text(secret, edition),
        title=f"About the {secret}",
        tags={"kind": secret},
    )


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed library in which all five documents are public, two of them from a folder."""
    place = tmp_path_factory.mktemp("filled")
    (place / "handbook").mkdir()
    for secret in SYNCED:
        text = f"---\ntags: {{kind: {secret}}}\n---\n# About the {secret}\n\n{write_text(secret)}"
        write(place / "handbook", {f"{secret}.md": text})
    with open_hashing(place / "library") as library:
        fill(library, place)
    return place / "library"


def fill(library: ibid.Library, place: Path) -> None:
    library.sync(place / "handbook")
    library.ingest([make_document(secret) for secret in SECRETS if secret not in SYNCED])


@pytest.fixture
def copies(filled: Path, tmp_path: Path) -> Iterator[Path]:
    """An empty folder for copies of it."""
    yield tmp_path
    shutil.rmtree(tmp_path)


def do(library: ibid.Library, step: Step, state: State, edition: int) -> State:
    """The state after a step was done; as it was where the step can't be done."""
    id = f"{step.secret}.md"
    if step.act == "ingest":
        if not state.live:
            library.ingest(make_document(step.secret, edition))
            return State(state.allow)
        return state
    if not state.live:
        return state
    match step.act:
        case "restrict":
            library.set(id, allow=step.allow)
            return replace(state, allow=step.allow)
        case "open":
            library.set(id, public=True)
            return replace(state, allow=None)
        case "archive" | "revive":
            library.set(id, archived=step.act == "archive")
            return replace(state, archived=step.act == "archive")
        case "update":
            library.update(make_document(step.secret, edition))
            return state
        case _:
            library.remove(id)
            return replace(state, live=False)


PROFILE = settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
GIVEN: Final = {
    "steps": st.lists(STEPS, max_size=8),
    "caller": SETS,
    "back": st.integers(0, 9),
    "k": st.integers(1, 3),
}


@PROFILE
@given(**GIVEN)
def test_nothing_of_a_hidden_document_shows(filled: Path, copies: Path, **case: Any) -> None:
    place = copies / str(len(list(copies.iterdir())))
    shutil.copytree(filled, place)
    with open_hashing(place) as library:
        check_hidden(library, **case)


@settings(PROFILE, max_examples=10)
@given(**GIVEN)
def test_nor_does_it_in_postgresql(
    filled: Path, postgres: str, tmp_path: Path, **case: Any
) -> None:
    number = len(list(tmp_path.iterdir()))
    (tmp_path / str(number)).mkdir()
    address = locate(postgres, tmp_path / str(number))
    with ibid.open(address, embedder=HashingEmbedder()) as library:
        fill(library, filled.parent)
        check_hidden(library, **case)


def check_hidden(
    library: ibid.Library, steps: list[Step], caller: frozenset[str], back: int, k: int
) -> None:
    """After these steps, what a caller may not see is told by nothing that is told to them."""
    states = dict.fromkeys(SECRETS, State())
    for edition, step in enumerate(steps, start=1):
        states[step.secret] = do(library, step, states[step.secret], edition)
    hidden = {s for s, state in states.items() if not state.is_open_to(caller)}
    visible = [s for s, state in states.items() if state.live and s not in hidden]
    found = [s for s in visible if not states[s].archived]
    for mode in MODES:
        result = library.run_search(ibid.Query(QUESTION, caller), mode=mode, k=k)
        assert len(result.hits) == min(k, len(found))
        assert {hit.document_id for hit in result.hits} <= {f"{s}.md" for s in found}
    assert {i.id for i in library.documents(caller)} == {f"{s}.md" for s in visible}
    status = library.status(caller)
    assert (status.documents, status.passages) == (len(visible), len(visible))
    assert status.restricted_documents is None
    assert sum(source.documents for source in library.sources(caller)) <= len(visible)
    told = json.dumps(tell_everything(library, caller, max(library.status().version - back, 0)))
    assert [secret for secret in hidden if secret in told] == []
    for secret in hidden:
        assert_absent(library, secret, caller)


def tell_everything(library: ibid.Library, caller: frozenset[str], version: int) -> list[Any]:
    """All that the reading verbs print for a caller, of today and of a version before."""
    told: list[Any] = []
    for mode in MODES:
        for wanted in (None, version):
            query = ibid.Query(QUESTION, caller, include_archived=True, version=wanted)
            told.append(shape_result(library.run_search(query, mode=mode, k=50), explain=True))
            told.append(shape_answer(library.run_ask(query, mode=mode), explain=True))
    for info in library.documents(caller):
        told.append(shape_info(info))
        told.append(shape_document(library.document(info.id, caller)))
        told.append(shape_passages(library.passages(info.id, caller)))
    told += map(shape_source, library.sources(caller))
    for info_filter in ('title like "About%"', "tag.kind is not null"):
        told += [shape_info(info) for info in library.documents(caller, filter=info_filter)]
    return told


def assert_absent(library: ibid.Library, secret: str, caller: frozenset[str]) -> None:
    """Asking for a hidden document is answered as asking for one that never was, or near it."""
    for look in (library.document, library.describe, library.passages):
        errors = []
        for id in (f"{secret}.md", "absent.md", f"{secret[:-1]}.md"):
            with pytest.raises(ibid.UnknownDocument) as refused:
                look(id, caller)
            errors.append(json.dumps(shape_error(refused.value)).replace(id, "it"))
        assert errors[0] == errors[1] == errors[2]
