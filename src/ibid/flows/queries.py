"""What a caller asks: checked for its kinds before anything is done with it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ibid.errors import BadQuery
from ibid.flows.options import hold_principals
from ibid.records import Owner, Query


def make_query(
    text: str,
    principals: Iterable[str] | Owner = (),
    filter: str | None = None,
    *,
    version: int | None = None,
    history: Sequence[str] = (),
) -> Query:
    """The query of a call. Raises BadQuery as `check_query` does, and for one text as history."""
    if isinstance(history, str):
        raise BadQuery(
            "the history is one text, not a sequence of them",
            hint="give the questions and answers before in turns, as a list",
        )
    held = hold_principals(principals)
    return check_query(Query(text, held, filter, version=version, history=tuple(history)))


def check_query(query: Query) -> Query:
    """The same query, whose parts are of the kinds that they are declared as. Raises BadQuery."""
    _check_text("the question", query.text)
    if query.filter is not None:
        _check_text("the filter", query.filter)
    if query.version is not None:
        check_count("the version", query.version)
    for turn in query.history:
        _check_text("a turn of the history", turn)
    if not isinstance(query.principals, Owner):
        hold_principals(query.principals)
    return query


def check_count(name: str, value: object) -> None:
    """Nothing, where it is a whole number, of whatever library. Raises BadQuery."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise BadQuery(f"{name} is {value!r}", hint="give a whole number")


def _check_text(name: str, value: object) -> None:
    if not isinstance(value, str):
        raise BadQuery(f"{name} is {value!r}", hint="give a text")
