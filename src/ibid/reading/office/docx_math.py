"""The equations of Office (OMML) as a line of text: what is read aloud of them, in order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from lxml import etree

M: Final = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_PROPERTIES: Final = "Pr"  # the end of the names of elements that hold no text


def read_math(node: etree._Element) -> str:
    """The text of an equation, with `/`, `^`, `_` and `√` where it is built in two dimensions."""
    tag = str(node.tag)
    if not tag.startswith(M) or tag.endswith(_PROPERTIES):
        return ""
    if tag == f"{M}t":
        return node.text or ""
    build = _BUILDERS.get(tag.removeprefix(M))
    return build(node) if build else "".join(map(read_math, node))


def _read(node: etree._Element, name: str) -> str:
    part = node.find(M + name)
    return "" if part is None else read_math(part)


def _group(text: str) -> str:
    """The text, in parentheses when it is more than one name or number."""
    return text if text.isalnum() or len(text) < 2 or _is_enclosed(text) else f"({text})"


def _is_enclosed(text: str) -> bool:
    return text[0] == "(" and text.find(")") == len(text) - 1


def _read_value(node: etree._Element, path: str, default: str) -> str:
    found = node.find("/".join(M + name for name in path.split("/")))
    return default if found is None else found.get(f"{M}val") or ""


def _build_fraction(node: etree._Element) -> str:
    above, below = _group(_read(node, "num")), _group(_read(node, "den"))
    return f"{above} {below}" if _is_without_bar(node) else f"{above}/{below}"


def _is_without_bar(node: etree._Element) -> bool:
    """True for one number above another, as in a binomial coefficient."""
    return _read_value(node, "fPr/type", "bar") == "noBar"


def _build_scripts(node: etree._Element) -> str:
    below, above = _read(node, "sub"), _read(node, "sup")
    below = f"_{_group(below)}" if below else ""
    above = f"^{_group(above)}" if above else ""
    return f"{_group(_read(node, 'e'))}{below}{above}"


def _build_root(node: etree._Element) -> str:
    degree = _read(node, "deg")
    return f"{degree}√({_read(node, 'e')})"


def _build_large_operator(node: etree._Element) -> str:
    below, above = _read(node, "sub"), _read(node, "sup")
    limits = (f"_{_group(below)}" if below else "") + (f"^{_group(above)}" if above else "")
    return f"{_read_value(node, 'naryPr/chr', '∫')}{limits} {_read(node, 'e')}"


def _build_delimited(node: etree._Element) -> str:
    begin = _read_value(node, "dPr/begChr", "(")
    end = _read_value(node, "dPr/endChr", ")")
    between = _read_value(node, "dPr/sepChr", "|")
    return f"{begin}{between.join(map(read_math, node.findall(f'{M}e')))}{end}"


def _build_limit(node: etree._Element) -> str:
    return f"{_read(node, 'e')}_{_group(_read(node, 'lim'))}"


def _build_function(node: etree._Element) -> str:
    return f" {_read(node, 'fName')} {_read(node, 'e')}"


def _build_matrix(node: etree._Element) -> str:
    return "; ".join(", ".join(map(read_math, row)) for row in node.findall(f"{M}mr"))


_BUILDERS: Final[dict[str, Callable[[etree._Element], str]]] = {
    "f": _build_fraction,
    "sSup": _build_scripts,
    "sSub": _build_scripts,
    "sSubSup": _build_scripts,
    "rad": _build_root,
    "nary": _build_large_operator,
    "d": _build_delimited,
    "limLow": _build_limit,
    "func": _build_function,
    "m": _build_matrix,
}
