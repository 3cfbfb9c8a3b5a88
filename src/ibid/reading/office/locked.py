"""Office files under a password, as Word, Excel and PowerPoint save them, opened with it."""

from __future__ import annotations

import io
import struct
from typing import Final
from xml.parsers.expat import ExpatError

from msoffcrypto import exceptions
from msoffcrypto.format.ooxml import OOXMLFile

from ibid.errors import UnreadableDocument
from ibid.reading.archive import make_protected_error

_BY_DEFAULT: Final = "VelvetSweatshop"  # Excel's own, for a workbook that is open to everybody
_PROTECTED: Final = "the file is protected by a password"
_HINT: Final = "give its password with --password"
_BROKEN: Final = (
    exceptions.FileFormatError,
    exceptions.ParseError,
    exceptions.DecryptionError,
    ExpatError,
    struct.error,
    OSError,  # of olefile, for a compound file that is cut short
    IndexError,
    KeyError,
    ValueError,
)


def unlock(data: bytes, password: str | None) -> bytes:
    """The zip file within an Office file that is encrypted.

    Raises UnreadableDocument without its password, with another, and for a broken file.
    """
    out = io.BytesIO()
    try:
        file = OOXMLFile(io.BytesIO(data))
        file.load_key(password=password or _BY_DEFAULT, verify_password=True)
        file.decrypt(out)
    except exceptions.InvalidKeyError as error:
        said = "the password doesn't open the file" if password else _PROTECTED
        raise UnreadableDocument(said, hint=_HINT) from error
    except _BROKEN as error:
        if password is None:
            raise make_protected_error() from error
        raise UnreadableDocument(f"damaged: it can't be decrypted ({error})") from error
    return out.getvalue()
