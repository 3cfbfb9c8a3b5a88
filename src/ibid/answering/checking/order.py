"""Order: what comes before what, which is more than which, and who does it to whom."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

from ibid.answering.checking.alignment import Alignment, key_fact
from ibid.answering.checking.facts import Facts, Key, Piece, Word
from ibid.answering.checking.lexicon import load_lexicon
from ibid.answering.checking.substitutes import list_sentences
from ibid.answering.checking.vocabulary import DENSE

_ORDERING: Final = ("earlier", "later")
_ADDRESS: Final = re.compile(
    r"\s*\b(?:MM?|Mrs?|Ms|Dr|Prof|Sra?|Srta|Hr|Fr|Mme|Mlle|Herrn?|Frau)\.?\Z"
)
_AGAINST: Final = frozenset(["against", "gegen", "contre", "contra"])
"""What marks the other side: who wins against whom."""

_COMPARATIVE: Final = re.compile(r"\w+er|more|less|worse|mehr|weniger", re.IGNORECASE)
_JOINING: Final = frozenset(
    [
        "and",
        "or",
        "und",
        "oder",
        "et",
        "ou",
        "y",
        "o",
        "e",
        ",",
        ";",
        "&",
        "/",
        "和",
        "与",
        "及",
        "と",
        "や",
        "、",
    ]
)


@dataclass(frozen=True, slots=True)
class _Relation:
    """Two sides of a sentence, normalised: the first is earlier, or more, than the second."""

    first: frozenset[Key]
    second: frozenset[Key]
    kind: str


def check_relations(alignment: Alignment, passage: Facts) -> str | None:
    """What the claim puts first, or higher, the evidence doesn't put second."""
    ours = list(_read_relations(alignment.claim))
    theirs = list(_read_relations(alignment.evidence))
    for said in ours:
        rivals = [held for held in theirs if held.kind == said.kind]
        agreed = any(said.first & held.first and said.second & held.second for held in rivals)
        turned = [held for held in rivals if _is_reversed(said, held)]
        if turned and (not agreed or len(turned) == len(rivals)):
            return "the claim turns the order of the passage round"
    return None


def _is_reversed(said: _Relation, held: _Relation) -> bool:
    """Whether the sides have changed places; words that stand on both sides tell nothing."""
    straight = _count(said.first & held.first) + _count(said.second & held.second)
    cross = said.first & held.second, said.second & held.first
    more = sum(map(_count, cross)) > straight
    apart = not said.first & held.first or not said.second & held.second
    return all(cross) and (more or apart)


def _count(keys: frozenset[Key]) -> int:
    """How many words there are in a set of keys, which may hold some of their senses too."""
    return sum(isinstance(key, str) for key in keys)


def _read_relations(facts: Facts) -> Iterator[_Relation]:
    sentences: dict[int, list[Piece]] = {}
    for piece in facts.pieces:
        sentences.setdefault(piece.sentence, []).append(piece)
    for pieces in sentences.values():
        words = [word for piece in pieces for word in piece.words]
        for place, word in enumerate(words):
            sign = next((sign for sign in (*_ORDERING, "than") if sign in word.signs), None)
            if sign is None:
                continue
            left, right = _split_sides(pieces, words, place, dense=facts.language in DENSE)
            if sign == "than":
                compared = _key_facts(pieces, word.start)
                yield from _compare_sides(left, right, compared, facts.language)
            elif left and right:
                sides = (left, right) if sign == "earlier" else (right, left)
                yield _Relation(_keys(sides[0]), _keys(sides[1]), "order")


def _split_sides(
    pieces: Sequence[Piece], words: Sequence[Word], place: int, *, dense: bool
) -> tuple[list[Word], list[Word]]:
    """What stands on both sides: "A before B", "Before B, A"; in Chinese, Japanese "B 之前 A"."""
    if dense:
        return list(words[place + 1 :]), list(words[:place])
    if place == 0 and len(pieces) > 1:
        inside = [word for word in pieces[0].words if word is not words[0]]
        return [word for piece in pieces[1:] for word in piece.words], inside
    return list(words[:place]), list(words[place + 1 :])


def _compare_sides(
    left: Sequence[Word],
    right: Sequence[Word],
    facts: tuple[frozenset[Key], frozenset[Key]],
    language: str | None,
) -> Iterator[_Relation]:
    """Of "A is deeper than B": A has more of what the word in front of "than" names."""
    opposed = load_lexicon(language).opposed
    measures = [word for word in left if any(c in opposed for c, _ in word.senses)]
    compared = [word for word in measures if _COMPARATIVE.fullmatch(word.text)] or measures
    if not compared:
        return
    bare = [word for word in left if word is not compared[-1]]
    for concept, sign in compared[-1].senses:
        first, second = _keys(bare) | facts[0], _keys(right) | facts[1]
        sides = (first, second) if sign > 0 else (second, first)
        yield _Relation(*sides, f"more {concept}")


def _key_facts(pieces: Sequence[Piece], place: int) -> tuple[frozenset[Key], frozenset[Key]]:
    """The facts on both sides of a place in a sentence, as what they are met by."""
    facts = [fact for piece in pieces for fact in piece.facts]
    left = [key for fact in facts if fact.start < place for key in key_fact(fact)]
    right = [key for fact in facts if fact.start >= place for key in key_fact(fact)]
    return frozenset(left), frozenset(right)


def _keys(words: Sequence[Word]) -> frozenset[Key]:
    return frozenset().union(*(word.keys for word in words))


# -- roles ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Role:
    """A word met once, and what stands before it: "^" where it opens, else a word or its stem."""

    word: Word
    before: str
    after: str
    place: int
    article: str = ""


def check_roles(alignment: Alignment, passage: Facts) -> str | None:
    """No two words of the claim have changed places."""
    language = alignment.claim.language
    ordering = {"earlier", "later", "than"}
    if all(
        any(ordering & piece.signs for piece in f.pieces)
        for f in (alignment.claim, alignment.evidence)
    ):
        return _check_parties(alignment)  # the relation has been compared
    if alignment.claim.language in DENSE:
        turned = _find_dense_swap(alignment)
        if turned:
            return turned
    if _tells_converse(alignment):
        return None  # who borrows from whom lends
    ours, theirs = (_read_roles(facts, language) for facts in (alignment.claim, alignment.evidence))
    shared = sorted(ours.keys() & theirs.keys(), key=lambda key: ours[key].place)
    for one, other in combinations(shared, 2):
        swapped = _are_swapped(ours[one], ours[other], theirs[one], theirs[other], language)
        if swapped and _share_between(
            alignment, (ours[one], ours[other]), (theirs[one], theirs[other])
        ):
            return f"the claim exchanges {ours[one].word.text} and {ours[other].word.text}"
    return _check_agents(alignment, ours, theirs) or _check_parties(alignment)


def _tells_converse(alignment: Alignment) -> bool:
    """Whether the claim tells from its other side what the evidence does: B borrows, A lends."""
    converse = load_lexicon(alignment.claim.language).converse
    said, held = (
        {sense for word in facts.words for sense in word.senses if sense[0] in converse}
        for facts in (alignment.claim, alignment.evidence)
    )
    turned = {(concept, -sign) for concept, sign in said}
    return bool(turned & held) and not said & held and not turned & said


def _changes_case(one: _Role, held: _Role) -> bool:
    """Whether who acts ("der") is who is acted on ("den") in the other text."""
    return {one.article, held.article} == {"der", "den"}


def _share_between(
    alignment: Alignment, ours: tuple[_Role, _Role], theirs: tuple[_Role, _Role]
) -> bool:
    """Whether some word stands between the two in both, or none in one: what they do is one."""
    between = []
    for facts, roles in ((alignment.claim, ours), (alignment.evidence, theirs)):
        start, end = sorted(role.place for role in roles)
        words = (word for word in facts.words if start < _place(facts, word) < end)
        between.append(frozenset().union(*(word.keys for word in words)))
    return not all(between) or bool(between[0] & between[1])


_MARKED: Final = re.compile(r"(?P<who>[㐀-鿿々ァ-ヺーA-Za-z]{2,})(?P<mark>が|は|を|に(?!よ))")
_BA: Final = re.compile("(?P<one>[^，。,]{2,12})比(?P<other>[^，。,]{2,12})")
_PASSIVE: Final = re.compile("によって|により|られ|され|被")
_ACTS: Final = {"が": True, "は": True, "を": False, "に": False}


def _find_dense_swap(alignment: Alignment) -> str | None:
    """Who acts on whom where particles tell it, and which of two is more where 比 does."""
    texts = alignment.claim.text, alignment.evidence.text
    if any(_PASSIVE.search(text) for text in texts):
        return None
    ours, theirs = ({m["who"]: _ACTS[m["mark"]] for m in _MARKED.finditer(t)} for t in texts)
    shared = [who for who in ours if who in theirs and ours[who] != theirs[who]]
    if len({ours[who] for who in shared}) == 2:
        return f"the claim exchanges {shared[0]} and {shared[1]}"
    for said in _BA.finditer(texts[0]):
        for held in _BA.finditer(texts[1]):
            if held["other"].startswith(said["one"]):
                return "the claim turns the order of the passage round"
    return None


def _read_roles(facts: Facts, language: str | None) -> dict[str, _Role]:
    """The words that a text has once, by their first term."""
    text, roles, twice = facts.text, {}, set()
    articles = load_lexicon(language).articles
    for word in _list_units(facts):
        place = _place(facts, word)
        if place < 0:
            continue
        key = min(word.terms)
        if key in roles:
            twice.add(key)
        before = _read_before(text, place, articles, dense=language in DENSE)
        after = text[place + len(word.text) :][:1] if language in DENSE else ""
        article = text[:place].split()[-1:] if language == "de" else []
        roles[key] = _Role(word, before, after, place, *(one.lower() for one in article))
    return {key: role for key, role in roles.items() if key not in twice}


def _list_units(facts: Facts) -> Iterator[Word]:
    """The words with terms; in scripts without spaces the names alone."""
    if facts.language not in DENSE:
        yield from (word for word in facts.words if word.terms)
        return
    for name in facts.names:
        yield Word(name, facts.text.find(name), frozenset({name}))


def _place(facts: Facts, word: Word) -> int:
    """Where a word stands in the joined text of its sentences; -1 where that can't be told."""
    if facts.text[word.start : word.start + len(word.text)] == word.text:
        return word.start
    return facts.text.find(word.text)


def _read_before(text: str, place: int, articles: frozenset[str], *, dense: bool) -> str:
    if dense:
        return text[place - 1 : place] or "^"
    before = _ADDRESS.sub("", text[:place].rstrip("\"'“„«(* "))
    while True:
        if not before or before[-1] in ".!?:\n":
            return "^"
        if before[-1] in ",;&/–—-":
            return ","
        word = before.split()[-1].lower()
        if word not in articles:
            return word
        before = before[: len(before) - len(word)].rstrip()


def _are_swapped(
    one: _Role, other: _Role, held_one: _Role, held_other: _Role, language: str | None
) -> bool:
    signs = {one.before, other.before, held_one.before, held_other.before}
    if signs & _JOINING or one.before == other.before:
        return False
    crossed = one.before == held_other.before and other.before == held_one.before
    if language == "de" and _changes_case(one, held_one) and _changes_case(other, held_other):
        return True
    if other.before in _AGAINST and held_one.before in _AGAINST:
        return one.before not in _AGAINST and held_other.before not in _AGAINST
    if language in DENSE:
        return crossed and (one.after, other.after) == (held_other.after, held_one.after)
    return crossed


def _check_agents(
    alignment: Alignment, ours: dict[str, _Role], theirs: dict[str, _Role]
) -> str | None:
    """Of two names, the one that acts in the claim acts in the evidence: "B is led by A"."""
    language = alignment.claim.language
    agents = {w for w, signs in load_lexicon(language).signs.items() if "agent" in signs}
    names = [key for key in ours if key in theirs and ours[key].word.text in alignment.claim.names]
    for one, other in combinations(names, 2):
        texts = (alignment.claim.text, ours), (alignment.evidence.text, theirs)
        if any(_part_clauses(text, roles[one], roles[other]) for text, roles in texts):
            continue  # each does something else
        actors = [_find_actor(roles[one], roles[other], agents) for roles in (ours, theirs)]
        if None not in actors and actors[0] != actors[1]:
            return f"the claim exchanges {ours[one].word.text} and {ours[other].word.text}"
    return None


def _part_clauses(text: str, one: _Role, other: _Role) -> bool:
    """Whether a comma of Chinese or Japanese stands between two, so that each has a clause."""
    start, end = sorted((one.place, other.place))
    return "，" in text[start:end] or "。" in text[start:end]


def _check_parties(alignment: Alignment) -> str | None:
    """Of two who deal with each other the one that the claim names first is so in the evidence.

    "A agreed to buy B" and "B agreed to buy A" tell two things; "B is bought by A" and what
    compares or lists the two are left out.
    """
    claim, evidence = alignment.claim, alignment.evidence
    if claim.language in DENSE or any("than" in piece.signs for piece in claim.pieces):
        return None
    agents = {w for w, s in load_lexicon(claim.language).signs.items() if "agent" in s}
    ours = _list_parties(claim, alignment)
    for sentence in list_sentences(evidence.pieces):
        theirs = _list_parties(replace(evidence, pieces=tuple(sentence)), alignment)
        for one, other in combinations(
            sorted(ours.keys() & theirs.keys(), key=ours.__getitem__), 2
        ):
            if theirs[one] < theirs[other]:
                continue
            between = _list_between(claim.pieces, ours[one], ours[other])
            held = _list_between(sentence, theirs[other], theirs[one])
            plain = not {w.text.lower() for w in (*between, *held)} & agents
            same = any(w.terms & v.terms for w in between for v in held if w.terms)
            if plain and same and not any(_JOINING & {w.text.lower()} for w in (*between, *held)):
                return "the claim exchanges those who deal with each other"
    return None


def _list_parties(facts: Facts, alignment: Alignment) -> dict[str, int]:
    """Where each name, and each role whose other side is named too, stands first."""
    roles = load_lexicon(facts.language).roles
    senses = {sense for word in alignment.claim.words for sense in word.senses}
    found: dict[str, int] = {}
    last = ""
    for word in (word for piece in facts.pieces for word in piece.words):
        sides = [s for s in word.senses if s[0] in roles and (s[0], -s[1]) in senses]
        name = word.text in alignment.claim.names or word.text in alignment.claim.openings
        if name and word.text in alignment.evidence.text and not last:
            found.setdefault(min(word.terms, default=word.text), word.start)
        if sides:
            found.setdefault(str(sides[0]), word.start)
        last = word.text if name else ""
    return found


def _list_between(pieces: Sequence[Piece], start: int, end: int) -> list[Word]:
    return [word for piece in pieces for word in piece.words if start < word.start < end]


def _find_actor(one: _Role, other: _Role, agents: set[str]) -> int | None:
    """0 or 1 for the one that acts; None where that is not said of either."""
    by = [role.before in agents for role in (one, other)]
    opens = [role.before == "^" for role in (one, other)]
    if sum(by) == 1:
        return by.index(True)
    if not any(by) and sum(opens) == 1 and not ({one.before, other.before} & _JOINING):
        return opens.index(True)
    return None
