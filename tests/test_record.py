"""Records behave as the frozen, slotted dataclasses that they stand for."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from dataclasses import FrozenInstanceError, dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibid.record import record


@record
class Place:
    """Where something is."""

    name: str
    page: int | None = None
    tags: tuple[str, ...] = field(default_factory=tuple)
    secret: str = field(default="", repr=False)
    seen: float = field(default=0.0, compare=False)

    @property
    def length(self) -> int:
        return len(self.name)


@dataclass(frozen=True, slots=True)
class Standard:
    """The same by the standard library."""

    name: str
    page: int | None = None
    tags: tuple[str, ...] = field(default_factory=tuple)
    secret: str = field(default="", repr=False)
    seen: float = field(default=0.0, compare=False)


@record
class Checked:
    """One that looks at what it is given, and has its own words for itself."""

    low: int

    def __post_init__(self) -> None:
        if self.low < 0:
            raise ValueError(self.low)

    def __repr__(self) -> str:
        return f"<{self.low}>"


@record
class Empty:
    """One without fields."""


VALUES = st.tuples(
    st.text(max_size=3),
    st.none() | st.integers(0, 2),
    st.lists(st.sampled_from("ab"), max_size=2).map(tuple),
    st.sampled_from(["", "s"]),
    st.sampled_from([0.0, 1.0]),
)


@given(VALUES, VALUES)
def test_a_record_is_what_the_standard_library_makes(one: Any, other: Any) -> None:
    place, standard = Place(*one), Standard(*one)
    assert repr(place) == repr(standard).replace("Standard", "Place")
    assert dataclasses.asdict(place) == dataclasses.asdict(standard)
    assert dataclasses.astuple(place) == one
    assert (place == Place(*other)) == (standard == Standard(*other))
    assert (hash(place) == hash(Place(*other))) >= (place == Place(*other))
    for twin in (copy.deepcopy(place), pickle.loads(pickle.dumps(place))):
        assert dataclasses.astuple(twin) == one


def test_nothing_of_a_record_changes() -> None:
    place = Place("shelf")
    with pytest.raises(FrozenInstanceError):
        place.page = 3  # type: ignore[misc]  # what is refused
    with pytest.raises(FrozenInstanceError):
        del place.name
    with pytest.raises(FrozenInstanceError):
        place.other = 1  # type: ignore[attr-defined]  # likewise
    assert not hasattr(place, "__dict__")
    assert dataclasses.replace(place, page=3) == Place("shelf", 3)
    other: object = Standard("shelf")
    assert place != other


def test_fields_are_given_by_place_or_by_name() -> None:
    assert Place(name="shelf", page=2) == Place("shelf", 2)
    assert Place("shelf").length == 5
    with pytest.raises(TypeError, match="name"):
        Place()  # type: ignore[call-arg]  # what is refused
    with pytest.raises(TypeError, match="shelves"):
        Place("shelf", shelves=1)  # type: ignore[call-arg]  # likewise
    assert [*inspect.signature(Place).parameters] == [*inspect.signature(Standard).parameters]
    match Place("shelf", 2):
        case Place(name, page):
            assert (name, page) == ("shelf", 2)


def test_what_a_class_says_itself_stays() -> None:
    assert repr(Checked(2)) == "<2>"
    with pytest.raises(ValueError, match="-1"):
        Checked(-1)
    with pytest.raises(ValueError, match="-1"):
        dataclasses.replace(Checked(1), low=-1)
    assert (Empty() == Empty(), repr(Empty()), len({Empty(), Empty()})) == (True, "Empty()", 1)
