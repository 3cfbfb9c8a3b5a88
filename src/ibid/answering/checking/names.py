"""Names: capitalised words, and in scripts without capitals what stands where names stand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ibid.answering.checking.lexicon import Lexicon
from ibid.language.analyzer import content_terms

_WORD: Final = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_ELISION: Final = re.compile(r"^(?:[ldnscjmt]|qu)['’]", re.IGNORECASE)

_SURNAMES: Final = (
    "王李张張刘劉陈陳杨楊赵趙黄黃周吴吳徐孙孫胡朱高林何郭马馬罗羅梁宋郑鄭谢謝韩韓唐冯馮于董萧蕭程曹袁邓鄧许許"
    "傅沈曾彭吕呂苏蘇卢盧蒋蔣蔡贾賈丁魏薛叶葉阎余潘杜戴夏钟鍾汪田任姜范方石姚谭譚廖邹鄒熊金陆陸郝孔白崔康毛邱秦江史顾顧"
    "侯邵孟龙龍万段雷钱錢汤湯尹黎易常武乔喬贺賀赖龔龚文"
)
_CHINESE_NAME: Final = re.compile(
    rf"(?:[是由为為、和与與对對向叫,。:：，]|\A|创始人|负责人|经理|主任|馆长|教授|老师|作者|医生|校长)"
    rf"(?P<name>[{_SURNAMES}][㐀-鿿]{{1,2}}?)"
    r"(?=[,。、.;，]|\Z|\[|\d|[在于是和与的说任创担先女主领负管设写发为将被及]|表示|提出|出生|教授|老师)"
)
_CHINESE_PLACE: Final = re.compile(
    "[在于到从去往位至](?P<name>(?![年于])[㐀-鿿]{2,3}?)(?=成立|举行|召开|市|省|县|工作|开设|出生|建|设|创|开|运|的|[,。，]|\\Z)"
)
_JAPANESE_NAME: Final = re.compile(
    "(?P<name>[㐀-鿿々]{2,6})(?=さん|氏|様|先生|教授|部長|社長|博士|によって|により)"
    "|(?P<place>[㐀-鿿々]{2,3})(?=支店|支社|工場|市|県|区|駅|大学|本社|営業所|空港|港|城|湖|川|山)"
)
_KATAKANA_NAME: Final = re.compile(
    "[ァ-ヺー]{2,}(?:・[ァ-ヺー]+)+|[ァ-ヺー]{2,}(?=さん|氏|市|社|州|駅|島)"
)
_TITLES: Final = frozenset(
    "herr frau herrn mr mrs ms mme mlle sr sra dr prof doktor professor".split()  # noqa: SIM905
)
_GERMAN_ADJECTIVE: Final = re.compile(r".{3,}e[rsnm]?\Z")
_GERMAN_NOUN: Final = re.compile(
    r".*(?:ung|ungen|heit|heiten|keit|keiten|schaft|tion|tionen|tät|nis|nisse|ling|ment|tage|zeit|zeiten)\Z"
)


def read_names(text: str, language: str | None, lexicon: Lexicon) -> Iterator[str]:
    """Capitalised words, save a first word that only opens the sentence.

    German writes every noun with a capital: there a name is one of two capitalised words in a row,
    or follows a title.
    """
    words = list(_WORD.finditer(text))
    for place, match in enumerate(words):
        word = _ELISION.sub("", match[0])
        if (
            not word
            or not word[0].isupper()
            or word.lower() in _TITLES
            or not _carries(word, language, lexicon)
        ):
            continue
        before = words[place - 1] if place else None
        after = words[place + 1] if place + 1 < len(words) else None
        if language == "de":
            if _is_german_name(text, before, match, after):
                yield word
            continue
        opens = _opens_sentence(text, match.start()) and len(word) == len(match[0])
        inner = any(character.isupper() for character in word[1:])
        if not opens or inner or (after and after[0][:1].isupper() and _touch(text, match, after)):
            yield word


def _carries(word: str, language: str | None, lexicon: Lexicon) -> bool:
    lower = word.lower()
    return (word.isupper() and len(word) > 1) or (
        bool(content_terms(word, language)) and lower not in lexicon.signs
    )


def _is_german_name(
    text: str, before: re.Match[str] | None, match: re.Match[str], after: re.Match[str] | None
) -> bool:
    opens = _opens_sentence(text, match.start())
    if _GERMAN_NOUN.match(match[0]) or (opens and _GERMAN_ADJECTIVE.match(match[0])):
        return False
    if before and before[0].lower() in _TITLES and before[0][0].isupper():
        return True
    return any(
        other is not None
        and other[0][0].isupper()
        and _touch(text, *sorted((match, other), key=lambda one: one.start()))
        and not _opens_article(text, other)
        and not _GERMAN_NOUN.match(other[0])
        for other in (before, after)
    )


def _opens_article(text: str, match: re.Match[str]) -> bool:
    """Whether a capital only opens the sentence: the word is a function word."""
    return not content_terms(match[0], "de")


def _touch(text: str, first: re.Match[str], second: re.Match[str]) -> bool:
    return (
        text[first.end() : second.start()].strip() in ("", ".") and second.start() - first.end() < 3
    )


def _opens_sentence(text: str, position: int) -> bool:
    before = text[:position].rstrip(" \t\n\"'“„«([*_#-")
    return not before or (before[-1] in ".!?:|。" and not _INITIAL.search(before))


_INITIAL: Final = re.compile(r"\b[A-Z]\.\Z")
"""A title or the first letter of a name, whose point ends nothing."""


def read_dense_names(text: str, language: str) -> list[str]:
    """Names in Chinese and Japanese: a surname where one may stand, what さん or 市 follows."""
    patterns = (
        (_CHINESE_NAME, _CHINESE_PLACE) if language == "zh" else (_JAPANESE_NAME, _KATAKANA_NAME)
    )
    return [match[match.lastgroup or 0] for pattern in patterns for match in pattern.finditer(text)]
