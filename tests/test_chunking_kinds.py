"""Kinds of text: which parts stay whole, what is repeated of those that can't, and who cut them."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from ibid.chunking.options import Chunking
from ibid.chunking.structure import chunk_by_structure
from ibid.reading.text import find_blocks
from ibid.records import Block, BlockKind, Document, Passage

HEADING, PARAGRAPH, LIST, TABLE, CODE, PAGE_BREAK = BlockKind


class WordTokenizer:
    """Counts words and punctuation marks."""

    def spans(self, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        return [[match.span() for match in re.finditer(r"\w+|[^\w\s]", text)] for text in texts]


def cut(document: Document | str, size: int = 254, max_tokens: int = 254) -> list[Passage]:
    """The passages of a document, or of plain text with its paragraphs."""
    if isinstance(document, str):
        document = Document(id="d", text=document, blocks=find_blocks(document))
    passages = chunk_by_structure(
        document,
        Chunking("structure", size),
        tokenizer=WordTokenizer(),
        content_hash="0" * 8,
        max_tokens=max_tokens,
        language="en",
    )
    assert all(document.text[passage.span] == passage.text for passage in passages)
    found = WordTokenizer().spans([passage.indexed_text for passage in passages])
    assert max(map(len, found)) <= max_tokens
    return passages


def make_document(*blocks: tuple[BlockKind, str]) -> Document:
    """A document of these blocks, headings of level 1."""
    text = ""
    placed: list[Block] = []
    for kind, content in blocks:
        start = len(text)
        text += content + "\n\n"
        placed.append(Block(kind, start, len(text), level=kind is HEADING))
    return Document(id="d", text=text, blocks=tuple(placed))


def rules(passages: list[Passage]) -> list[str]:
    return [passage.rule for passage in passages]


def texts(passages: list[Passage]) -> list[str]:
    return [passage.text for passage in passages]


# -- questions, entries, clauses, messages -------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "Q: Who pays?\nA: We do.\nQ: When?\nA: Within a week.",
        "Question 1: Who pays?\nAnswer: We do.\n\nQuestion 2: When?\nAnswer: Within a week.",
        "Who pays?\n\nWe do.\n\nWhen?\n\nWithin a week.",
        "Who pays?\nWe do.\n\nWhen?\nWithin a week.",
    ],
)
def test_a_question_keeps_its_answer_and_stands_alone(text: str) -> None:
    first, second = cut(text)
    assert rules([first, second]) == ["question and answer"] * 2
    assert first.text == text[: second.start].rstrip()
    assert second.text.startswith(("Q: When?", "Question 2", "When?"))


def test_a_long_answer_repeats_its_question() -> None:
    text = "Who pays?\n\n" + "We pay for all of it. " * 8 + "\n\nWhen?\n\nWithin a week."
    *answer, last = cut(text, 20, 40)
    assert [passage.lead for passage in answer] == ["", *["Who pays?"] * (len(answer) - 1)]
    assert last.text == "When?\n\nWithin a week."
    assert last.lead == ""


def test_a_heading_that_asks_makes_its_section_an_answer() -> None:
    document = make_document((HEADING, "Who pays?"), (PARAGRAPH, "We do."))
    assert rules(cut(document)) == ["question and answer"]


def test_a_text_that_only_asks_now_and_then_is_prose() -> None:
    text = "Why?\n\n" + "One says this.\n\nOne says that.\n\n" * 9 + "Who knows?\n\nNobody."
    assert rules(cut(text)) == ["section"]


def test_an_entry_keeps_signature_description_and_code() -> None:
    document = make_document(
        (HEADING, "Client"),
        (PARAGRAPH, "connect(host, port=5432) -> Session"),
        (PARAGRAPH, "Opens a session. Fails after 5 seconds."),
        (CODE, 'session = connect("localhost")'),
        (PARAGRAPH, "GET /v1/users/{id}"),
        (PARAGRAPH, "Returns a user, or 404 where there is none at all."),
    )
    first, second = cut(document, 32)
    assert first.text.endswith('connect("localhost")')
    assert second.text.startswith("GET /v1/users")
    assert rules([first, second]) == ["API entry"] * 2


CONTRACT = """Service agreement

1. Definitions

1.1 "Fee" means the amount in Annex B.

2. Payment

2.1 The Customer pays within 30 days of the invoice, which may be sent
12 days before the month ends.

2.2 If the Customer is late, the Supplier may

(a) charge interest of 4 percent a year;

(b) stop the Service after 14 days.

3. Law

The law of Norway."""


def test_a_clause_is_whole_and_below_its_numbers() -> None:
    passages = cut(CONTRACT, 20)
    assert set(rules(passages)) == {"clause"}
    found = {passage.text.split()[0]: passage.lead for passage in passages}
    assert found["2.1"] == "2. Payment"
    assert found["(a)"] == "2. Payment\n2.2 If the Customer is late, the Supplier may"
    assert found["3."] == ""
    # A number that begins a line by chance follows no other, so nothing is cut there.
    assert "12" not in found


@pytest.mark.parametrize(
    "text",
    [
        "§ 1 Scope\nAll.\n\n§ 2 Term\nOne year.\n\n§ 3 Law\nNorway.",
        "Article 1 Scope. All.\n\nArticle 2 Term. One year.\n\nArticle 3 Law. Norway.",
        "4.1 Scope. All.\n\n4.2 Term. One year.\n\n4.3 Law. Norway.",
    ],
)
def test_clauses_of_other_styles(text: str) -> None:
    passages = cut(text, 8)
    assert rules(passages) == ["clause"] * 3


def test_rows_of_letters_and_roman_numbers_nest() -> None:
    rows = ["30. June 2020", "1. Term", "1.1 We", "(a) may", "(i) ask", "(ii) wait", "(b) go"]
    text = "\n\n".join(rows)
    found = {passage.text: passage.lead.split("\n") for passage in cut(text, 4, 40)}
    assert found["(ii) wait"] == ["1. Term", "1.1 We", "(a) may"]
    assert found["(b) go"] == ["1. Term", "1.1 We"]


def test_a_numbered_list_is_no_contract() -> None:
    assert rules(cut("1. Mix.\n\n2. Bake.\n\n3. Eat.")) == ["section"]


@pytest.mark.parametrize(
    "line",
    [
        "[12:3{n}] {who}: {said}",
        "{who}: {said}",
        "2024-01-01 10:0{n} - {who}: {said}",
        "[01.02.24, 10:00:0{n}] {who}: {said}",
        "12:3{n} <{who}> {said}",
        "{who} 10:0{n} AM\n{said}",
    ],
)
def test_messages_are_whole_and_share_a_passage_in_order(line: str) -> None:
    said = ["Is it red? I ask you all now.", "It is.\nThe date test fails.", "Thanks!", "Done now."]
    text = "\n".join(
        line.format(n=n, who=("Ann", "Ben")[n % 2], said=words) for n, words in enumerate(said)
    )
    passages = cut(text, 22)
    assert set(rules(passages)) == {"messages"}
    assert len(passages) > 1
    assert "\n".join(texts(passages)) == text
    assert all(passage.lead == "" for passage in passages)


def test_a_long_message_says_again_who_wrote_it() -> None:
    text = "[9:00] Ann: " + "This is long. " * 30 + "\n[9:01] Ben: Yes."
    *long, last = cut(text, 30, 60)
    assert {passage.lead for passage in long[1:]} == {"[9:00] Ann:"}
    assert last.text == "[9:01] Ben: Yes."


def test_words_before_colons_are_no_speakers() -> None:
    text = "Note: this is short.\n\nWarning: that is not.\n\nNote: again.\n\nTip: read on."
    assert rules(cut(text)) == ["section"]


# -- slides, tables, lists, code -----------------------------------------------------------------


def test_two_slides_never_share_a_passage() -> None:
    text = "Plans\n\nOne\n\nFirst.\n\nSecond, without a title."
    starts, pages = [0, 7, 12, 20, len(text)], [1, 2, 2, 3]
    kinds, levels = [HEADING, HEADING, PARAGRAPH, PARAGRAPH], [1, 2, 0, 0]
    blocks = tuple(
        Block(kind, start, end, level=level, page=page)
        for kind, start, end, level, page in zip(
            kinds, starts, starts[1:], levels, pages, strict=False
        )
    )
    document = Document(id="d", text=text, blocks=blocks, media_type="application/x.presentation")
    passages = cut(document)
    assert [(p.page, p.text) for p in passages] == [
        (1, "Plans"),
        (2, "One\n\nFirst."),
        (3, "Second, without a title."),
    ]
    assert set(rules(passages)) == {"slide"}


def test_the_parts_of_a_table_repeat_its_header() -> None:
    rows = [f"| thing {n} | {n * 3} |" for n in range(40)]
    table = "\n".join(["| name | price |", "| --- | --- |", *rows])
    document = make_document((PARAGRAPH, "Prices follow."), (TABLE, table), (PARAGRAPH, "End."))
    passages = cut(document, 60, 60)
    shown = [passage for passage in passages if "thing" in passage.text]
    assert [passage.lead for passage in shown] == ["", *["| name | price |"] * (len(shown) - 1)]
    assert [line for p in shown for line in p.text.splitlines() if "thing" in line] == rows
    assert passages[-1].text == "End."
    assert shown[-1].rule == "table rows"


def test_rows_of_bars_in_plain_text_are_a_table() -> None:
    text = "name | price\n" + "\n".join(f"thing {n} | {n}" for n in range(40))
    passages = cut(text, 50, 50)
    assert {passage.lead for passage in passages[1:]} == {"name | price"}
    assert all(passage.text.startswith("thing") for passage in passages[1:])


def test_a_header_without_end_takes_a_third_at_most() -> None:
    header = "| " + " | ".join(f"column {n}" for n in range(60)) + " |"
    rows = [f"| {n} | {n} |" for n in range(40)]
    document = make_document((TABLE, "\n".join([header, "| --- |", *rows])))
    passages = cut(document, 60, 60)
    leads = {passage.lead for passage in passages if passage.text.startswith("| 39")}
    assert all(header.startswith(lead) and len(lead) > 20 for lead in leads)
    assert all(len(WordTokenizer().spans([lead])[0]) <= 20 for lead in leads)


def test_a_list_keeps_the_line_that_leads_in() -> None:
    items = [f"- item {n} of a long list of things" for n in range(20)]
    lead_in = "These are sold here:"
    document = make_document(
        (PARAGRAPH, "Filler words. " * 15), (PARAGRAPH, lead_in), (LIST, "\n".join(items))
    )
    filler, first, *rest = cut(document, 50, 50)
    assert "sold" not in filler.text
    assert first.text.startswith(f"{lead_in}\n\n- item 0")
    assert first.lead == ""
    assert {passage.lead for passage in rest} == {lead_in}
    assert all(passage.text.startswith("- item") for passage in rest)


CLASS = """class Engine:
    def start(
        self,
        fuel: int,
    ) -> None:
        check(fuel)

        burn(fuel)

    def stop(self) -> None:
        halt()
"""


def test_code_is_cut_at_blank_lines_below_what_it_belongs_to() -> None:
    *_, burn, stop = cut(make_document((CODE, CLASS)), 12, 30)
    assert burn.text == "        burn(fuel)"
    assert burn.lead == "class Engine:\n    def start("
    assert stop.text == "    def stop(self) -> None:\n        halt()"
    assert stop.lead == "class Engine:"


def test_code_goes_on_where_it_is_indented_less() -> None:
    _, rest = cut(make_document((CODE, CLASS)), 24, 32)
    assert rest.text.startswith("        burn(fuel)")
    assert rest.text.endswith("halt()")
    assert rest.lead == "class Engine:\n    def start("


def test_a_call_in_a_cell_is_no_entry() -> None:
    document = make_document((CODE, 'print("red")'), (PARAGRAPH, "red"))
    assert rules(cut(document)) == ["section"]


def test_a_method_in_a_block_of_its_own_names_its_class() -> None:
    head, tail = CLASS.split("\n\n    def stop")
    document = make_document((CODE, head), (CODE, "    def stop" + tail))
    *_, last = cut(document, 30)
    assert last.lead == "class Engine:"


# -- rules ---------------------------------------------------------------------------------------


def test_every_passage_says_what_cut_it() -> None:
    words = "word " * 12
    document = make_document(
        (HEADING, "Small"),
        (PARAGRAPH, "All of it."),
        (HEADING, "Large"),
        (PARAGRAPH, f"{words}one."),
        (PARAGRAPH, f"{words}two."),
        (PARAGRAPH, f"{words}three. {words}four."),
        (PARAGRAPH, words * 3),
    )
    assert rules(cut(document, 20)) == [
        "section",
        "paragraphs",
        "paragraphs",
        "sentences of a long paragraph",
        "sentences of a long paragraph",
        "hard cut",
        "hard cut",
    ]
