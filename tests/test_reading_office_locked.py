"""Office files under a password open with it, and say so where they don't."""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from msoffcrypto.format.ooxml import OOXMLFile

from command_line import call
from ibid.errors import UnreadableDocument
from ibid.reading.registry import read_bytes
from small_files import make_file

CONTENT_TYPES = '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'

LEAST_BYTES = 4096  # a smaller package goes wrong in this way of encrypting


def lock(data: bytes, password: str) -> bytes:
    whole, out = io.BytesIO(data), io.BytesIO()
    with zipfile.ZipFile(whole, "a") as archive:
        archive.writestr("[Content_Types].xml", CONTENT_TYPES)
        archive.writestr("padding", bytes(LEAST_BYTES))
    OOXMLFile(whole).encrypt(password, out)
    return out.getvalue()


@pytest.mark.parametrize("extension", ["docx", "pptx", "xlsx"])
def test_the_password_opens_the_file(extension: str) -> None:
    data = make_file(extension)
    locked = lock(data, "spare key 7")
    name = f"hours.{extension}"
    assert read_bytes(locked, name, password="spare key 7") == read_bytes(data, name)
    for wrong in ("Spare key 7", "VelvetSweatshop"):
        with pytest.raises(UnreadableDocument, match="the password doesn't open the file; give"):
            read_bytes(locked, name, password=wrong)
    with pytest.raises(UnreadableDocument, match="protected by a password; give its password with"):
        read_bytes(locked, name)


def test_a_workbook_that_is_open_to_everybody_needs_none() -> None:
    data = make_file("xlsx")
    locked = lock(data, "VelvetSweatshop")
    assert read_bytes(locked, "hours.xlsx") == read_bytes(data, "hours.xlsx")


def test_a_damaged_one_is_refused() -> None:
    locked = lock(make_file("docx"), "key")
    start = locked.index(b"<?xml")
    for damaged in (
        locked.replace(b"spinCount", b"spinC0unt"),
        locked[:start] + b"<<" + locked[start + 2 :],
        locked[: len(locked) // 2],
    ):
        with pytest.raises(UnreadableDocument, match="damaged: it can't be decrypted"):
            read_bytes(damaged, "hours.docx", password="key")


def test_at_the_command_line_it_opens_in_the_child(tmp_path: Path) -> None:
    path = tmp_path / "hours.docx"
    path.write_bytes(lock(make_file("docx"), "key"))
    assert "The office opens at nine." in call("convert", path, "--password", "key").out
    refused = call("convert", path, "--password", "kex", "--json")
    assert refused.code == 1
    assert refused.json["error"]["message"] == "the password doesn't open the file"


def test_what_decrypts_is_loaded_only_when_it_is_needed() -> None:
    code = "import sys, ibid.reading.office.docx; print('msoffcrypto' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert found.stdout == "False\n"
