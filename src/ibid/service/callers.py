"""Callers: who they are, what they see, and where they may write."""

from __future__ import annotations

from dataclasses import dataclass

from ibid.errors import AccessDenied


class Unauthenticated(AccessDenied):
    """The caller is not known."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls: a name for the logs, what they may see and do, and where they may write."""

    name: str
    principals: frozenset[str]
    scopes: frozenset[str]
    prefix: str

    def check_id(self, id: str) -> None:
        """Raise AccessDenied for an id that the caller may not write, whoever else has it."""
        if not id.startswith(self.prefix):
            raise AccessDenied(
                f"you may write documents under {self.prefix!r} only",
                hint=f"name it {self.prefix}…",
            )
