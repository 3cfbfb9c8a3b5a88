"""The part of the index suite about access: whatever happens, nobody finds what isn't theirs.

Any changes are made, and any caller asks through any filter at any version. A plain model says
what they may see; what they find must be the owner's ranking without all else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from ibid.errors import UnknownDocument
from ibid.protocols import Index, Scope, Scored, Snapshot
from ibid.records import OWNER, Principals
from ibid.testing.index_model import Model, State, Step
from ibid.testing.index_parts import ALL, EMBEDDER, commit

IDS: Final = ("a.md", "b.md", "c/d.md", "e")
PRINCIPALS: Final = ("user:ann", "group:hr", "group:it")
WORDS: Final = ("plan", "tea", "tax", "rain")
EVERY: Final = 1_000
"""More than there are passages."""

FILTERS: Final[dict[str | None, Callable[[State], bool]]] = {
    None: lambda state: True,
    'tag.team = "x"': lambda state: state.team == "x",
    'not tag.team = "x"': lambda state: state.team != "x",
    "tag.team is null or id like 'c/%'": lambda s: s.team is None or s.id.startswith("c/"),
    "archived = true and id in ('a.md', 'e')": lambda s: s.archived and s.id in ("a.md", "e"),
}

_SETS = st.frozensets(st.sampled_from(PRINCIPALS), max_size=2)
_TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
_STEPS = st.builds(
    Step,
    act=st.sampled_from(["put", "put", "put", "set", "move", "remove"]),
    id=st.sampled_from(IDS),
    target=st.sampled_from(IDS),
    texts=st.lists(_TEXTS, min_size=1, max_size=3).map(tuple),
    allow=st.none() | _SETS,
    archived=st.sampled_from([False, False, True]),
    team=st.sampled_from([None, "x", "y"]),
    opens=st.booleans(),
)


@dataclass(frozen=True, slots=True)
class Request:
    """Who asks for what, so many versions back."""

    principals: Principals
    filter: str | None
    include_archived: bool
    terms: str
    k: int
    back: int

    def lets_through(self, state: State) -> bool:
        """Whether filter and flags pass a document."""
        return FILTERS[self.filter](state) and (self.include_archived or not state.archived)


_REQUESTS = st.builds(
    Request,
    principals=st.just(OWNER) | _SETS,
    filter=st.sampled_from(list(FILTERS)),
    include_archived=st.booleans(),
    terms=_TEXTS,
    k=st.integers(1, 8),
    back=st.integers(0, 3),
)


class IndexAccessTests:
    """What a caller finds, lists and opens is theirs, all of it, and in its order."""

    @settings(
        max_examples=40,
        phases=(Phase.generate,),  # to shrink what takes a library each time would take minutes
        deadline=None,
        suppress_health_check=[
            HealthCheck.function_scoped_fixture,
            HealthCheck.too_slow,
            HealthCheck.differing_executors,  # one class for each engine; nothing is replayed
        ],
    )
    @given(
        commits=st.lists(st.lists(_STEPS, min_size=1, max_size=4), min_size=1, max_size=6),
        requests=st.lists(_REQUESTS, min_size=1, max_size=6),
    )
    def test_nobody_finds_what_is_not_theirs(
        self,
        open_index: Callable[[Path], Index],
        tmp_path_factory: pytest.TempPathFactory,
        commits: list[list[Step]],
        requests: list[Request],
    ) -> None:
        """After any changes, for any caller and filter, at any version; and k where k exist."""
        index = open_index(tmp_path_factory.mktemp("access") / "library")
        first = index.snapshot().version
        model = Model(first)
        held = index.snapshot()
        for steps in commits:
            assert commit(index, *model.commit(steps)) == model.version
        for request in requests:
            version = max(model.version - request.back, first)
            check(index.snapshot(version), model, version, request)
        assert held.documents(ALL) == []
        index.close()


def check(snapshot: Snapshot, model: Model, version: int, request: Request) -> None:
    """Hold everything that a snapshot tells a caller against the model."""
    scope = Scope(request.principals, request.filter, request.include_archived)
    everything = model.hold(version, OWNER)
    theirs = model.hold(version, request.principals)
    passing = {state.id for state in theirs if request.lets_through(state)}
    terms, vector = request.terms, EMBEDDER.embed([request.terms], kind="query")[0]

    wanted = set(terms.split())
    matching = [(s.id, text) for s in everything for text in s.texts if wanted & {*text.split()}]
    full = snapshot.search_lexical(terms, EVERY, ALL)
    check_run(snapshot, full, matching)
    found = snapshot.search_lexical(terms, request.k, scope)
    check_part(snapshot, found, full, passing, request.k)

    pairs = [(state.id, text) for state in everything for text in state.texts]
    full = snapshot.search_dense(vector, EVERY, ALL)
    check_run(snapshot, full, pairs)
    check_cosines(snapshot, full, terms)
    found = snapshot.search_dense(vector, request.k, scope)
    check_part(snapshot, found, full, passing, request.k)

    listed = [info.id for info in snapshot.documents(scope)]
    assert listed == [state.id for state in theirs if state.id in passing]
    opened = Scope(request.principals, include_archived=True)
    for id in IDS:
        check_document(snapshot, id, opened, [state for state in theirs if state.id == id])


def check_run(
    snapshot: Snapshot, found: Sequence[Scored], expected: Sequence[tuple[str, str]]
) -> None:
    """A run holds exactly these passages, best first, equal scores in the order of rows."""
    assert sorted(name_passages(snapshot, found)) == sorted(expected)
    assert [(-one.score, one.row) for one in found] == sorted((-o.score, o.row) for o in found)


def check_part(
    snapshot: Snapshot,
    found: Sequence[Scored],
    full: Sequence[Scored],
    passing: set[str],
    k: int,
) -> None:
    """A run is the first k of the owner's that pass."""
    named = zip(full, name_passages(snapshot, full), strict=True)
    expected = [one for one, (id, _) in named if id in passing][:k]
    assert [one.row for one in found] == [one.row for one in expected]
    np.testing.assert_allclose([o.score for o in found], [o.score for o in expected], atol=1e-5)


def check_cosines(snapshot: Snapshot, found: Sequence[Scored], query: str) -> None:
    """The scores are the cosines of the texts, but for what they are rounded by."""
    texts = [text for _, text in name_passages(snapshot, found)]
    vectors = EMBEDDER.embed([query, *texts], kind="passage")
    np.testing.assert_allclose([one.score for one in found], vectors[1:] @ vectors[0], atol=2e-3)


def check_document(snapshot: Snapshot, id: str, scope: Scope, states: Sequence[State]) -> None:
    """A document is there with its passages, or as absent as one that never was."""
    if states:
        (state,) = states
        assert snapshot.document(id, scope).document.text == "\n\n".join(state.texts)
        assert [p.text for p in snapshot.document_passages(id, scope)] == [*state.texts]
        return
    for look in (snapshot.document, snapshot.document_passages):
        with pytest.raises(UnknownDocument) as hidden:
            look(id, scope)
        with pytest.raises(UnknownDocument) as absent:
            look("absent", scope)
        assert hidden.value.message == absent.value.message.replace("absent", id)
        assert hidden.value.hint == absent.value.hint


def name_passages(snapshot: Snapshot, found: Sequence[Scored]) -> list[tuple[str, str]]:
    """The document's id and the text of each passage that was found."""
    passages = snapshot.passages([one.row for one in found])
    return [(passages[one.row][1].id, passages[one.row][0].text) for one in found]
