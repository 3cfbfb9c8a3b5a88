"""One analyzer for many languages: what people write in each, and what they type to find it."""

from __future__ import annotations

import pytest

from ibid.language.analyzer import analyze, analyze_query

WRITTEN_AND_ASKED = [
    ("en", "The tides were turning at the harbours.", "turn tide harbour"),
    ("en", "Error E-4012: see /var/log/tide_gauge.log in v2.10.3", "e-4012"),
    ("en", "Error E-4012: see /var/log/tide_gauge.log in v2.10.3", "tide-gauge log"),
    ("en", "Error E-4012: see /var/log/tide_gauge.log in v2.10.3", "4012 gauge v2.10.3"),
    ("en", "A state-of-the-art TideGaugeReader, they'll say", "state gauge reader they'll"),
    ("de", "Die Häfen schließen während der Überflutungen.", "überflutung hafen schliessen"),
    ("de", "Straßenbahn-Haltestelle", "STRASSENBAHN haltestellen"),
    ("fr", "L’été, les bateaux s'amarrent près de l'écluse.", "écluses bateau ete"),
    ("es", "Las mareas cambiaron la dirección de los canales.", "canal direccion"),
    ("ru", "Корабли уходили из гавани с приливом, ещё ночью.", "корабль гавань еще"),
    ("zh", "潮汐在港口转向，船只随之离开。", "港口 潮汐"),
    ("zh", "型号ＡＢ－１２的水泵", "AB-12 水泵"),
    ("ja", "港の船は満潮のときに出る。エラーE-77を見よ。", "満潮 E-77"),
    ("ja", "ｶﾀｶﾅの看板", "カタカナ"),
    ("ko", "항구의 배는 밀물 때 떠난다.", "항구 밀물"),
    ("ar", "السُّفُن تُغادِر الميناء مع المدّ", "السفن الميناء"),
    ("th", "เรือออกจากท่าเรือเมื่อน้ำขึ้น", "ท่าเรือ"),
    ("en", "Der Hafen von 横浜 (Yokohama) is über-busy", "横浜 yokohama über"),
]


@pytest.mark.parametrize(("language", "written", "asked"), WRITTEN_AND_ASKED)
def test_what_is_typed_finds_what_is_written(language: str, written: str, asked: str) -> None:
    wanted = analyze_query(asked, language)
    assert wanted
    assert set(wanted) <= set(analyze(written, language))


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        ("en", "E-4012", "E-4013"),
        ("en", "v1.2.3", "v1.2.4"),
        ("en", "/etc/tide/gauge", "/etc/tide/gate"),
        ("ru", "прилив", "отлив"),
        ("zh", "港口", "海口"),
        ("ko", "항구", "항공"),
        ("th", "ท่าเรือ", "น้ำขึ้น"),
        ("ar", "ميناء", "سفينة"),
    ],
)
def test_what_differs_keeps_a_term_of_its_own(language: str, one: str, other: str) -> None:
    assert set(analyze(one, language)) != set(analyze(other, language))
