"""Mail becomes letters, whatever their encodings, and attachments become documents."""

from __future__ import annotations

from email.message import EmailMessage

import pytest

from ibid.errors import UnreadableDocument
from ibid.reading.mail.letters import Body, Letter, build_letter
from ibid.reading.registry import read_bytes
from ibid.records import Document


def texts(document: Document) -> list[str]:
    return [document.text[block.span].rstrip() for block in document.blocks]


def make_message(subject: str = "Größe ☸", text: str = "Hello Bob,\n\nbye") -> EmailMessage:
    message = EmailMessage()
    message["From"] = "Ann Müller <ann@example.org>"
    message["To"] = "bob@example.org"
    message["Date"] = "Tue, 02 Jan 2024 10:00:00 +0100"
    message["Subject"] = subject
    message.set_content(text)
    return message


def test_a_letter_has_its_head_decoded_and_its_plain_text() -> None:
    message = make_message(text="Yes.\n\nOn Monday Bob wrote:\n> Is it so?\n>\n> Bob")
    message.add_alternative("<p>Yes in <b>HTML</b></p>", subtype="html")
    document = read_bytes(message.as_bytes(), "a.eml")
    assert document.title == "Größe ☸"
    assert document.media_type == "message/rfc822"
    assert document.metadata == {
        "author": "Ann Müller <ann@example.org>",
        "to": "bob@example.org",
        "date": "2024-01-02T10:00:00+01:00",
    }
    assert texts(document) == [
        "Größe ☸",
        "From: Ann Müller <ann@example.org>\nTo: bob@example.org\n"
        "Date: Tue, 02 Jan 2024 10:00:00 +0100",
        "Yes.",
        "On Monday Bob wrote:",
        "> Is it so?",
        "> Bob",
    ]


def test_html_stands_where_there_is_no_plain_text() -> None:
    message = make_message(text=" ")
    message.add_alternative("<h1>News</h1><ul><li>one<li>two</ul>", subtype="html")
    document = read_bytes(message.as_bytes(), "a.eml")
    assert texts(document)[2:] == ["News", "- one\n- two"]
    assert [block.level for block in document.blocks[:3]] == [1, 0, 2]


def test_attachments_are_documents_or_at_least_named() -> None:
    message = make_message()
    for name in ("notes.md", "notes.md"):
        message.add_attachment(b"# Notes\n", "text", "markdown", filename=name)
    message.add_attachment(b"\x89PNG\r\n\x1a\n\0", "image", "png", filename="x.png")
    message.add_attachment(b"%PDF-1.4 broken", "application", "pdf", filename="x.pdf")
    inner = make_message("Inner")
    inner.add_attachment(b"deep", "text", "plain", filename="deep.txt")
    message.add_attachment(inner)
    document = read_bytes(message.as_bytes(), "a.eml")
    assert [attached.id for attached in document.attachments] == [
        "notes.md",
        "notes (2).md",
        "Inner.eml",
    ]
    assert document.attachments[0].media_type == "text/markdown"
    assert [attached.text for attached in document.attachments[2].attachments] == ["deep"]
    lines = texts(document)[-1].split("\n")
    assert lines[2] == "Attachment: x.png"
    assert lines[3].startswith("Attachment: x.pdf (not read: ")


@pytest.mark.parametrize(
    ("head", "body", "seen"),
    [
        (b"text/plain; charset=utf-8", "Größe".encode("latin-1"), "Größe"),
        (b"text/plain; charset=no-such-thing", "Größe".encode(), "Größe"),
        (b'text/plain; charset = "UTF-8"Content-Transfer-Encoding: 8bit', b"plain", "plain"),
        (b"text/plain; charset=windows-1255", "שלום רב".encode("cp1255"), "שלום רב"),
        (b"multipart/mixed", b"no boundary at all", "no boundary at all"),
    ],
)
def test_malformed_encodings_survive(head: bytes, body: bytes, seen: str) -> None:
    document = read_bytes(
        b"From: a@b\nSubject: =?utf-8?b?broken\nContent-Type: " + head + b"\n\n" + body, "a.eml"
    )
    assert seen in document.text
    assert document.title == "=?utf-8?b?broken"


def test_an_encrypted_mail_says_so() -> None:
    encrypted = (
        b"From: a@b\nContent-Type: multipart/encrypted; boundary=x\n\n"
        b"--x\nContent-Type: application/pgp-encrypted\n\nVersion: 1\n--x--\n"
    )
    with pytest.raises(UnreadableDocument, match="encrypted"):
        read_bytes(encrypted, "a.eml")
    with pytest.raises(UnreadableDocument, match="encrypted"):
        read_bytes(b"From: a@b\n\n-----BEGIN PGP MESSAGE-----\nxx", "a.eml")
    with pytest.raises(UnreadableDocument, match="not a mail"):
        read_bytes(b"\n\njust words", "a.eml")


def test_a_mailbox_is_a_section_for_each_message() -> None:
    first = make_message("First", ">From the start\nFrom here on").as_bytes()
    second = make_message("Second")
    second.add_attachment(b"a,b\n1,2\n", "text", "csv", filename="t.csv")
    mailbox = b"".join(
        b"From ann@example.org Tue Jan  2 10:00:00 2024\n" + message + b"\n"
        for message in (first, second.as_bytes())
    )
    for name in ("box.mbox", "box.eml", "box.txt"):
        document = read_bytes(mailbox, name)
        headings = [(b.level, document.text[b.span].strip()) for b in document.blocks if b.level]
        assert headings == [(1, "First"), (1, "Second")]
        assert {block.place for block in document.blocks} == {"message 1", "message 2"}
        assert "From the start\nFrom here on" in document.text
        assert [attached.id for attached in document.attachments] == ["message 2/t.csv"]


def test_a_text_is_a_mail_only_when_it_is_clearly_one() -> None:
    mail = b"Received: by x\nMessage-ID: <1@x>\nFrom: a@b\nSubject: S\n\nbody"
    assert read_bytes(mail, "a.txt").title == "S"
    assert read_bytes(b"From: Rome\nTo: Paris\n\nby train", "a.txt").media_type == "text/plain"


def test_a_letter_without_any_field_is_still_a_letter() -> None:
    document = build_letter(Letter("", {}, (Body("words"),)))
    assert document.text == "words"
    assert document.title is None


def test_a_broken_outlook_message_fails_alone() -> None:
    with pytest.raises(UnreadableDocument, match="damaged"):
        read_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "a.msg")


def test_a_thousand_nested_messages_fail_alone() -> None:
    nested = b"From: a\nContent-Type: message/rfc822\n\n" * 1000 + b"From: a\n\nx"
    with pytest.raises(UnreadableDocument, match="nested"):
        read_bytes(nested, "a.eml")
