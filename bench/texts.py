"""Texts that the benches make themselves: sentences of the sample handbook, and invented words."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

EXAMPLES: Final = Path(__file__).parent.parent / "examples"

SYLLABLES: Final = [
    start + vowel + end
    for start in ("b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "tr", "v")
    for vowel in ("a", "e", "i", "o", "u")
    for end in ("", "l", "n", "r")
]


def read_sentences() -> list[str]:
    """Every sentence of the sample handbook's Markdown, in the order of its files."""
    sentences: list[str] = []
    for path in sorted(EXAMPLES.rglob("*.md")):
        for paragraph in path.read_text(encoding="utf-8").split("\n\n"):
            if paragraph[:1] not in "#|-`":
                sentences += re.split(r"(?<=[.!?])\s+", " ".join(paragraph.split()))
    return [sentence for sentence in sentences if sentence.count(" ") > 4]


def vary_sentences(chance: random.Random) -> Iterator[str]:
    """Endless sentences of the handbook, in each some words exchanged, a name and a number new.

    The names come from a set that grows with the text, as those of a real folder do.
    """
    sentences = read_sentences()
    words = sorted(
        {word for sentence in sentences for word in re.findall(r"\b[a-z]{4,}", sentence)}
    )
    while True:
        sentence = chance.choice(sentences).split(" ")
        for place in chance.sample(range(len(sentence)), len(sentence) // 4):
            sentence[place] = chance.choice(words)
        name = "".join(chance.choices(SYLLABLES, k=3)).capitalize()
        sentence[chance.randrange(len(sentence))] = f"{name} {chance.randrange(10_000)}"
        yield " ".join(sentence).strip(".!?").capitalize() + "."


def write_folder(folder: Path, files: int, *, sections: int = 10, seed: int = 1) -> None:
    """Markdown files of so many sections, each one passage or two; no two passages are equal."""
    chance = random.Random(seed)
    sentences = vary_sentences(chance)
    for number in range(files):
        path = folder / f"part-{number // 50:03}" / f"page-{number:05}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        parts = [f"# {next(sentences).strip('.')}\n"]
        for _ in range(sections):
            parts.append(f"## {' '.join(next(sentences).split()[:5])}\n")
            for _ in range(chance.randint(1, 3)):
                parts.append(" ".join(next(sentences) for _ in range(chance.randint(2, 5))) + "\n")
        path.write_text("\n".join(parts), encoding="utf-8")


def make_vocabulary(size: int, *, seed: int = 1) -> list[str]:
    """So many invented words of two or three syllables, no two alike, in no order."""
    chance = random.Random(seed)
    words: dict[str, None] = {}
    while len(words) < size:
        words["".join(chance.choices(SYLLABLES, k=chance.choice((2, 3))))] = None
    return list(words)


def draw_zipfian(
    count: int, vocabulary: Sequence[str], generator: np.random.Generator
) -> NDArray[np.int64]:
    """Places in a vocabulary, the n-th word drawn 1/n as often as the first (Zipf's law)."""
    weights = 1 / np.arange(1, len(vocabulary) + 1)
    edges = np.cumsum(weights / weights.sum())
    return np.asarray(np.searchsorted(edges, generator.random(count) * edges[-1]))
