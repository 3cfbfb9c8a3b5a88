"""The kind of thing that a question asks for, and how a sentence that tells it looks."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from ibid.language.late import late
from ibid.record import record

_NUMBER: Final = (
    r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|hundred|thousand"
    r"|million|billion|half|twice|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|zwölf|hundert"
    r"|deux|trois|quatre|cinq|six|sept|huit|neuf|dix|douze|cent|mille"
    r"|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|doce|cien|mil)\b"
    r"|\b(?:one|eine[nmrs]?|ein|une?|una) (?:hour|day|week|month|year|stunde|tag|woche|monat|jahr"
    r"|heure|jour|semaine|mois|an|hora|día|semana|mes|año)s?\b"
    r"|[一二三四五六七八九十百千万两]"
)
_DATE: Final = (
    r"\b[12]\d{3}\b|\d{1,2}[:.]\d{2}\b|\d\s*(?:am|pm|uhr|st|nd|rd|th)\b|[\d一二三四五六七八九十][年月日時时点]|正午"
    r"|\b(?:january|february|march|april|may|june|july|august|september|october|november|december"
    r"|monday|tuesday|wednesday|thursday|friday|saturday|sunday|century|today|daily|weekly|yearly"
    r"|noon|midnight|dawn|dusk|mittags?|mitternacht|midi|minuit|mediodía|medianoche"
    r"|januar|februar|märz|mai|juni|juli|oktober|dezember|montag|dienstag|mittwoch|donnerstag"
    r"|freitag|samstag|sonntag|jahrhundert"
    r"|janvier|février|mars|avril|juin|juillet|août|septembre|octobre|novembre|décembre|lundi|mardi"
    r"|mercredi|jeudi|vendredi|samedi|dimanche|siècle"
    r"|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre"
    r"|lunes|martes|miércoles|jueves|viernes|sábado|domingo|siglo)\b"
)
_NAME: Final = r"(?<=[a-zäöüßéèà,;`'() ] )[A-ZÄÖÜÉ]\w+"
_PLACE: Final = (
    r"\b(?:in|at|on|near|from|to|of|bei|aus|nach|à|en|dans|au|aux|de|desde|hacia) "
    r"(?:the |der |den |la |le |el |los |las )?[A-ZÄÖÜÉ]\w+|\b(?:located|situated|befindet|liegt"
    r"|situé|trouve|ubicad[oa]|desk|office|room|floor|building|page)\b|位于|在|にあ"
)
_REASON: Final = (
    r"\b(?:because|since|due to|so that|in order to|therefore|reasons?|caused?|causes|as a result"
    r"|led to|owing to|weil|wegen|damit|deshalb|aufgrund|um|parce|car|afin|puisque|grâce"
    r"|porque|debido|para que|por eso|gracias)\b|因为|因為|由于|由於|ため|ので|から"
)
_STEP: Final = (
    r"\b(?:by|using|use|through|with|via|open|choose|click|select|press|run|set|enter|install|call"
    r"|first|then|durch|mit|öffnen|wählen|avec|par|ouvrez|choisissez|mediante|con|abra|elija)\b"
)
_IS: Final = (
    r"\b(?:is|are|was|were|means|refers to|ist|sind|war|est|sont|était|es|son|era)\b|是|指|とは"
)


@record
class Kind:
    """A kind of answer: the questions that ask for it, and the sentences that tell it.

    A `single` one is a thing that one sentence tells.
    """

    name: str
    single: bool
    asked: Callable[[], re.Pattern[str]]
    told: Callable[[], re.Pattern[str]]


def _kind(name: str, asked: str, told: str, *, single: bool = False, cased: bool = False) -> Kind:
    # Names are told by their capitals; all else is the same in small letters.
    return Kind(
        name, single, late(lambda: f"(?i){asked}"), late(lambda: told if cased else f"(?i){told}")
    )


KINDS: Final = (
    _kind(
        "quantity",
        r"\bhow (?:long|soon|often|old|far|many|much|big|large|high|tall|deep|wide|fast|heavy)\b"
        r"|\bwhat (?:is|are|was|were)(?: the)? (?:\w+ ){0,2}"
        r"(?:number|amount|price|cost|rate|percentage|limit|size|height|length|age|population)\b"
        r"|\bwie (?:viele?|lange|oft|alt|weit|groß|hoch|teuer|schnell)\b|\bcombien\b"
        r"|\bcuánt[oa]s?\b|多少|几[个天年月次小]|多[久长大高]|いくつ|いくら|何[人個日年時回円]|どのくらい",
        _NUMBER,
        single=True,
    ),
    _kind(
        "date",
        r"\b(?:when|what (?:date|year|day|time|month)|(?:which|what) (?:year|century)|how soon"
        r"|wann|quand|cuándo|in welchem jahr|en quelle année|en qué año)\b"
        r"|什么时候|何时|几[点號号]|哪[一]?年|いつ|何[年月日時]",
        rf"{_DATE}|{_NUMBER}",
        single=True,
    ),
    _kind(
        "person",
        r"\b(?:who|whom|whose|which person|wer|wen|wem|wessen|qui|quién|quiénes)\b|谁|誰",
        rf"{_NAME}|[一-鿿]",
        single=True,
        cased=True,
    ),
    _kind(
        "place",
        r"\b(?:where|(?:which|what) (?:city|country|place|state|town|room|page)|wo|woher|wohin|où"
        r"|dónde|adónde)\b|哪里|哪儿|在哪|どこ",
        _PLACE,
        single=True,
        cased=True,
    ),
    _kind(
        "reason",
        r"\b(?:why|what (?:is|was|are|were) the (?:reason|cause|purpose)s?|what caused"
        r"|warum|wieso|weshalb|pourquoi|por qué)\b|为什么|為什麼|なぜ|どうして",
        _REASON,
    ),
    _kind(
        "manner",
        r"\bhow (?:do|does|did|can|could|should|to|is|are|was|were)\b"
        r"|\bwie (?:kann|macht|geht|wird)\b|\bcomment\b|\bcómo\b|怎么|如何|どうやって|どのように",
        _STEP,
    ),
    _kind(
        "definition",
        r"\A\W*(?:what|who) (?:is|are|was|were)(?: an?| the)? \S+(?: \S+){0,2}\W*\Z"
        r"|\bwhat does .* mean\b|\bmeaning of\b|\bwas (?:ist|bedeutet|sind)\b|\bqu'est-ce\b"
        r"|\bqué (?:es|significa|son)\b|是什么|什么是|とは",
        _IS,
    ),
)
"""What is asked for, the most telling first; a question may ask for several."""

_LIST: Final = late(
    lambda: (
        r"(?i)\b(?:list|name|enumerate)\b(?: all| the| some| \d+)"
        r"|\bwhat (?:are|were) (?:the|some|all|two|three|four|five|\d+)\b"
        r"|\bwhich \w+s (?:are|were|do|can|may|have|support)\b"
        r"|\b(?:examples|types|kinds|steps|reasons|functions|features|advantages|parts|ways)\b"
        r"|\b(?:nenne|welche \w+en)\b|\bquels? sont\b|\bquelles? sont\b|\bcuáles son\b"
        r"|哪些|有什么|どんな"
    )
)


def find_kinds(question: str) -> list[Kind]:
    """The kinds of answer that a question asks for, the most telling first; often just one."""
    return [kind for kind in KINDS if kind.asked().search(question)]


def asks_for_list(question: str) -> bool:
    """Whether a question asks for several things rather than for one."""
    return _LIST().search(question) is not None
