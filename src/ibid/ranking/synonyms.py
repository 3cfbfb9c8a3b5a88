"""Synonyms: words of a library that stand for each other, and the questions they make."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from ibid.errors import BadSetting
from ibid.language.analyzer import analyze

MOST_WORDS: Final = 6
"""Of one entry."""

Stems = tuple[tuple[str, ...], ...]

_WORD: Final = re.compile(r"[^\W_](?:[\w]|[-'’./](?=\w))*")


@dataclass(frozen=True, slots=True)
class Synonyms:
    """For each word or phrase, in small letters, the others that it is also searched as."""

    entries: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def rewrite(self, question: str, language: str | None = None) -> str | None:
        """The question in the words of the file; None where it has none of them.

        A phrase is found in any inflected form that the language's stemmer knows, the longest one
        first. It gives way to all that stands for it, since it is searched for itself as well.
        """
        known = {self._stem(phrase, language): others for phrase, others in self.entries.items()}
        words = list(_WORD.finditer(question))
        stems = [tuple(analyze(word[0], language)) for word in words]
        pieces: list[str] = []
        place = end = 0
        while place < len(words):
            for length in range(min(MOST_WORDS, len(words) - place), 0, -1):
                others = known.get(tuple(stems[place : place + length]))
                if others:
                    pieces += [question[end : words[place].start()], " ".join(others)]
                    place += length
                    end = words[place - 1].end()
                    break
            else:
                place += 1
        return "".join([*pieces, question[end:]]) if pieces else None

    def _stem(self, phrase: str, language: str | None) -> Stems:
        return tuple(tuple(analyze(word, language)) for word in _WORD.findall(phrase))


def parse_synonyms(text: str, where: str) -> Synonyms:
    """The synonyms of a file: one entry a line, `#` begins a comment.

    `holiday, vacation, leave` stand for each other; `PTO => paid time off, leave` says what the
    left side is also searched as, and nothing of the right one. Raises BadSetting, naming `where`
    and the line.
    """
    entries: dict[str, dict[str, None]] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        entry = line.partition("#")[0].strip()
        if not entry:
            continue
        left, arrow, right = entry.partition("=>")
        names, others = _split(left), _split(right)
        if not names or (not others if arrow else len(names) < 2):
            _refuse(where, number, "names nothing that it stands for")
        if any(len(_WORD.findall(name)) > MOST_WORDS for name in names):
            _refuse(where, number, f"has a phrase of more than {MOST_WORDS} words")
        for name in names:
            known = entries.setdefault(name.casefold(), {})
            known |= dict.fromkeys(others or [other for other in names if other != name])
    return Synonyms({name: tuple(others) for name, others in entries.items()})


def _split(side: str) -> list[str]:
    return [name for part in side.split(",") if (name := " ".join(part.split()))]


def _refuse(where: str, number: int, reason: str) -> None:
    raise BadSetting(
        f"{where}, line {number} {reason}",
        hint="write `holiday, vacation` or `PTO => paid time off`",
    )
