"""A random walk over a library beside a plain model of it: after every step both say the same."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Final

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

import ibid
from ibid.index.embedded import vectors, writes
from ibid.index.embedded.lexical import Postings
from ibid.openers import open_library
from ibid.records import SearchMode
from ibid.settings import load_settings
from ibid.testing.embedders import HashingEmbedder

IDS: Final = ("a.md", "b.md", "c/d.md", "c/e.md")
PATHS: Final = ("f.md", "g.md", "h/i.md", "h/j.md")
WORDS: Final = ("heron", "plover", "curlew", "dunlin")
HR: Final = frozenset({"group:hr"})
CALLERS: Final[tuple[Any, ...]] = (frozenset(), HR, ibid.OWNER)
MODES: Final[tuple[SearchMode, ...]] = ("lexical", "dense", "hybrid")

BREAKS: Final[dict[str, tuple[object, str]]] = {
    "vectors": (vectors, "write_segment"),
    "postings": (Postings, "add"),
    "publishing": (writes, "publish"),
}
"""Where a commit may break: the function that fails, after it has done its work."""


class Broken(BaseException):
    """What stands for the death of a process in the middle of a commit."""


@dataclass(frozen=True, slots=True)
class State:
    """What a document is by the model."""

    word: str
    edition: int
    identity: int = 0
    archived: bool = False
    synced: bool = False

    @property
    def text(self) -> str:
        return write_text(self.word, self.edition)


def write_text(word: str, edition: int) -> str:
    """A text of two passages, each with its word and its edition."""
    return "\n\n".join(
        f"# Part {part}\n\nThe {word} of edition{edition} wades in part{part}." for part in range(2)
    )


def find_edition(text: str) -> int:
    """The edition that a passage is of."""
    return int(text.partition("edition")[2].split()[0])


@contextmanager
def breaking(owner: object, name: str) -> Iterator[None]:
    """Lets the first call of a function do its work and then break."""
    whole = getattr(owner, name)

    def break_after(*arguments: Any, **options: Any) -> None:
        whole(*arguments, **options)
        raise Broken

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, name, break_after)
        yield


class LibraryWalk(RuleBasedStateMachine):
    """Every step changes the library, and the model where the library must have changed."""

    breaks: ClassVar[Mapping[str, tuple[object, str]]] = BREAKS

    def __init__(self) -> None:
        super().__init__()
        self.root = Path(tempfile.mkdtemp())
        self.folder = self.root / "folder"
        self.folder.mkdir()
        self.model: dict[str, State] = {}
        self.files: dict[str, State] = {}
        self.access: list[frozenset[str] | None] = [None]
        self.bearers: dict[str, list[int]] = {}
        self.closed: set[str] = set()
        self.versions: dict[int, dict[str, State]] = {0: {}}
        self.edition = 0
        self.dimension = 32
        self.library = self.open()

    def open(self, *, reindexing: bool = False) -> ibid.Library:
        place = self.find_place()
        return open_library(
            place,
            embedder=HashingEmbedder(dimension=self.dimension),
            settings=load_settings({"lock_timeout_s": 0.2}, library=place),
            reindexing=reindexing,
        )

    def find_place(self) -> str:
        """Where the library of this walk lies."""
        return str(self.root / "library")

    def teardown(self) -> None:
        self.library.close()
        shutil.rmtree(self.root)

    # -- steps ------------------------------------------------------------------------------------

    @rule(id=st.sampled_from(IDS), word=st.sampled_from(WORDS))
    def add(self, id: str, word: str) -> None:
        if id in self.model:
            with pytest.raises(ibid.DuplicateDocument):
                self.library.ingest(ibid.Document(id, "another text"))
            return
        self.library.ingest(self.write_document(id, word))
        self.keep()

    @rule(id=st.sampled_from(IDS), word=st.sampled_from(WORDS))
    def update(self, id: str, word: str) -> None:
        self.library.update(self.write_document(id, word))
        self.keep()

    @precondition(lambda self: self.model)
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        id = data.draw(st.sampled_from(sorted(self.model)))
        self.library.remove(id)
        del self.model[id]
        self.keep()

    @precondition(lambda self: self.model)
    @rule(data=st.data())
    def purge(self, data: st.DataObject) -> None:
        id = data.draw(st.sampled_from(sorted(self.model)))
        gone = set(self.bearers[id])
        self.library.remove(id, purge=True)
        for version in (self.model, *self.versions.values()):
            for name, state in list(version.items()):
                if state.identity in gone:
                    del version[name]
        self.forget(gone)
        self.keep()

    @precondition(lambda self: self.model)
    @rule(data=st.data(), allow=st.sampled_from([None, frozenset(), HR]), archived=st.booleans())
    def say(self, data: st.DataObject, allow: frozenset[str] | None, archived: bool) -> None:
        id = data.draw(st.sampled_from(sorted(self.model)))
        self.library.set(id, allow=allow, public=allow is None, archived=archived)
        self.model[id] = replace(self.model[id], archived=archived)
        self.access[self.model[id].identity] = allow
        self.narrow_past(id)
        self.keep()

    @rule(path=st.sampled_from(PATHS), word=st.sampled_from(WORDS))
    def write_file(self, path: str, word: str) -> None:
        self.edition += 1
        self.files[path] = State(word, self.edition, synced=True)
        file = self.folder / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(self.files[path].text)
        os.utime(file, (self.edition, self.edition))

    @precondition(lambda self: self.files)
    @rule(data=st.data())
    def delete_file(self, data: st.DataObject) -> None:
        path = data.draw(st.sampled_from(sorted(self.files)))
        (self.folder / path).unlink()
        del self.files[path]

    @precondition(lambda self: 0 < len(self.files) < len(PATHS))
    @rule(data=st.data())
    def move_file(self, data: st.DataObject) -> None:
        old = data.draw(st.sampled_from(sorted(self.files)))
        new = data.draw(st.sampled_from(sorted(set(PATHS) - set(self.files))))
        (self.folder / new).parent.mkdir(exist_ok=True)
        (self.folder / old).rename(self.folder / new)
        self.files[new] = self.files.pop(old)

    @rule(checksum=st.booleans())
    def sync(self, checksum: bool) -> None:
        report = self.library.sync(self.folder, checksum=checksum)
        assert not report.failed
        self.take_sync()
        self.keep()
        assert self.library.sync(self.folder).unchanged == len(self.files)

    @rule(days=st.sampled_from([0.0, 1.0]), cited=st.booleans())
    def vacuum(self, days: float, cited: bool) -> None:
        self.library.vacuum(days, cited=cited)
        if not days:
            last = self.library.status().version
            self.versions = {last: self.versions[last]}
            live = {state.identity for state in self.model.values()}
            self.forget(set(range(len(self.access))) - live)

    @rule(other=st.booleans())
    def reindex(self, other: bool) -> None:
        if other:
            self.dimension = 32 + 16 * (self.dimension == 32)
        self.library.close()
        self.library = self.open(reindexing=True)
        if self.library.status().version:
            self.library.reindex()
            self.keep()

    @rule()
    def reopen(self) -> None:
        self.library.close()
        self.library = self.open()

    @rule(where=st.sampled_from(sorted(BREAKS)), word=st.sampled_from(WORDS))
    def crash(self, where: str, word: str) -> None:
        before = dict(self.model), list(self.access), {i: list(b) for i, b in self.bearers.items()}
        with breaking(*self.breaks[where]), pytest.raises(Broken):
            self.library.update(self.write_document(IDS[0], word))
        self.model, self.access, self.bearers = before
        self.library = self.open()  # the one that broke is left as it is

    # -- what must hold ---------------------------------------------------------------------------

    @invariant()
    def agrees(self) -> None:
        """Lists, documents and searches are the model's, for every caller; the library is whole."""
        for caller in CALLERS:
            seen = {id for id, state in self.model.items() if self.is_open(state, caller)}
            assert {info.id for info in self.library.documents(caller)} == seen
            for id in self.model:
                if id in seen:
                    text = self.library.document(id, caller).text
                    assert f"edition{self.model[id].edition} " in text
                else:
                    with pytest.raises(ibid.UnknownDocument):
                        self.library.document(id, caller)
            self.check_searches(self.model, caller, version=None)
        assert list(self.library.verify()) == []

    @invariant()
    def remembers(self) -> None:
        """A version that is held finds what it held, as far as the caller may see it today."""
        held = sorted(self.versions)
        for version in {held[0], held[len(held) // 2]}:
            for caller in CALLERS[:2]:
                self.check_searches(self.versions[version], caller, version=version)

    def check_searches(self, model: dict[str, State], caller: Any, version: int | None) -> None:
        open_now = {
            id: state
            for id, state in model.items()
            if self.is_open(state, caller) and not state.archived
        }
        for mode in MODES:
            hits = self.library.search(
                "heron plover curlew dunlin", 100, mode, principals=caller, version=version
            )
            found = {(hit.document_id, find_edition(hit.passage.text)) for hit in hits}
            expected = {(id, state.edition) for id, state in open_now.items()}
            assert len(hits) == len({hit.passage.id for hit in hits})
            assert found == expected, (mode, caller, version)

    # -- the model --------------------------------------------------------------------------------

    def is_open(self, state: State, caller: Any) -> bool:
        """Access is today's, and the document's: it stays through edits and moves."""
        allow = self.access[state.identity]
        return caller is ibid.OWNER or allow is None or bool(allow & caller)

    def write_document(self, id: str, word: str) -> ibid.Document:
        self.edition += 1
        known = self.model.get(id)
        if known is None:
            known = State(word, self.edition, self.make_identity(id))
        self.model[id] = replace(known, word=word, edition=self.edition)
        return ibid.Document(id, self.model[id].text)

    def make_identity(self, id: str) -> int:
        """A document that comes back under a name opens nothing that the last one had closed."""
        bearers = self.bearers.setdefault(id, [])
        erased = frozenset[str]() if id in self.closed else None
        self.access.append(self.access[bearers[-1]] if bearers else erased)
        bearers.append(len(self.access) - 1)
        self.narrow_past(id)
        return bearers[-1]

    def narrow_past(self, id: str) -> None:
        """What is restricted now was never open to more, under this name."""
        *past, today = self.bearers[id]
        allow = self.access[today]
        if allow is None:
            return
        live = {state.identity for state in self.model.values()}
        for identity in past:
            if identity not in live:
                before = self.access[identity]
                self.access[identity] = allow if before is None else allow & before

    def forget(self, identities: set[int]) -> None:
        for id, bearers in list(self.bearers.items()):
            erased = [one for one in bearers if one in identities]
            if erased and self.access[erased[-1]] is not None:
                self.closed.add(id)
            elif erased:
                self.closed.discard(id)
            self.bearers[id] = [one for one in bearers if one not in identities]
            if not self.bearers[id]:
                del self.bearers[id]

    def take_sync(self) -> None:
        gone = {id: s for id, s in self.model.items() if s.synced and id not in self.files}
        for path, state in sorted(self.files.items()):
            known = self.model.get(path)
            moved = next((id for id, s in gone.items() if s.edition == state.edition), None)
            if known is None and moved is not None:
                known = gone[moved]
                del self.model[moved]
                bearers = self.bearers.setdefault(path, [])
                if known.identity in bearers:
                    bearers.remove(known.identity)
                bearers.append(known.identity)
                self.model[path] = known
                self.narrow_past(path)
            elif known is None:
                known = replace(state, identity=self.make_identity(path))
            self.model[path] = replace(known, word=state.word, edition=state.edition)
        for id in gone:
            if id in self.model and id not in self.files:
                del self.model[id]

    def keep(self) -> None:
        self.versions[self.library.status().version] = dict(self.model)
