"""A library as plain lists: what an index that was changed at random must agree with."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from typing import Literal

from ibid.protocols import Change, RemoveDocument, SetMetadata
from ibid.records import OWNER, Principals
from ibid.testing.index_parts import Traits, make_document, put


@dataclass(frozen=True, slots=True)
class Step:
    """Something that may be done: what, to which document, and what is said of it."""

    act: Literal["put", "set", "move", "remove"]
    id: str
    target: str
    texts: tuple[str, ...]
    allow: frozenset[str] | None
    archived: bool
    team: str | None
    opens: bool


@dataclass(frozen=True, slots=True)
class State:
    """What a document is from `version` on, until `until`; its text came in at `place`."""

    id: str
    archived: bool
    team: str | None
    place: int
    texts: tuple[str, ...]
    version: int
    until: int | None = None

    def lives_at(self, version: int) -> bool:
        """Whether a version holds it."""
        return self.version <= version and (self.until is None or version < self.until)


@dataclass(slots=True)
class Life:
    """A document from its creation to its removal; who may see it is said for all of it."""

    allow: frozenset[str] | None
    states: list[State] = field(default_factory=list)

    @property
    def live(self) -> State | None:
        """What it is now; None after its removal."""
        return self.states[-1] if self.states[-1].until is None else None

    def is_open_to(self, principals: Principals) -> bool:
        """Whether a caller may see it, at any version."""
        return principals is OWNER or self.allow is None or bool(self.allow & principals)


class Model:
    """The documents of a library, with every one that it ever held."""

    def __init__(self, version: int) -> None:
        self.version = version
        self._lives: list[Life] = []
        self._last: dict[str, Life] = {}
        self._places = itertools.count()

    def commit(self, steps: list[Step]) -> list[Change]:
        """The changes that these steps are, made here as one version; none of what can't be."""
        changes = [change for step in steps if (change := self._do(step)) is not None]
        self.version += bool(changes)
        return changes

    def hold(self, version: int, principals: Principals) -> list[State]:
        """What a caller may see of a version, in the order of insertion."""
        found = [
            state
            for life in self._lives
            for state in life.states
            if state.lives_at(version) and life.is_open_to(principals)
        ]
        return sorted(found, key=lambda state: state.place)

    def _do(self, step: Step) -> Change | None:
        live = self._find_live(step.id)
        if step.act == "put":
            return self._put(step, live)
        if live is None:
            return None
        if step.act == "remove":
            self._end(live)
            return RemoveDocument(step.id)
        return self._set(step, live)

    def _find_live(self, name: str) -> Life | None:
        last = self._last.get(name)
        return last if last is not None and last.live is not None and last.live.id == name else None

    def _put(self, step: Step, live: Life | None) -> Change:
        """A document that comes back is for whom it was, unless something is said of it."""
        allow, before = step.allow, self._last.get(step.id)
        if live is not None:
            self._end(live)
        else:
            if allow is None and not step.opens and before is not None:
                allow = before.allow
            live = Life(allow)
            self._lives.append(live)
        live.allow = allow
        self._begin(live, step, step.id, next(self._places), step.texts)
        return replace(put(step.id, *step.texts, **tell_traits(step)), opens=step.opens)

    def _set(self, step: Step, life: Life) -> Change | None:
        name = step.target if step.act == "move" else step.id
        if name != step.id and self._find_live(name) is not None:
            return None
        now = life.states[-1]
        self._end(life)
        life.allow = step.allow
        self._begin(life, step, name, now.place, now.texts)
        return SetMetadata(step.id, make_document(name, *now.texts, **tell_traits(step)), {})

    def _begin(self, life: Life, step: Step, name: str, place: int, texts: tuple[str, ...]) -> None:
        life.states.append(
            State(name, step.archived, step.team, place, texts, version=self.version + 1)
        )
        self._last[name] = life
        for past in self._lives:
            bore = any(state.id == name for state in past.states)
            if bore and past is not life and past.live is None and life.allow is not None:
                past.allow = life.allow if past.allow is None else past.allow & life.allow

    def _end(self, life: Life) -> None:
        life.states[-1] = replace(life.states[-1], until=self.version + 1)


def tell_traits(step: Step) -> Traits:
    """What a step says of a document."""
    return {
        "allow": step.allow,
        "archived": step.archived,
        "title": f"Title of {step.id}",
        "tags": {} if step.team is None else {"team": step.team},
    }
