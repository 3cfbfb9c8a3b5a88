"""The words of an abstention: that there is no answer, what was looked for, what lies nearest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from ibid.answering.questions import ask_terms
from ibid.language import scripts
from ibid.language.analyzer import content_terms
from ibid.language.late import late
from ibid.language.stop_words import FUNCTION_CHARACTERS
from ibid.record import record
from ibid.records import NearDocument

MOST_TERMS: Final = 6
"""Key terms that are named; a question of more is long enough to be known by these."""

LONGEST_NAME: Final = 80
"""Characters of a key term or a title that are shown."""

_WORD: Final = late(
    lambda: rf"[^\W_](?:[\w{scripts.list_marks()}'’.\-]*[\w{scripts.list_marks()}])?"
)
_UNSPACED_ASIAN: Final = late(lambda: f"[{scripts.EAST_ASIAN}{scripts.SOUTHEAST_ASIAN}]")
_HANGUL: Final = late(lambda: "[\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3]")


@record
class Wording:
    """The three sentences of an abstention in one language; `{}` stands for names."""

    nothing: str
    looked_for: str
    nearest: str
    separator: str = ", "
    blank: str = " "


WORDINGS: Final = {
    "en": Wording(
        "The documents hold no answer to this question.",
        "Looked for: {}.",
        "Nearest documents: {}.",
    ),
    "de": Wording(
        "Die Dokumente enthalten keine Antwort auf diese Frage.",
        "Gesucht wurde: {}.",
        "Am nächsten liegen: {}.",
    ),
    "fr": Wording(
        "Les documents ne contiennent pas de réponse à cette question.",
        "Recherché\u00a0: {}.",
        "Documents les plus proches\u00a0: {}.",
    ),
    "es": Wording(
        "Los documentos no contienen ninguna respuesta a esta pregunta.",
        "Se ha buscado: {}.",
        "Documentos más cercanos: {}.",
    ),
    "it": Wording(
        "I documenti non contengono una risposta a questa domanda.",
        "Cercato: {}.",
        "Documenti più vicini: {}.",
    ),
    "pt": Wording(
        "Os documentos não contêm nenhuma resposta a esta pergunta.",
        "Procurado: {}.",
        "Documentos mais próximos: {}.",
    ),
    "nl": Wording(
        "De documenten bevatten geen antwoord op deze vraag.",
        "Gezocht is naar: {}.",
        "Dichtstbijzijnde documenten: {}.",
    ),
    "sv": Wording(
        "Dokumenten innehåller inget svar på den här frågan.",
        "Sökt efter: {}.",
        "Närmaste dokument: {}.",
    ),
    "da": Wording(
        "Dokumenterne indeholder intet svar på dette spørgsmål.",
        "Søgt efter: {}.",
        "Nærmeste dokumenter: {}.",
    ),
    "no": Wording(
        "Dokumentene inneholder ikke noe svar på dette spørsmålet.",
        "Søkt etter: {}.",
        "Nærmeste dokumenter: {}.",
    ),
    "fi": Wording(
        "Asiakirjoissa ei ole vastausta tähän kysymykseen.",
        "Haettu: {}.",
        "Lähimmät asiakirjat: {}.",
    ),
    "pl": Wording(
        "Dokumenty nie zawierają odpowiedzi na to pytanie.",
        "Szukano: {}.",
        "Najbliższe dokumenty: {}.",
    ),
    "cs": Wording(
        "Dokumenty neobsahují odpověď na tuto otázku.",
        "Hledáno: {}.",
        "Nejbližší dokumenty: {}.",
    ),
    "hu": Wording(
        "A dokumentumok nem tartalmaznak választ erre a kérdésre.",
        "Keresett kifejezések: {}.",
        "Legközelebbi dokumentumok: {}.",
    ),
    "ro": Wording(
        "Documentele nu conțin niciun răspuns la această întrebare.",
        "S-a căutat: {}.",
        "Cele mai apropiate documente: {}.",
    ),
    "tr": Wording(
        "Belgelerde bu sorunun yanıtı yok.",
        "Aranan: {}.",
        "En yakın belgeler: {}.",
    ),
    "el": Wording(
        "Τα έγγραφα δεν περιέχουν απάντηση σε αυτή την ερώτηση.",
        "Αναζητήθηκε: {}.",
        "Πλησιέστερα έγγραφα: {}.",
    ),
    "ru": Wording(
        "В документах нет ответа на этот вопрос.",
        "Искали: {}.",
        "Ближайшие документы: {}.",
    ),
    "uk": Wording(
        "У документах немає відповіді на це запитання.",
        "Шукали: {}.",
        "Найближчі документи: {}.",
    ),
    "vi": Wording(
        "Các tài liệu không có câu trả lời cho câu hỏi này.",
        "Đã tìm: {}.",
        "Tài liệu gần nhất: {}.",
    ),
    "id": Wording(
        "Dokumen-dokumen tidak memuat jawaban atas pertanyaan ini.",
        "Yang dicari: {}.",
        "Dokumen terdekat: {}.",
    ),
    "hi": Wording(
        "दस्तावेज़ों में इस प्रश्न का उत्तर नहीं है।",
        "खोजा गया: {}।",
        "निकटतम दस्तावेज़: {}।",
    ),
    "ar": Wording(
        "لا تحتوي المستندات على إجابة عن هذا السؤال.",
        "تم البحث عن: {}.",
        "أقرب المستندات: {}.",
        separator="، ",
    ),
    "he": Wording(
        "המסמכים אינם מכילים תשובה לשאלה זו.",
        "חיפשנו: {}.",
        "המסמכים הקרובים ביותר: {}.",
    ),
    "th": Wording(
        "เอกสารไม่มีคำตอบสำหรับคำถามนี้",
        "ค้นหา: {}",
        "เอกสารที่ใกล้เคียงที่สุด: {}",
    ),
    "ko": Wording(
        "문서에 이 질문에 대한 답이 없습니다.",
        "찾은 말: {}.",
        "가장 가까운 문서: {}.",
    ),
    "zh": Wording(
        "文档中没有这个问题的答案。",
        "查找内容：{}。",
        "最接近的文档：{}。",
        separator="、",
        blank="",
    ),
    "ja": Wording(
        "文書にはこの質問への答えがありません。",
        "探した語：{}。",
        "最も近い文書：{}。",
        separator="、",
        blank="",
    ),
}
"""By language code; a language without one is answered in English."""

_SAME: Final = {"nb": "no", "nn": "no"}


def write_abstention(
    question: str, nearest: Sequence[NearDocument] = (), *, language: str | None = None
) -> str:
    """What is said in place of an answer, in this language, else in English.

    One line: that the documents hold no answer, the question's key terms in its own words where
    it has any, and the nearest documents by title and id where there are any.
    """
    code = language or "en"
    wording = WORDINGS.get(_SAME.get(code, code), WORDINGS["en"])
    sentences = [wording.nothing]
    if terms := find_key_terms(question, language):
        sentences.append(wording.looked_for.format(wording.separator.join(terms)))
    if nearest:
        names = wording.separator.join(map(_name_document, nearest))
        sentences.append(wording.nearest.format(names))
    return wording.blank.join(sentences)


def find_key_terms(question: str, language: str | None = None) -> list[str]:
    """The words of a question that carry meaning, as they are written there, neighbours as one.

    In the question's order, each once, at most MOST_TERMS; empty for one of function words alone.
    """
    terms: list[str] = []
    end = -1
    for start, word in _list_words(question, language):
        if start == end + 1 and terms and question[end] == " ":
            terms[-1] += f" {word}"
        else:
            terms.append(word)
        end = start + len(word)
    folded = {term.casefold(): term[:LONGEST_NAME] for term in reversed(terms)}
    return [*reversed(folded.values())][:MOST_TERMS]


def _list_words(question: str, language: str | None) -> Iterator[tuple[int, str]]:
    """The content words with their places; runs without spaces cut at their function characters."""
    asked = ask_terms(question, language)
    for match in _WORD().finditer(question):
        word = match[0]
        if not _UNSPACED_ASIAN().search(word) or _HANGUL().search(word):
            if asked.intersection(content_terms(word, language)):
                yield match.start(), word
            continue
        start = match.start()
        for at, character in enumerate(f"{word}の"):  # a function character, so that the last ends
            if character in FUNCTION_CHARACTERS:
                piece = word[start - match.start() : at]
                if piece and asked.intersection(content_terms(piece, language)):
                    yield start, piece
                start = match.start() + at + 1


def _name_document(document: NearDocument) -> str:
    """`Title (id)` on one line, with no mark that would make a link or an image of it.

    Where several libraries were asked, the id stands after its library's name.
    """
    title = _clean_name(document.title or "")
    id = _clean_name(document.document_id)
    place = id if document.library is None else f"{_clean_name(document.library)}: {id}"
    return f"{title} ({place})" if title and title != id else place


def _clean_name(name: str) -> str:
    printable = "".join(c if c.isprintable() else " " for c in scripts.IGNORABLE.sub("", name))
    plain = " ".join(printable.replace("](", "] (").replace("<", "‹").replace(">", "›").split())
    return plain if len(plain) <= LONGEST_NAME else f"{plain[: LONGEST_NAME - 1]}…"
