"""The tree of errors: each message says what, where, and what to do next.

    IbidError
    ├── InputError (also a ValueError)
    │   ├── DuplicateDocument   EmptyDocument   UnsupportedFormat   UnreadableDocument
    │   ├── GoneDocument
    │   └── BadQuery   BadSetting   UnknownAnswer   UnknownDocument   UnknownSource
    ├── LibraryError
    │   ├── LibraryNotFound   LibraryLocked   LibraryUnreachable
    │   └── EmbedderMismatch   FormatTooNew   Corrupt
    ├── ModelError
    │   └── ModelUnavailable   ModelTimeout   MalformedOutput
    ├── AccessDenied
    └── EvaluationError

How an error leaves the process is one table each: `EXIT_CODES`, `HTTP_STATUSES`.
"""

from __future__ import annotations

from typing import Final

__all__ = [
    "EXIT_CODES",
    "HTTP_STATUSES",
    "AccessDenied",
    "BadQuery",
    "BadSetting",
    "Corrupt",
    "DuplicateDocument",
    "EmbedderMismatch",
    "EmptyDocument",
    "EvaluationError",
    "FormatTooNew",
    "GoneDocument",
    "IbidError",
    "InputError",
    "LibraryError",
    "LibraryLocked",
    "LibraryNotFound",
    "LibraryUnreachable",
    "MalformedOutput",
    "ModelError",
    "ModelTimeout",
    "ModelUnavailable",
    "UnknownAnswer",
    "UnknownDocument",
    "UnknownSource",
    "UnreadableDocument",
    "UnsupportedFormat",
]


class IbidError(Exception):
    """Anything that ibid reports: `message` says what and where, `hint` what to do next."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(f"{message}; {hint}" if hint else message)
        self.message = message
        self.hint = hint

    def __reduce__(self) -> tuple[object, ...]:
        """So that an error stays itself on its way from one process to another."""
        return _make_again, (type(self), self.args, self.__dict__)


def _make_again(
    kind: type[IbidError], args: tuple[object, ...], said: dict[str, object]
) -> IbidError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(said)
    return error


class InputError(IbidError, ValueError):
    """What was given can't be used as it is."""


class DuplicateDocument(InputError):
    """A document with this id exists: creating never overwrites."""


class EmptyDocument(InputError):
    """A document without an id, or without any text."""


class UnsupportedFormat(InputError):
    """No reader knows this kind of file."""


class UnreadableDocument(InputError):
    """A file of a known kind that can't be read: broken, protected, too large, or too slow."""


class GoneDocument(InputError):
    """A file that its source says is no more, or may not be read any more."""


class BadQuery(InputError):
    """A question, filter or option of a search that can't be understood."""


class BadSetting(InputError):
    """A setting with an unknown name or a value out of its range."""


class UnknownAnswer(InputError):
    """No answer with this id in the log, or none that the caller may see."""


class UnknownDocument(InputError):
    """No document with this id, or none that the caller may see."""


class UnknownSource(InputError):
    """No source with this name in the library."""


class LibraryError(IbidError):
    """The library as a whole can't be used as asked."""


class LibraryNotFound(LibraryError):
    """There is no library at this place."""


class LibraryLocked(LibraryError):
    """Another process is writing, and did not finish within the time to wait."""


class LibraryUnreachable(LibraryError):
    """The database of the library can't be reached, or went away."""


class EmbedderMismatch(LibraryError):
    """The library was made with another embedder, analyzer or chunking than it is opened with."""


class FormatTooNew(LibraryError):
    """The library was written by a newer ibid."""


class Corrupt(LibraryError):
    """A file of the library is missing or damaged."""


class ModelError(IbidError):
    """A model did not do its part."""


class ModelUnavailable(ModelError):
    """A model that isn't installed, can't be reached, or may not be reached (offline)."""


class ModelTimeout(ModelError):
    """A model that did not answer within its time."""


class MalformedOutput(ModelError):
    """A model whose answer can't be understood."""


class AccessDenied(IbidError):
    """The caller may not do this."""


class EvaluationError(IbidError):
    """An evaluation that can't be carried out as asked."""


EXIT_CODES: Final[dict[type[IbidError], int]] = {
    BadQuery: 2,
    BadSetting: 2,
    LibraryUnreachable: 4,
    ModelUnavailable: 4,
    ModelTimeout: 4,
    IbidError: 1,
}
"""Exit code by kind of error; the nearest class in the tree counts."""

HTTP_STATUSES: Final[dict[type[IbidError], int]] = {
    AccessDenied: 403,
    BadQuery: 400,
    BadSetting: 400,
    DuplicateDocument: 409,
    EmptyDocument: 422,
    EvaluationError: 422,
    UnknownAnswer: 404,
    UnknownDocument: 404,
    UnknownSource: 404,
    UnreadableDocument: 422,
    UnsupportedFormat: 415,
    InputError: 422,
    IbidError: 503,
}
"""HTTP status by kind of error, likewise: what the caller can't mend is 503."""
