"""Small PDFs made for tests: lines of text, drawings, pictures, notes, files within, passwords."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import TypeAlias

import pypdfium2 as pdfium

WIDTH, HEIGHT = 600, 800

Placed: TypeAlias = tuple[int, int, int, str]
"""Font size, left, height above the bottom, text."""

_PADDING = bytes.fromhex("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A")


@dataclass
class PdfMaker:
    """Gathers numbered objects; the first three are the catalog, the pages and the information."""

    catalog: str = ""
    info: str = ""
    rotate: int = 0
    fonts: str = ""
    objects: list[bytes] = field(default_factory=lambda: [b"", b"", b""])
    pages: list[int] = field(default_factory=list)

    def add(self, content: str | bytes) -> int:
        """Put one object; its number."""
        self.objects.append(content.encode("latin-1") if isinstance(content, str) else content)
        return len(self.objects)

    def add_stream(self, data: bytes, entries: str = "") -> int:
        """Put a stream; its number."""
        head = f"<<{entries}/Length {len(data)}>>stream\n".encode("latin-1")
        return self.add(head + data + b"\nendstream")

    def add_page(
        self, lines: Sequence[Placed] = (), *, draw: str = "", page: str = "", resources: str = ""
    ) -> int:
        """Put a page: its lines in Helvetica, bold where the text begins with `*`; its number."""
        content = draw + "".join(
            f"BT /{'B' if text.startswith('*') else 'F'} {size} Tf {left} {height} Td"
            f" ({text.removeprefix('*')}) Tj ET\n"
            for size, left, height, text in lines
        )
        stream = self.add_stream(content.encode("cp1252"))
        fonts = "".join(
            f"/{name}<</Type/Font/Subtype/Type1/Encoding/WinAnsiEncoding/BaseFont/{font}>>"
            for name, font in (("F", "Helvetica"), ("B", "Helvetica-Bold"))
        )
        number = self.add(
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 {WIDTH} {HEIGHT}]/Rotate {self.rotate}"
            f"/Contents {stream} 0 R/Resources<</Font<<{fonts}{self.fonts}>>{resources}>>{page}>>"
        )
        self.pages.append(number)
        return number

    def add_picture(self, picture: bytes) -> int:
        """Put a page that is one picture: the first page of another PDF, rendered."""
        with closing(pdfium.PdfDocument(picture)) as pdf:
            bitmap = pdf[0].render(scale=200 / 72, grayscale=True)
            data, stride = bytes(bitmap.buffer), bitmap.stride
            dots = b"".join(
                data[i * stride : i * stride + bitmap.width] for i in range(bitmap.height)
            )
        image = self.add_stream(
            zlib.compress(dots),
            f"/Type/XObject/Subtype/Image/Width {bitmap.width}/Height {bitmap.height}"
            "/ColorSpace/DeviceGray/BitsPerComponent 8/Filter/FlateDecode",
        )
        return self.add_page(
            draw=f"q {WIDTH} 0 0 {HEIGHT} 0 0 cm /I Do Q\n",
            resources=f"/XObject<</I {image} 0 R>>",
        )

    def build(self, trailer: str = "") -> bytes:
        """The file."""
        kids = " ".join(f"{number} 0 R" for number in self.pages)
        self.objects[0] = f"<</Type/Catalog/Pages 2 0 R{self.catalog}>>".encode("latin-1")
        self.objects[1] = f"<</Type/Pages/Kids[{kids}]/Count {len(self.pages)}>>".encode()
        self.objects[2] = f"<<{self.info}>>".encode("latin-1")
        body = b"".join(b"%d 0 obj" % i + o + b"\nendobj\n" for i, o in enumerate(self.objects, 1))
        end = f"trailer<</Root 1 0 R/Info 3 0 R{trailer}>>\n%%EOF".encode("latin-1")
        return b"%PDF-1.4\n" + body + end


def make_pdf(*pages: Sequence[Placed], info: str = "", rotate: int = 0, catalog: str = "") -> bytes:
    """A PDF of such pages of text."""
    maker = PdfMaker(catalog=catalog, info=info, rotate=rotate)
    for lines in pages:
        maker.add_page(lines)
    return maker.build()


def make_encrypted_pdf(text: str, *, user: str = "", owner: str = "owner") -> bytes:
    """A PDF of one line, encrypted in the oldest way (RC4, 40 bits)."""
    identifier = b"0123456789abcdef"
    entry = _encrypt(hashlib.md5(_pad(owner)).digest()[:5], _pad(user))
    allowed = -4
    seed = _pad(user) + entry + allowed.to_bytes(4, "little", signed=True) + identifier
    key = hashlib.md5(seed).digest()[:5]
    maker = PdfMaker()
    content = f"BT /F 12 Tf 50 700 Td ({text}) Tj ET".encode("latin-1")
    number = len(maker.objects) + 1
    salted = key + number.to_bytes(3, "little") + bytes(2)
    maker.add_stream(_encrypt(hashlib.md5(salted).digest()[:10], content))
    font = "<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>"
    maker.pages.append(
        maker.add(
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 {WIDTH} {HEIGHT}]/Contents {number} 0 R"
            f"/Resources<</Font{font}>>>>"
        )
    )
    check = _encrypt(key, _PADDING)
    return maker.build(
        f"/ID[<{identifier.hex()}><{identifier.hex()}>]/Encrypt<</Filter/Standard/V 1/R 2"
        f"/O<{entry.hex()}>/U<{check.hex()}>/P {allowed}>>"
    )


def _pad(word: str) -> bytes:
    return (word.encode("latin-1") + _PADDING)[:32]


def _encrypt(key: bytes, data: bytes) -> bytes:
    """RC4."""
    state = list(range(256))
    j = 0
    for i in range(256):
        j = (j + state[i] + key[i % len(key)]) % 256
        state[i], state[j] = state[j], state[i]
    out = bytearray()
    i = j = 0
    for byte in data:
        i = (i + 1) % 256
        j = (j + state[i]) % 256
        state[i], state[j] = state[j], state[i]
        out.append(byte ^ state[(state[i] + state[j]) % 256])
    return bytes(out)
