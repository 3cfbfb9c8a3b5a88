"""The table of settings that follows from their declarations."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Final, cast, get_args, get_type_hints

from ibid.record import record
from ibid.settings.sections import Limits, Scalar, Settings


@record
class Setting:
    """One setting, as a row of the table."""

    key: str
    type: type
    optional: bool
    default: Scalar
    limits: Limits

    @property
    def variable(self) -> str:
        """Its name in the environment."""
        return "IBID_" + self.key.upper().replace(".", "_")

    @property
    def allowed(self) -> str:
        """What it may be, in words."""
        if self.limits.check is not None:
            words = self.limits.help
        elif self.limits.choices:
            words = f"one of {', '.join(self.limits.choices)}"
        else:
            words = _TYPE_WORDS[self.type]
            if self.limits.low > -math.inf:
                words += f" from {self.limits.low:,}"
            if self.limits.high < math.inf:
                words += f" to {self.limits.high:,}"
        return f"{words}, or none" if self.optional else words


_TYPE_WORDS: Final = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}


def _declare(section: Any, prefix: str = "") -> Iterator[Setting]:
    types = get_type_hints(section)
    for declared in fields(section):
        key, annotation = prefix + declared.name, types[declared.name]
        if is_dataclass(annotation):
            yield from _declare(annotation, f"{key}.")
        if "limits" not in declared.metadata:
            continue
        kinds = get_args(annotation) or (annotation,)
        kind = str if isinstance(kinds[0], str) else kinds[0]  # a Literal's choices are texts
        optional = type(None) in kinds
        default = cast(Scalar, declared.default)
        yield Setting(key, kind, optional, default, declared.metadata["limits"])


SETTINGS: Final[Mapping[str, Setting]] = MappingProxyType({s.key: s for s in _declare(Settings)})
"""Every setting by its key, in the order of the declarations."""


def describe_settings(settings: Settings) -> list[dict[str, Scalar]]:
    """A row for each setting: key, value, origin, variable, default, allowed and help."""
    return [
        {
            "key": key,
            "value": attrgetter(key)(settings),
            "origin": settings.origins.get(key, "default"),
            "variable": setting.variable,
            "default": setting.default,
            "allowed": setting.allowed,
            "help": setting.limits.help,
        }
        for key, setting in SETTINGS.items()
    ]
