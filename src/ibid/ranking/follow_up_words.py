"""Words by which a question leans on what was said before, by language.

Words that as often stand for nothing ("gibt es", "y a-t-il", "het weer") are left out: a question
that stands on its own is to be left alone.
"""

from __future__ import annotations

import re
from typing import Final

POINTERS: Final = {
    "en": """
        it its itself he him his she her hers they them their theirs this that these those
        one ones such former latter same else another
    """,
    "de": """
        er ihn ihm ihr ihre ihren ihrem dies diese dieser dieses diesen diesem jene jener dort
        dafür davon damit dazu daran darauf darin dabei dagegen dasselbe derselbe dieselbe
    """,
    "fr": """
        elle ils elles lui leur leurs ça cela ceci celui celle ceux celles ce cet cette ces
        celui-ci celle-ci autre autres
    """,
    "es": """
        él ella ellos ellas ello este esta esto estos estas ese esa eso esos esas aquel aquella
        allí mismo otro otra
    """,
    "it": """
        lui lei loro esso essa essi esse questo questa questi queste quello quella quelli quelle
        stesso altro altra
    """,
    "pt": """
        ele ela eles elas isto isso este esta esse essa aquele aquela lá mesmo outro outra
    """,
    "nl": "hij zij hem haar hun hen dit deze daar ervan daarvan hetzelfde andere",
    "ru": """
        он она оно они его её ее их ему ей им него неё них этот эта это эти тот та то те там
        такой такая такие другой другая другие
    """,
}
"""Words that stand for something said before."""

_OPENERS: Final = {
    "en": (
        "(?:and|but|or|so|then|also|yes|yeah|no|nope|ok|okay|sure|right)\\b",
        "(?:what|how) (?:about|else|more)\\b|what if\\b|other than\\b|any other\\b",
        "(?:why|why not|how so|how come|since when|like what|for how long|where|when|who)\\W*$",
    ),
    "de": (
        "(?:und|aber|oder|dann|auch|ja|nein|gut|doch)\\b",
        "was ist mit\\b|wie (?:ist|sieht) es (?:mit|bei)\\b",
        "(?:warum|wieso|wie lange|wann|wo|wer)(?: nicht)?\\W*$",
    ),
    "fr": (
        "(?:et|mais|ou|donc|alors|aussi|oui|non|d'accord)\\b",
        "qu'en est-il\\b",
        "(?:pourquoi|quand|où|qui)\\W*$",
    ),
    "es": (
        "(?:y|pero|o|entonces|también|sí|no|vale)\\b",
        "qué (?:tal|hay de)\\b",
        "(?:por qué|cuándo|dónde|quién)\\W*$",
    ),
    "it": (
        "(?:e|ed|ma|o|allora|anche|sì|no)\\b",
        "che ne (?:dici|è)\\b",
        "(?:perché|quando|dove|chi)\\W*$",
    ),
    "pt": ("(?:e|mas|ou|então|também|sim|não)\\b", "(?:por quê|quando|onde|quem)\\W*$"),
    "nl": (
        "(?:en|maar|of|dus|dan|ook|ja|nee)\\b",
        "hoe zit het met\\b",
        "(?:waarom|wanneer|waar|wie)\\W*$",
    ),
    "ru": ("(?:и|а|но|или|тогда|также|да|нет)\\b", "(?:почему|когда|где|кто)\\W*$"),
    "zh": ("那|还有|還有|它|他们|他|她|这个|那个|這個", "为什么\\W*$|為什麼\\W*$"),
    "ja": ("では|じゃあ|それ|その|これ|この|あれ|彼|はい|いいえ", "なぜ\\W*$"),
    "ko": ("그럼|그러면|그리고|그것|그건|이것|네|아니", "왜\\W*$"),
    "ar": ("و?ماذا عن|نعم|لا\\b", "لماذا\\W*$"),
}
"""How questions begin that go on with the last one, and those of one word."""

OPENERS: Final = {
    language: re.compile(rf"\W*(?:{'|'.join(patterns)})") for language, patterns in _OPENERS.items()
}

ANSWER: Final = re.compile(
    r"\W*(?:yes|yeah|yep|no|nope|ok|okay|sure|please|go on|ja|nein|oui|non|sí|si|sì|sim|não|да|нет"
    r"|是|对|好|はい|いいえ|네|예)\W*(?:please|bitte)?\W*",
    re.IGNORECASE,
)
"""An answer to what was asked last, rather than a question."""
