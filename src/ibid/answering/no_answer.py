"""How a language model says that the sources hold no answer."""

from __future__ import annotations

import re
from typing import Final

from ibid.language.late import late

NO_ANSWER: Final = "NO ANSWER IN THE SOURCES"
"""What a language model is asked to write, and nothing else, when the sources hold no answer."""

MOST_SENTENCES: Final = 3
"""What is longer says something."""

_TAIL: Final = (
    r"(?:(?!\b(?:but|however|only|though|although|except|aber|jedoch|nur|allerdings"
    r"|mais|seulement|sauf|pero|aunque|solo|sólo|salvo)\b|[;；]|\[\d|但|只|が、).)*"
)
"""The rest of a sentence, in which nothing is said after all."""

_WORDINGS: Final = (
    # English
    r"(?:(?:i(?:['’]m| am) )?(?:sorry|afraid|unfortunately)\W+(?:but |that )?)?"
    r"(?:(?:based on|according to|from|given|in|with) (?:only )?"
    r"(?:the|these|this) (?:\w+ )?{kept}{given},? )?"
    r"(?:i (?:do not|don['’]t|cannot|can['’]t|could not|couldn['’]t|am (?:not able|unable) to)"
    r" (?:know|answer|find|tell|determine|say){tail}"
    r"|(?:(?:the|these|this) (?:\w+ )?{kept}{given} (?:do(?:es)? not|do(?:es)?n['’]t|did not"
    r"|cannot|can['’]t)|none of the (?:\w+ )?{kept}{given}) (?:seem to )?"
    r"(?:contain|mention|provide|say|state|include|specify|answer|give|hold|tell|indicate|address"
    r"|discuss|cover)s?\b{tail}"
    r"|there is (?:no|not enough) (?:answer|information|mention){tail}"
    r"|(?:it|this|that|the answer) is (?:not|nowhere) (?:\w+ )?(?:in|by) the {kept}{tail}"
    r"|(?:no answer|not (?:answered|stated|mentioned|given)){tail})",
    # German
    r"(?:leider |tut mir leid\W+)?(?:(?:das )?weiß ich (?:es |das )?nicht"
    r"|ich weiß (?:es |das )?nicht"
    r"|(?:ich )?kann (?:ich )?(?:die frage|das|dies) {tail}nicht (?:beantworten|sagen)"
    r"|(?:die|den|in den|der|im) (?:\w+ )?(?:quellen?|dokumenten?|kontext|texten?) {tail}"
    r"(?:kein\w*|nicht)\b){tail}",
    # French
    r"(?:désolée?\W+)?(?:je ne (?:sais|peux|trouve) (?:pas|rien)"
    r"|(?:les|le) (?:sources?|documents?|contexte|textes?)(?: \w+)? ne "
    r"(?:contien\w+|mentionn\w+|fourni\w+|di\w+|donn\w+|répond\w+|précis\w+)"
    r" (?:pas|aucune?)){tail}",
    # Spanish
    r"(?:lo siento\W+)?(?:no (?:lo )?sé|no (?:puedo|encuentro)|(?:las|los|el) "
    r"(?:fuentes?|documentos?|contexto|textos?)(?: \w+)? no "
    r"(?:contien\w+|mencion\w+|proporcion\w+|dic\w+|d[ai]n?|respond\w+|indic\w+)){tail}",
    # Chinese, Japanese
    r"(?:抱歉[,，]?|对不起[,，]?)?(?:我?不知道|我?无法(?:回答|确定)|(?:这些|所给的?|提供的)?"
    r"(?:来源|资料|文档|上下文|文件)(?:中|里)?(?:没有|未|并未|不包含)){tail}",
    r"(?:申し訳ありませんが、?)?(?:わかりません|分かりません|(?:提供された)?"
    r"(?:資料|文書|出典|情報源|文脈|コンテキスト)(?:に|から)は?[^。]*"
    r"(?:ありません|ません|記載されていない|いません))",
)  # fmt: skip
"""A whole sentence each."""

_KEPT: Final = r"(?:sources?|context|documents?|passages?|texts?|excerpts?|information)"
_GIVEN: Final = r"(?: (?:provided|given|above|below|here|you gave))*"

_CITES: Final = re.compile(r"[\[［【]\W{0,3}\d")

_SAYS_NOTHING: Final = late(
    lambda: (
        "(?i)(?:"
        + "|".join(
            wording.replace("{tail}", _TAIL).replace("{kept}", _KEPT).replace("{given}", _GIVEN)
            for wording in _WORDINGS
        )
        + ")"
    )
)


def says_no_answer(answer: str) -> bool:
    """Whether a model wrote that the sources hold no answer, and nothing else.

    It is asked for NO_ANSWER by our own template and for "I don't know" by the plain ones; models
    have many ways to say it. All of its sentences must say so, MOST_SENTENCES at most: an answer
    that knows one thing and not another is an answer. So is what cites a source; it is checked.
    """
    if _CITES.search(answer):
        return False
    bare = answer.strip(" .!*\"'\n")
    if bare.upper() == NO_ANSWER:
        return True
    sentences = [one for one in re.split(r"(?<=[.!?])\s+|(?<=[。！？])|\n+", bare) if one.strip()]
    return 0 < len(sentences) <= MOST_SENTENCES and all(
        _SAYS_NOTHING().fullmatch(one.strip(" .!*\"'。")) for one in sentences
    )
