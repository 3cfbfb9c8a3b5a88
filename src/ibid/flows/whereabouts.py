"""Where an expected text is, from the file on disk to the passages that its asker may search."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final

from ibid.errors import BadQuery, UnknownDocument
from ibid.flows.diagnosis import Expected, Stage, Target, name_some
from ibid.flows.disk import find_on_disk
from ibid.flows.hashing import hash_text
from ibid.flows.prepare import analyze_passage
from ibid.language.analyzer import analyze_query
from ibid.language.phrases import holds_form, holds_phrase, read_query
from ibid.protocols import Index, Scope, Snapshot
from ibid.records import OWNER, DocumentInfo, Passage, Principals, Query

SCANNED: Final = 5_000
"""Documents that are looked through one by one; of more, those that share the text's words."""

CANDIDATES: Final = 300
"""Documents that are looked through then."""

CHECKED: Final = 20
"""Passages of one place that are looked up in the index; of a whole document the first ones."""


@dataclass(slots=True)
class Whereabouts:
    """Looks for texts in one version of a library, in what one caller may see of it.

    What was read of the documents is kept for the next text.
    """

    index: Index
    snapshot: Snapshot
    caller: Principals
    _infos: list[DocumentInfo] = field(default_factory=list)
    _texts: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._infos = self.snapshot.documents(self.scope)

    @property
    def scope(self) -> Scope:
        """All that the caller may see."""
        return Scope(self.caller, include_archived=True)

    def locate(self, expected: Expected) -> tuple[list[Target], list[Stage]]:
        """The places where the text stands, and the stages read, chunk and index, as far as it
        came."""
        spans = [
            (info, span)
            for info in self._list_candidates(expected)
            for span in expected.find(self.read(info), info.id)
        ]
        if not spans:
            return [], self._tell_absent(expected)
        names = list(dict.fromkeys(info.id for info, _ in spans))
        stages = [Stage("read", True, f"in {name_some(names)}")]
        targets = [self._find_passages(info, span, expected) for info, span in spans]
        whole = [target for target in targets if target.whole]
        stages.append(_tell_chunks(targets, whole))
        found, stage = self._check_index(whole or targets)
        return found, [*stages, stage]

    def read(self, info: DocumentInfo) -> str:
        """The text of a document."""
        if info.id not in self._texts:
            self._texts[info.id] = self.snapshot.document(info.id, self.scope).document.text
        return self._texts[info.id]

    def _list_candidates(self, expected: Expected) -> list[DocumentInfo]:
        if expected.document_id is not None:
            return [info for info in self._infos if info.id == expected.document_id]
        if len(self._infos) <= SCANNED:
            return self._infos
        terms = " ".join(analyze_query(expected.text or ""))
        found = self.snapshot.search_documents(terms, CANDIDATES, self.scope)
        rows = self.snapshot.passages([one.row for one in found])
        return [info for _, info in rows.values()]

    # -- not there --------------------------------------------------------------------------

    def _tell_absent(self, expected: Expected) -> list[Stage]:
        """The stages for a text that no document of this version holds."""
        read = Stage("read", True, "the last version holds it")
        if self._is_in_last(expected):
            return [read, Stage("chunk", True, "as the last version has it"), self._tell_past()]
        if (garbled := self._find_garbled(expected)) is not None:
            return [garbled]
        found = find_on_disk(expected, self.index) if self.caller is OWNER else None
        if found is not None:
            return found
        seen = "" if self.caller is OWNER else " that you may see"
        advice = "add a document that says it, or ask for its words as the document has them"
        if self.caller is not OWNER:
            advice += "; the owner is told of all documents, and of the files that were not read"
        if expected.document_id is not None:
            detail = f"there is no document {expected.document_id!r}{seen}"
        else:
            detail = f"no document{seen} holds these words"
        return [Stage("read", False, detail, advice)]

    def _is_in_last(self, expected: Expected) -> bool:
        last = self.index.snapshot()
        if last.version == self.snapshot.version:
            return False
        there = Whereabouts(self.index, last, self.caller)
        return any(
            expected.find(there.read(info), info.id) for info in there._list_candidates(expected)
        )

    def _tell_past(self) -> Stage:
        version = self.snapshot.version
        return Stage(
            "index",
            False,
            f"version {version}, which is asked, does not hold it, and the last one does",
            "ask the last version: leave --version out",
        )

    def _find_garbled(self, expected: Expected) -> Stage | None:
        """Tell of a document that has the text's letters and not its words."""
        wanted = _squeeze(expected.text or "")
        if not wanted:
            return None
        for info in self._list_candidates(expected):
            text = self.read(info)
            if wanted in _squeeze(text):
                how = "its letters with other spaces or marks between them"
            elif expected.find(_mend(text), info.id):
                how = "it in another encoding than it was written in"
            else:
                continue
            advice = (
                f"compare with `ibid show {info.id}`: expect the words as they stand there, or"
                " where reading broke them convert the file, or mend its encoding"
            )
            return Stage("read", False, f"{info.id} holds {how}", advice)
        return None

    # -- cut and indexed --------------------------------------------------------------------

    def _find_passages(
        self, info: DocumentInfo, span: tuple[int, int], expected: Expected
    ) -> Target:
        start, end = span
        passages = self.snapshot.document_passages(info.id, self.scope)
        if expected.document_id is not None:
            return Target(info, start, end, tuple(passages), whole=True, any_part=True)
        holding = [one for one in passages if one.start <= start and end <= one.end]
        touching = [one for one in passages if one.start < end and start < one.end]
        return Target(info, start, end, tuple(holding or touching), whole=bool(holding))

    def _check_index(self, targets: Sequence[Target]) -> tuple[list[Target], Stage]:
        """The targets with the passages that can be found at all, by words and by meaning."""
        found: list[Target] = []
        missing: list[str] = []
        for target in targets:
            lacking = [one for one in target.passages[:CHECKED] if not self._is_indexed(one)]
            if held := tuple(one for one in target.passages if one not in lacking):
                found.append(replace(target, passages=held))
            missing += [f"{one.document_id} {one.start}-{one.end}" for one in lacking]
        if found:
            passages = len({one.id for target in found for one in target.passages})
            told = f"{passages} passage{'' if passages == 1 else 's'} of version"
            return found, Stage("index", True, f"{told} {self.snapshot.version}")
        detail = f"{name_some(missing)} lacks its vector or its postings"
        return [], Stage("index", False, detail, "run `ibid verify --repair`")

    def _is_indexed(self, passage: Passage) -> bool:
        if not self.index.find_vectors([hash_text(passage.indexed_text)]):
            return False
        document = self.snapshot.document(passage.document_id, self.scope)
        content, _, rest = analyze_passage(passage.indexed_text, document.language).partition("\n")
        terms = content or rest
        if not terms.strip():
            return True
        scope = replace(self.scope, filter=f"id = {_quote(passage.document_id)}")
        rows = self.snapshot.search_lexical(terms, document.info.passages, scope)
        found = self.snapshot.passages([one.row for one in rows])
        return any(one.id == passage.id for one, _ in found.values())


# -- who asks, and within what ------------------------------------------------------------------


def check_access(
    targets: Sequence[Target], query: Query, snapshot: Snapshot
) -> tuple[list[Target], list[Stage]]:
    """The targets that the asker may search, and the stages access and filter, as far as they
    came."""
    may_see = Scope(query.principals, include_archived=True)
    seen = [target for target in targets if _is_in(snapshot, target, may_see)]
    if not seen:
        return [], [_tell_hidden(targets)]
    stages = [Stage("access", True, "the asker may see it")]
    scope = replace(may_see, filter=query.filter)
    passing = [target for target in seen if _is_in(snapshot, target, scope)]
    if not passing:
        detail = f"the filter {query.filter!r} leaves out {name_some(_name(seen))}"
        return [], [*stages, Stage("filter", False, detail, "widen the filter, or leave it out")]
    current = [one for one in passing if query.include_archived or not one.info.archived]
    if not current:
        detail = f"{name_some(_name(passing))} is archived"
        advice = "ask with --include-archived, or `ibid set ID --not-archived`"
        return [], [*stages, Stage("filter", False, detail, advice)]
    kept = list(_keep_phrases(current, query.text))
    if not kept:
        detail = "the question demands a phrase that it does not hold, or excludes a word of it"
        advice = "ask without the quotation marks and the minus"
        return [], [*stages, Stage("filter", False, detail, advice)]
    detail = "nothing is filtered" if query.filter is None else f"{query.filter!r} lets it through"
    return kept, [*stages, Stage("filter", True, detail)]


def _tell_hidden(targets: Sequence[Target]) -> Stage:
    allowed = sorted({name for one in targets for name in one.info.allow or ()})
    for_whom = f"for {', '.join(allowed)} alone" if allowed else "for nobody but the owner"
    return Stage(
        "access",
        False,
        f"{name_some(_name(targets))} is {for_whom}",
        "let the asker hold one of these principals, or change who may see it: `ibid set ID"
        " --allow PRINCIPAL`",
    )


def _is_in(snapshot: Snapshot, target: Target, scope: Scope) -> bool:
    with suppress(UnknownDocument):
        snapshot.document(target.info.id, scope)
        return True
    return False


def _keep_phrases(targets: Sequence[Target], question: str) -> Iterator[Target]:
    """The targets with the passages that hold what the question demands, and not the excluded."""
    asked = read_query(question)
    for target in targets:
        passages = tuple(
            one
            for one in target.passages
            if all(holds_phrase(one.indexed_text, phrase) for phrase in asked.phrases)
            and not any(holds_phrase(one.indexed_text, word) for word in asked.excluded)
            and not any(holds_form(target.info.title or "", word, None) for word in asked.excluded)
        )
        if passages:
            yield replace(target, passages=passages)


def _tell_chunks(targets: Sequence[Target], whole: Sequence[Target]) -> Stage:
    if whole:
        rule = whole[0].passages[0].rule
        return Stage("chunk", True, f"whole in {whole[0]}" + (f", cut by {rule}" if rule else ""))
    parts = len(targets[0].passages)
    return Stage(
        "chunk",
        False,
        f"divided between {parts} passages: {targets[0]}",
        "raise chunking.size or chunking.overlap and run `ibid reindex`; `ibid chunk FILE"
        " --explain` shows the cuts",
    )


def _name(targets: Sequence[Target]) -> list[str]:
    return list(dict.fromkeys(target.info.id for target in targets))


def _quote(id: str) -> str:
    """An id as the filter language writes it."""
    return "'" + id.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _squeeze(text: str) -> str:
    """The letters and figures of a text alone."""
    normal = unicodedata.normalize("NFKC", text).casefold()
    return "".join(character for character in normal if character.isalnum())


def _mend(text: str) -> str:
    """The text as it is in UTF-8 where it was read as Windows-1252; empty where it was not."""
    with suppress(UnicodeError):
        return text.encode("cp1252").decode("utf-8")
    return ""


def check_expected(expected: Expected) -> None:
    """Raise BadQuery for what names neither a text nor a document, or both."""
    if (expected.text is None) == (expected.document_id is None):
        raise BadQuery("expected is a text or a document", hint="give one of the two")
    if not (expected.text or expected.document_id or "").strip():
        raise BadQuery("nothing is expected", hint="give the words, or the id of a document")
