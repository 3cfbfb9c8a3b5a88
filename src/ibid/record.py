"""Records: frozen, slotted dataclasses that are quick to define.

`dataclass(frozen=True, slots=True)` compiles six methods for each class. A call of the command line
loads more than a hundred classes, and that took a sixth of all its time. All but `__init__` can be
the same for every class, so here one method is compiled, and a class takes a third as long.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from operator import attrgetter
from typing import Any, Final, TypeVar, dataclass_transform

T = TypeVar("T")

_SET: Final = object.__setattr__


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(cls: type[T]) -> type[T]:
    """The class as `dataclass(frozen=True, slots=True)` makes it, to all that looks at it.

    Fields are given by place or by name; `default`, `default_factory`, `repr` and `compare` of
    `field` count, and `__post_init__` is called where there is one.
    """
    made = dataclass(init=False, repr=False, eq=False, slots=True)(cls)
    declared = fields(made)  # type: ignore[arg-type]  # mypy does not see that it is a dataclass
    compared = _read(tuple(one.name for one in declared if one.compare))
    methods: dict[str, Callable[..., Any]] = {
        "__init__": _compile_init(declared, checks=hasattr(made, "__post_init__")),
        "__repr__": _make_repr(tuple(one.name for one in declared if one.repr)),
        "__eq__": _make_eq(compared),
        "__hash__": lambda self: hash(compared(self)),
        "__setattr__": _refuse_setting,
        "__delattr__": _refuse_deleting,
        "__getstate__": _get_state,
        "__setstate__": _set_state,
    }
    for name, method in methods.items():
        if cls.__dict__.get(name) is None:
            setattr(made, name, method)
    return made


def _compile_init(declared: tuple[Field[Any], ...], *, checks: bool) -> Callable[..., None]:
    """The `__init__` of a class: the one method that must know the names of its fields."""
    given, sets = [], []
    scope: dict[str, Any] = {"_set": _SET, "_missing": MISSING}
    for one in declared:
        value = name = one.name
        if one.default is not MISSING:
            scope[f"_{name}"] = one.default
            given.append(f"{name}=_{name}")
        elif one.default_factory is not MISSING:
            scope[f"_{name}"] = one.default_factory
            given.append(f"{name}=_missing")
            value = f"_{name}() if {name} is _missing else {name}"
        else:
            given.append(name)
        sets.append(f"_set(self, {name!r}, {value})")
    body = [*sets, "self.__post_init__()"] if checks else sets
    exec(f"def __init__({', '.join(['self', *given])}):\n " + "\n ".join(body or ["pass"]), scope)
    init: Callable[..., None] = scope["__init__"]
    init.__annotations__ = {one.name: one.type for one in declared} | {"return": None}
    return init


def _read(names: tuple[str, ...]) -> Callable[[Any], Any]:
    """What gives the values of these attributes as a tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda self: tuple(getattr(self, name) for name in names)


def _make_eq(compared: Callable[[Any], Any]) -> Callable[[Any, object], Any]:
    def equals(self: Any, other: object) -> Any:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return compared(self) == compared(other)

    return equals


def _make_repr(names: tuple[str, ...]) -> Callable[[Any], str]:
    def describe(self: Any) -> str:
        told = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__qualname__}({told})"

    return describe


def _refuse_setting(self: object, name: str, value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_deleting(self: object, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _get_state(self: Any) -> list[Any]:
    return [getattr(self, one.name) for one in fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for one, value in zip(fields(self), state, strict=True):
        _SET(self, one.name, value)
