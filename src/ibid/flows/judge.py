"""The way of a judgement: found among those kept, else asked for, and kept by what was judged."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from ibid.errors import EvaluationError, MalformedOutput, ModelTimeout
from ibid.evaluation.judging import (
    Judgement,
    build_judge_prompt,
    list_claims,
    parse_judgement,
)
from ibid.flows.consult import consult
from ibid.protocols import Generator
from ibid.records import Answer, Prompt

JUDGEMENTS_FILE: Final = "judgements.jsonl"
"""The judgements of a library, in its folder: hashes of what was judged, and verdicts; no text."""

TRIES: Final = 2
TIMEOUT_S: Final = 120.0


class Judge:
    """A language model that judges answers, and asks nothing that it was asked before.

    `failed` counts answers that it gave no judgement of: they are in no mean. Without a `cache`,
    judgements are kept for as long as the object lives.
    """

    def __init__(
        self, generator: Generator, *, cache: Path | None = None, timeout_s: float = TIMEOUT_S
    ) -> None:
        self.name = generator.name
        self.failed = 0
        self.prompt_tokens = 0
        self.completion_tokens = 0
        self._generator = generator
        self._timeout_s = timeout_s
        self._cache = cache
        self._kept = _read_kept(cache)

    def judge(self, answer: Answer, expected: Sequence[str] = ()) -> Judgement | None:
        """What the model says of an answer; None, and one more `failed`, where it says nothing that
        can be understood. Raises ModelUnavailable where it can't be asked."""
        prompt = build_judge_prompt(answer, expected)
        key = self._make_key(prompt)
        if key not in self._kept:
            found = self._ask(prompt, len(list_claims(answer)), expected=bool(expected))
            if found is None:
                self.failed += 1
                return None
            self._keep(key, found)
        return self._kept[key]

    def _ask(self, prompt: Prompt, claims: int, *, expected: bool) -> Judgement | None:
        for _ in range(TRIES):
            try:
                reply = consult(self._generator, prompt, timeout_s=self._timeout_s)
                self.prompt_tokens += reply.prompt_tokens
                self.completion_tokens += reply.completion_tokens
                return parse_judgement(reply.text, claims, expected=expected)
            except (MalformedOutput, ModelTimeout):
                continue
        return None

    def _make_key(self, prompt: Prompt) -> str:
        """A hash of all that a judgement depends on: the model, and every word that it is sent."""
        asked = [self.name, self._generator.remote, [asdict(one) for one in prompt.messages]]
        written = json.dumps(asked, ensure_ascii=False)
        return hashlib.blake2b(written.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()

    def _keep(self, key: str, judgement: Judgement) -> None:
        self._kept[key] = judgement
        if self._cache is None:
            return
        line = json.dumps({"key": key, **asdict(judgement)}) + "\n"
        try:
            with open(self._cache, "a", encoding="utf-8", opener=_open_private) as file:
                file.write(line)
        except OSError as error:
            raise EvaluationError(
                f"{self._cache} can't be written: {error}", hint="make room, or check who may write"
            ) from error


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _read_kept(cache: Path | None) -> dict[str, Judgement]:
    """The judgements of a file by key; a line that a kill cut off is asked for again."""
    if cache is None or not cache.exists():
        return {}
    kept = {}
    for line in cache.read_text("utf-8").splitlines():
        try:
            row: dict[str, Any] = json.loads(line)
            kept[row["key"]] = Judgement(tuple(row["claims"]), row["relevant"], row["correct"])
        except (ValueError, KeyError, TypeError):
            continue
    return kept
