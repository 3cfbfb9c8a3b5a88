"""How verification judges claims that people wrote for it: a confusion table of each set.

    python bench/verification.py [FILE…] [--wrong]

A file holds one claim a line: sources, claim with its marker, the right verdict, and the kind of
change that was made to it. Without one all five in tests/ are read.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ibid.answering.citations import parse_claims
from ibid.answering.verify import verify_claims
from ibid.records import Citation, DocumentInfo, Hit, Passage, Verdict

TESTS = Path(__file__).parent.parent / "tests"
SETS = tuple(TESTS / f"claims_{part}.jsonl" for part in ("own", "held", "third", "fourth", "fifth"))
NEVER = ("number", "date", "name", "negation")


def read_cases(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def make_hit(number: int, text: str) -> Hit:
    passage = Passage(f"p{number}", f"d{number}", 0, 0, len(text), text)
    info = DocumentInfo(
        f"d{number}", None, None, "text/plain", 1, None, False, None, {}, {}, 1, len(text)
    )
    return Hit(number, 1.0, passage, info, {})


def judge(case: dict[str, Any]) -> Citation:
    """The citation of a case: of its claims, should there be several, the first that fails."""
    hits = [make_hit(number, text) for number, text in enumerate(case["sources"], 1)]
    _, claims = parse_claims(case["claim"], len(hits), language=case["language"])
    citations = verify_claims(claims, hits, language=case["language"])
    failing = [citation for citation in citations if citation.verdict is not Verdict.SUPPORTED]
    return (failing or list(citations))[0]


def print_table(path: Path, *, wrong: bool) -> bool:
    """Prints the table of a file; whether the requirements hold."""
    cases = read_cases(path)
    found = [(case, judge(case)) for case in cases]
    table = Counter((case["kind"], str(citation.verdict)) for case, citation in found)
    verdicts = ("supported", "supported-elsewhere", "unsupported", "uncited")
    kinds = list(dict.fromkeys(case["kind"] for case in cases))
    print(f"\n{path.stem}: {len(cases)} claims\n")
    print(f"| {'kind':12} | " + " | ".join(verdicts) + " | right |")
    print("| --- |" + " ---: |" * (len(verdicts) + 1))
    for kind in kinds:
        counts = [table[kind, verdict] for verdict in verdicts]
        right = sum(c["kind"] == kind and c["verdict"] == f.verdict for c, f in found)
        print(f"| {kind:12} | " + " | ".join(map(str, counts)) + f" | {right}/{sum(counts)} |")
    print_summary(found)
    if wrong:
        print("\n".join(list_wrong(found)))
    return holds_requirements(found)


def holds_requirements(found: list[tuple[dict[str, Any], Citation]]) -> bool:
    never = [f for c, f in found if c["kind"] in NEVER and c["verdict"] == "unsupported"]
    paraphrases = [f.verdict is Verdict.SUPPORTED for c, f in found if c["kind"] == "paraphrase"]
    passed = any(citation.verdict is Verdict.SUPPORTED for citation in never)
    return not passed and paraphrases.count(False) < 0.1 * max(len(paraphrases), 1)


def print_summary(found: list[tuple[dict[str, Any], Citation]]) -> None:
    altered = [(c, f) for c, f in found if c["verdict"] == "unsupported"]
    passed = sum(f.verdict is Verdict.SUPPORTED for _, f in altered)
    paraphrases = [f for c, f in found if c["kind"] == "paraphrase"]
    refused = sum(f.verdict is not Verdict.SUPPORTED for f in paraphrases)
    print(f"\nwrong claims that pass: {passed} of {len(altered)}")
    print(f"true paraphrases refused: {refused} of {len(paraphrases)}")


def list_wrong(found: list[tuple[dict[str, Any], Citation]]) -> Iterator[str]:
    for case, citation in found:
        if case["verdict"] != citation.verdict:
            yield f"{case['id']} {case['language']} {case['kind']}: {case['claim']}"
            yield f"    {citation.verdict}: {citation.reason}; {citation.quote}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path, default=[p for p in SETS if p.exists()])
    parser.add_argument("--wrong", action="store_true", help="print what is judged wrongly")
    options = parser.parse_args()
    held = [print_table(path, wrong=options.wrong) for path in options.files]
    sys.exit(0 if all(held) else 1)


if __name__ == "__main__":
    main()
