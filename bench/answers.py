"""Answers without a model, and abstaining: is the evidence cited, are the right ones refused?

    python bench/answers.py clapnq_dev anthropic_docs

Each set is asked whole, offline, with default settings and the extractive generator. Questions are
split by the parity of the SHA-256 of their ids: the estimate of no answer was fitted, and its
threshold chosen, on the even half; the odd one was held back. Abstaining is counted for questions
without an answer: those of CLAP NQ whose passage is a near miss ("near miss"), the same with these
passages erased from the library ("removed"), and the answerable questions of a set asked with and
without the passages that answer them ("same questions"). In brackets: 95% by bootstrap over the
questions. The exit code is 1 when a floor is missed on the held half.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
from beir import ROOT, Collection, load_collection, read_lines
from results import make_parser, save_results

import ibid
from ibid.records import Answer, AnswerStatus
from ibid.settings import load_settings

RESAMPLES: Final = 1_000

FLOORS: Final = {
    ("clapnq_dev", "near miss"): 0.75,
    ("clapnq_dev", "removed"): 0.85,
}
"""The least F1 of abstaining on the held half; always abstaining gives 0.667."""

SETTINGS: Final = load_settings({"answers.log": False})

Span: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Question:
    """One question, what is known of its answer, and the documents that it is about.

    `spans` are the sentences of these documents that support the answer; empty where only the
    documents are known.
    """

    id: str
    text: str
    answerable: bool
    answers: tuple[str, ...]
    documents: frozenset[str]
    spans: tuple[Span, ...] = ()

    @property
    def held(self) -> bool:
        """Whether it is of the half that nothing was fitted on."""
        return int(hashlib.sha256(self.id.encode()).hexdigest(), 16) % 2 == 1


@dataclass(frozen=True, slots=True)
class Refusal:
    """One question in one library: whether there is no answer, and whether ibid abstained."""

    question: Question
    unanswerable: bool
    abstained: bool


def main() -> int:
    """Print the tables of each set; 1 when a floor is missed."""
    parser = make_parser(__doc__)
    parser.add_argument("sets", nargs="*", default=["clapnq_dev", "anthropic_docs"])
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the libraries here")
    options = parser.parse_args()
    figures, missed = {}, []
    for name in options.sets:
        with tempfile.TemporaryDirectory() as scratch:
            refusals, quality = measure_set(name, options.keep or Path(scratch), Path(scratch))
        figures[name] = {"abstaining": print_refusals(name, refusals), "answers": quality}
        for protocol, row in figures[name]["abstaining"].items():
            floor = FLOORS.get((name, protocol), 0.0)
            if row["held F1"] < floor:
                missed.append(f"{name} {protocol}: {row['held F1']:.3f} < {floor}")
    print(*(f"MISSED {line}" for line in missed), sep="\n")
    save_results(options.save, figures)
    return bool(missed)


def measure_set(
    name: str, keep: Path, scratch: Path
) -> tuple[dict[str, list[Refusal]], dict[str, Any]]:
    """How a set was refused, by protocol, and how well the answered questions were answered."""
    collection = load_collection(name)
    questions = read_questions(name, collection)
    yes = [question for question in questions if question.answerable]
    no = [question for question in questions if not question.answerable]
    folder = build_library(collection, keep / name)
    with ibid.open(folder, settings=SETTINGS) as library:
        answers = {question.id: ask(library, question) for question in questions}
    full = [Refusal(q, not q.answerable, abstained(answers[q.id])) for q in questions]
    refusals = {"near miss": full} if no else {}
    if no:
        gold = {document for question in no for document in question.documents}
        with without(folder, gold, scratch / "removed") as library:
            asked = [Refusal(q, True, abstained(ask(library, q))) for q in no]
        refusals["removed"] = [one for one in full if not one.unanswerable] + asked
    gold = {document for question in yes for document in question.documents}
    with without(folder, gold, scratch / "same") as library:
        asked = [Refusal(q, True, abstained(ask(library, q))) for q in yes]
    refusals["same questions"] = [one for one in full if not one.unanswerable] + asked
    return refusals, print_quality(name, yes, answers)


def read_questions(name: str, collection: Collection) -> list[Question]:
    """The questions of a set with what supports their answers."""
    texts = {id: text for id, _, text in collection.documents}
    found = []
    for row in read_lines(ROOT / "questions" / name / "queries.jsonl"):
        id = str(row["id"])
        documents = {d for d, grade in collection.qrels.get(id, {}).items() if grade > 0}
        documents |= {row["doc_id"]} if "doc_id" in row else set()
        sentences = {s for chosen in row.get("selected_sentences", ()) for s in chosen}
        text = texts.get(row.get("doc_id", ""), "")
        spans = [(text.find(s), text.find(s) + len(s)) for s in sentences if s in text]
        found.append(
            Question(
                id,
                str(row["text"]),
                bool(row.get("answerable", True)),
                tuple(row.get("answers", ())),
                frozenset(documents),
                tuple(sorted(spans)),
            )
        )
    return found


def build_library(collection: Collection, folder: Path) -> Path:
    """The folder of a library with the whole collection, made where it isn't there yet."""
    with ibid.open(folder) as library:
        if library.status(ibid.OWNER).version == 0:
            library.ingest(
                ibid.Document(id=id, text=text or title, title=title or None)
                for id, title, text in collection.documents
                if (text or title).strip()
            )
    return folder


@contextmanager
def without(folder: Path, documents: Iterable[str], scratch: Path) -> Any:
    """A copy of a library from which these documents were erased, statistics and all."""
    shutil.copytree(folder, scratch)
    with ibid.open(scratch, settings=SETTINGS) as library:
        library.remove(*sorted(documents), purge=True)
        yield library


def ask(library: ibid.Library, question: Question) -> Answer:
    """The answer to a question by all that is in a library; it is not kept."""
    return library.ask(question.text, principals=ibid.OWNER)


def abstained(answer: Answer) -> bool:
    """Whether no answer was given."""
    return answer.status is AnswerStatus.ABSTAINED


# -- abstaining -----------------------------------------------------------------------------------


def print_refusals(name: str, refusals: dict[str, list[Refusal]]) -> dict[str, dict[str, float]]:
    """Print and return precision, recall and F1 of abstaining, on both halves."""
    print(f"\n{name}: abstaining, positive where there is no answer")
    print(f"{'':18}{'n':>5}  {'F1':22}{'precision':>10}{'recall':>8}{'refused':>9}{'always':>8}")
    rows: dict[str, dict[str, float]] = {}
    for protocol, asked in refusals.items():
        rows[protocol] = {}
        for half, held in (("chosen on", False), ("held", True)):
            ones = [one for one in asked if one.question.held == held]
            truth = np.array([one.unanswerable for one in ones])
            said = np.array([one.abstained for one in ones])
            f1, low, high = bootstrap(np.stack([truth, said], axis=1), score_f1)
            precision, recall = share(truth[said]), share(said[truth])
            refused, always = share(said[~truth]), 2 * truth.mean() / (1 + truth.mean())
            print(
                f"{protocol + ', ' + half:24}{len(ones):>4}  {f1:.3f} [{low:.3f}, {high:.3f}]"
                f"{precision:>10.3f}{recall:>8.3f}{refused:>9.3f}{always:>8.3f}"
            )
            rows[protocol] |= {f"{half} F1": f1, f"{half} low": low, f"{half} high": high}
    return rows


def score_f1(pairs: np.ndarray) -> float:
    """2 TP / (2 TP + FP + FN) of (truth, said) in rows; 0 where nothing is positive."""
    total = pairs.sum()
    return float(2 * pairs.all(axis=1).sum() / total) if total else 0.0


def share(flags: np.ndarray) -> float:
    """The mean of flags; 0 for none."""
    return float(flags.mean()) if len(flags) else 0.0


def bootstrap(
    values: np.ndarray, score: Callable[[np.ndarray], float]
) -> tuple[float, float, float]:
    """A score over all the rows, and the 2.5% and 97.5% quantiles of it over resamples of them."""
    random = np.random.default_rng(7)
    draws = (random.integers(0, len(values), len(values)) for _ in range(RESAMPLES))
    low, high = np.quantile([score(values[draw]) for draw in draws], (0.025, 0.975))
    return score(values), float(low), float(high)


# -- answers --------------------------------------------------------------------------------------


def print_quality(
    name: str, questions: Sequence[Question], answers: dict[str, Answer]
) -> dict[str, dict[str, float]]:
    """Print and return how the answered of the answerable questions were answered."""
    measures: dict[str, Callable[[Question, Answer], float]] = {
        "cites the evidence": cites_evidence,
        "share of citations that do": cites_only_evidence,
        "words of the answer held": recall_words,
        "citations supported": share_supported,
        "sentences": lambda _, answer: len({c.claim for c in answer.citations}),
    }
    print(f"\n{name}: the answers to answerable questions that were not refused")
    figures: dict[str, dict[str, float]] = {}
    for half, held in (("tuned on", False), ("held", True)):
        asked = [q for q in questions if q.held == held]
        ones = [(q, answers[q.id]) for q in asked if not abstained(answers[q.id])]
        print(f"{half}: {len(ones)} of {len(asked)} answered")
        figures[half] = {"n": len(ones), "asked": len(asked)}
        for measure, function in measures.items():
            values = np.array([function(question, answer) for question, answer in ones])
            mean, low, high = bootstrap(values, lambda drawn: float(drawn.mean()))
            print(f"  {measure:30}{mean:.3f} [{low:.3f}, {high:.3f}]")
            figures[half][measure] = mean
    return figures


def cites_evidence(question: Question, answer: Answer) -> float:
    """Whether a quote overlaps the gold evidence."""
    return float(any(list_overlaps(question, answer)))


def cites_only_evidence(question: Question, answer: Answer) -> float:
    """The share of quotes that overlap it."""
    return float(np.mean(list_overlaps(question, answer) or [False]))


def list_overlaps(question: Question, answer: Answer) -> list[bool]:
    """For each quote whether it lies in a right document, and on a right sentence if these are
    known."""
    return [
        citation.document_id in question.documents
        and (
            not question.spans
            or any(citation.start < end and start < citation.end for start, end in question.spans)
        )
        for citation in answer.citations
        if citation.start is not None and citation.end is not None
    ]


def recall_words(question: Question, answer: Answer) -> float:
    """The share of a gold answer's words that the text holds, the best of several answers."""
    held = Counter(re.findall(r"\w+", answer.text.lower()))
    golds = [Counter(re.findall(r"\w+", gold.lower())) for gold in question.answers]
    return max(((gold & held).total() / gold.total() for gold in golds if gold), default=0.0)


def share_supported(question: Question, answer: Answer) -> float:
    """The share of citations that verification confirmed."""
    return float(np.mean([citation.verdict == "supported" for citation in answer.citations]))


if __name__ == "__main__":
    sys.exit(main())
