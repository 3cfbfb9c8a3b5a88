"""What a sentence states that can be checked: facts, names, negations, quantifiers, in pieces.

A piece is a stretch between two joints ("and", a comma): what stands in one belongs together. So
that "opens at 9 and closes at 17" doesn't hold "opens at 17", every fact is met with the words of
its own piece.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final, TypeAlias

from ibid.answering.checking.figures import blank, read_figures
from ibid.answering.checking.lexicon import Lexicon, Sense, load_lexicon
from ibid.answering.checking.measures import Bound, Fact
from ibid.answering.checking.names import read_dense_names, read_names
from ibid.answering.checking.vocabulary import DENSE, EMPTY_CHARACTERS
from ibid.language.analyzer import content_terms

_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_ELIDED_WORD: Final = re.compile(r"[^\W_]+")
_DENSE_WORD: Final = re.compile("[ァ-ヺー]+|[a-zA-Z]+|[㐀-鿿々]")
_SENTENCE_END: Final = re.compile(r"(?:(?<!\b[A-Z])\.|[!?])(?=\s)|[。！？\n]")
"""The point behind a single capital is that of an initial, or of a title: M. Perrin."""

_QUOTATION: Final = re.compile(
    r"(?<!\w)\"(?=\S)([^\"\n]+)\"(?!\w)"
    r"|“([^”\n]+)”|„([^“”\n]+)[“”]|«([^»\n]+)»|「([^」\n]+)」"
)
_NOT_ONLY: Final = re.compile(
    r"\b(?:not only|nicht nur|non seulement|no sólo|no solo)\b|不仅|だけでなく", re.I
)

_NE_QUE: Final = re.compile(
    r"\b(?P<ne>ne\b|n['’])(?:(?!\b(?:pas|plus|jamais|rien|aucune?|personne)\b)[^.,;]){1,40}?"
    r"\b(?P<que>que\b|qu['’])",
    re.IGNORECASE,
)
"""What French says for "only"."""

_POINTER: Final = re.compile(
    r"\b(?:according to|as (?:stated|described) in|laut|gemäß|selon|d'après|según)\s+"
    r"(?:the|dem|der|de[rn]|le|la|les|el|los|las)\s+"
    r"(?:text|passage|source|document|dokument|quelle|texte|texto|fuente|documento)s?\b,?",
    re.I,
)
"""Words that point at the source itself: no passage says them of itself."""

_POSSESSIVE: Final = re.compile(r"['’]s\Z")

HAN_WEIGHT: Final = 0.4

Key: TypeAlias = str | Sense | tuple[str, float]
"""What two texts can share: a term, a sense, a fact."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word that carries meaning, by its terms and senses; `signs` are what else it tells."""

    text: str
    start: int
    terms: frozenset[str]
    senses: tuple[Sense, ...] = ()
    signs: tuple[str, ...] = ()

    @property
    def keys(self) -> frozenset[Key]:
        """What it can be met by: its terms and senses."""
        return self.terms | frozenset(self.senses)

    @property
    def opposites(self) -> frozenset[Sense]:
        """The senses of which this word says the opposite."""
        return frozenset((concept, -sign) for concept, sign in self.senses)

    @property
    def weight(self) -> float:
        """What the word counts: a single Han character is a part of a word."""
        return HAN_WEIGHT if len(self.text) == 1 and self.text >= "㐀" else 1.0


@dataclass(frozen=True, slots=True)
class Piece:
    """What is said between two joints; `sentence` counts the sentences of a reading from 0.

    A context (a title, the header of a table) has the sentence -1: it lends its words and facts,
    and denies nothing. `opposes` tells that it names one of two opposites.
    """

    text: str
    words: tuple[Word, ...]
    facts: tuple[Fact, ...]
    signs: frozenset[str]
    sentence: int = 0
    opposes: bool = False

    @property
    def content(self) -> list[Word]:
        """The words that carry meaning."""
        return [word for word in self.words if word.terms or word.senses]

    @property
    def senses(self) -> dict[int, int]:
        """The sign of each concept that is named with one sign only."""
        signs: dict[int, set[int]] = {}
        for word in self.words:
            for concept, sign in word.senses:
                signs.setdefault(concept, set()).add(sign)
        return {concept: min(found) for concept, found in signs.items() if len(found) == 1}


@dataclass(frozen=True, slots=True)
class Facts:
    """What a stretch of text states, piece by piece.

    `openings` are capitalised words that open a sentence, and may be names or not.
    """

    text: str
    language: str | None
    pieces: tuple[Piece, ...]
    names: tuple[str, ...] = ()
    quotations: tuple[str, ...] = ()
    openings: tuple[str, ...] = ()

    @property
    def words(self) -> list[Word]:
        """The words that carry meaning, in order."""
        return [word for piece in self.pieces for word in piece.content]

    @property
    def facts(self) -> list[Fact]:
        """The facts of all pieces, in order."""
        return [fact for piece in self.pieces for fact in piece.facts]


def read_facts(text: str, *, language: str | None = None, context: bool = False) -> Facts:
    """The facts of a sentence or two; `context` is for what stands above one."""
    lexicon = load_lexicon(language)
    facts, codes, bare = read_figures(text, language)
    for pattern in (_NOT_ONLY, _POINTER):
        bare = blank(bare, (match.span() for match in pattern.finditer(bare)))
    words = list(_read_words(bare, lexicon, language))
    names = list(read_names(bare, language, lexicon))
    if lexicon.language in DENSE:
        names += read_dense_names(text, lexicon.language)
    return Facts(
        text=text,
        language=language,
        pieces=tuple(_cut_pieces(text, bare, words, facts, lexicon, context=context)),
        names=tuple(dict.fromkeys([*codes, *(_POSSESSIVE.sub("", name) for name in names)])),
        quotations=tuple(next(filter(None, match)) for match in _QUOTATION.findall(text)),
        openings=_read_opening(words),
    )


def _read_opening(words: Sequence[Word]) -> tuple[str, ...]:
    first = min(words, key=lambda word: word.start, default=None)
    plain = first is None or first.senses or first.signs or not first.terms
    return () if plain or first is None or not first.text.istitle() else (first.text,)


def join_facts(parts: Sequence[Facts]) -> Facts:
    """The facts of several texts, at least one, as those of one; each is a sentence of its own."""
    pieces = []
    for number, part in enumerate(parts):
        base = number * 100
        for piece in part.pieces:
            place = piece.sentence if piece.sentence < 0 else base + piece.sentence
            pieces.append(replace(piece, sentence=place))
    return Facts(
        text="\n".join(part.text for part in parts),
        language=parts[0].language,
        pieces=tuple(pieces),
        names=tuple(dict.fromkeys(name for part in parts for name in part.names)),
        quotations=tuple(quotation for part in parts for quotation in part.quotations),
        openings=tuple(opening for part in parts for opening in part.openings),
    )


def _read_words(text: str, lexicon: Lexicon, language: str | None) -> Iterator[Word]:
    """The words of a text: first the phrases of the lexicon, then what lies between them."""
    for match in _NE_QUE.finditer(text) if lexicon.language == "fr" else ():
        yield Word(match["que"], match.start("que"), frozenset(), (), ("only",))
        text = blank(text, (match.span("ne"), match.span("que")))
    phrases = list(lexicon.phrases.finditer(text))
    for match in phrases:
        key = match[0].lower()
        dense = lexicon.language in DENSE
        signs = lexicon.signs.get(key, ())
        senses = lexicon.senses.get(key) or lexicon.senses.get(f"{key}$", ())
        terms = frozenset({key}) if senses or (dense and not signs) else frozenset[str]()
        yield Word(match[0], match.start(), terms, senses, signs)
    rest = blank(text, (match.span() for match in phrases))
    if lexicon.language in DENSE:
        for match in _DENSE_WORD.finditer(rest):
            if match[0] not in EMPTY_CHARACTERS:
                yield Word(match[0], match.start(), frozenset({match[0].lower()}))
        return
    pattern = _ELIDED_WORD if lexicon.language == "fr" else _WORD
    for match in pattern.finditer(rest):
        yield _read_word(match, lexicon, language)


def _read_word(match: re.Match[str], lexicon: Lexicon, language: str | None) -> Word:
    word = match[0].lower().replace("’", "'")
    signs = lexicon.signs.get(word, ())
    if word == "free" and match.string[match.start() - 1 : match.start()] == "-":
        return Word(match[0], match.start(), frozenset(), (), ("not", "lacking"))  # sugar-free
    if word.endswith("n't"):
        signs = (*lexicon.signs.get(word[:-3], ()), *(() if signs else ("not",)), *signs)
    terms = frozenset(content_terms(match[0], language)) if not signs else frozenset[str]()
    found = (sense for key in (word, *sorted(terms)) for sense in lexicon.senses.get(key, ()))
    senses = tuple(dict.fromkeys(found))
    return Word(match[0], match.start(), terms, senses, signs)


def _cut_pieces(
    text: str,
    bare: str,
    words: Sequence[Word],
    facts: Sequence[Fact],
    lexicon: Lexicon,
    *,
    context: bool,
) -> Iterator[Piece]:
    leads = {word.start + len(word.text) for word in words if _LEADS & {*word.signs}}
    cuts = [m.start() for m in lexicon.joints.finditer(bare)]
    cuts = [cut for cut in cuts if len(bare[:cut].rstrip()) not in leads]
    sentence_ends = [match.end() for match in _SENTENCE_END.finditer(bare)]
    edges = sorted({0, len(text), *cuts, *sentence_ends})
    framed = -1
    before: Piece | None = None
    denied: Word | None = None
    for start, end in pairwise(edges):
        inside = sorted((w for w in words if start <= w.start < end), key=lambda w: w.start)
        inside = _join_verb(text[start:end], inside, lexicon)
        held = tuple(fact for fact in facts if start <= fact.start < end)
        if not inside and not held and "·" not in bare[start:end]:
            continue
        signs = {sign for word in inside for sign in word.signs}
        sentence = -1 if context else sum(cut <= start for cut in sentence_ends)
        if "frame" in signs:
            framed = sentence
        elif sentence != framed or text[start] in ";；":
            framed = -2
        signs ^= {"not"} if framed == sentence else set()
        opposes = any(c in lexicon.opposed for word in inside for c, _ in word.senses)
        piece = Piece(text[start:end], tuple(inside), held, frozenset(signs), sentence, opposes)
        if before is not None and before.sentence == sentence:
            piece = _complete(piece, before)
            piece = _deny_too(piece, denied, lexicon)
        denied = _find_spreading(piece)
        before = piece
        yield turn_limits(piece)


def _join_verb(text: str, words: list[Word], lexicon: Lexicon) -> list[Word]:
    """The words of a German clause, a verb with the part that it leaves at the end: lehnte … ab."""
    ends = text.rstrip(" .,;:!?\n").split(" ")[-1]
    if len(words) < 3 or ends not in lexicon.particles or words[-1].text != ends:
        return words
    verbs = [word for word in words[:-1] if word.terms and word.text[0].islower()]
    known = (w for w in verbs if lexicon.senses.get(words[-1].text + w.text.lower()))
    verb = next(known, verbs[0] if verbs else None)
    if verb is None and words[0].terms:
        verb = words[0]  # Schalten Sie … aus
    if verb is None:
        return words
    whole = words[-1].text + verb.text.lower()
    stem = content_terms(re.sub(r"t(?:e[nt]?)?\Z", "en", whole), "de")
    keys = (whole, *content_terms(whole, "de"), *stem)
    senses = tuple(dict.fromkeys(s for key in keys for s in lexicon.senses.get(key, ())))
    terms = frozenset(keys[1:]) | (frozenset() if senses else verb.terms)
    joined = replace(verb, terms=terms, senses=senses)
    return [joined if word is verb else word for word in words[:-1]]


def _find_spreading(piece: Piece) -> Word | None:
    """The negation of a piece that holds for what "or" adds to it; none of a condition."""
    if "not" not in piece.signs or {"condition", "free"} & piece.signs:
        return None
    plain = (w for w in piece.words if "not" in w.signs and "lacking" not in w.signs)
    return next(plain, None)


def _deny_too(piece: Piece, denied: Word | None, lexicon: Lexicon) -> Piece:
    """A piece with the negation of the one in front, where it adds to that: not A or B.

    What has a subject, a modal or a negation of its own is a statement of its own.
    """
    tokens = piece.text.lower().split()
    own = tokens[1:2] and tokens[1] in lexicon.pronouns
    if denied is None or own or _OWN & piece.signs or tokens[0] not in _OR:
        return piece
    return replace(piece, words=(denied, *piece.words), signs=piece.signs | {"not"})


_OR: Final = frozenset({"or", "oder", "ou", "o", "u"})
_OWN: Final = frozenset({"not", "forbid", "free", "must", "may", "should", "perhaps", "condition"})
"""Signs by which a piece states something by itself."""

_LEADS: Final = frozenset({"except", "include", "only", "despite"})
"""Signs of words that speak of what a joint behind them opens: except when it rains."""


def _complete(piece: Piece, before: Piece) -> Piece:
    """A piece that ends in its negation ("pencils are not") with what the one in front says."""
    if not piece.words or "not" not in piece.words[-1].signs or len(piece.content) > 1:
        return piece
    place = next((n for n, word in enumerate(before.words) if word.terms), len(before.words))
    words = (*piece.words, *before.words[place + 1 :])
    return replace(piece, words=words, signs=piece.signs | before.signs)


def turn_limits(piece: Piece) -> Piece:
    """The piece with "must not weigh more than 23 kg" read as the limit that it is."""
    denials = [word.start for word in piece.words if {"not", "forbid"} & set(word.signs)]
    turned = {">", "<"} if {"must", "may", "should", "forbid"} & piece.signs else {">"}
    limited = [
        f for f in piece.facts if f.bound in turned and min(denials, default=f.end) < f.start
    ]
    if not limited:
        return piece
    facts = tuple(replace(f, bound=_TURNED[f.bound]) if f in limited else f for f in piece.facts)
    return replace(piece, facts=facts, signs=piece.signs - {"not", "must", "may", "forbid"})


_TURNED: Final[dict[Bound, Bound]] = {">": "<=", "<": ">="}
