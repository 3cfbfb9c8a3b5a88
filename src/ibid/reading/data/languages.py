"""How definitions look in the languages of programs: enough to tell where one begins."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_KEYWORDS: Final = frozenset(
    {
        *("if", "for", "while", "switch", "catch", "return", "else", "do", "new", "throw"),
        *("await", "yield", "typeof", "sizeof", "delete", "case", "with", "using", "lock"),
        *("foreach", "synchronized", "assert", "super", "this", "elif", "unless", "until"),
    }
)


@dataclass(frozen=True, slots=True)
class Language:
    """Patterns of a line that begins a definition; the first group of each is its name.

    Those of `containers` hold definitions that are told apart, such as the methods of a class.
    """

    containers: re.Pattern[str] | None
    definitions: re.Pattern[str]

    def match(self, line: str) -> tuple[str, bool] | None:
        """Name of what the line begins, and whether it is a container; None for anything else."""
        for pattern, holds in ((self.containers, True), (self.definitions, False)):
            match = pattern.match(line) if pattern else None
            name = next(filter(None, match.groups()), "") if match else ""
            if name and name not in _KEYWORDS:
                return name, holds
        return None


def _either(*patterns: str, flags: int = 0) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), flags)


_MODIFIERS: Final = r"(?:(?:@\w+(?:\([^)]*\))?|[a-z]+)\s+)*"
_SCRIPT: Final = Language(
    _either(
        r"(?:export\s+)?(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?"
        r"(?:class|interface|namespace|enum)\s+([\w$]+)",
        r"(?:(?:const|let|var)\s+)?([\w$.]+)\s*=\s*\{\s*$",
    ),
    _either(
        r"(?:export\s+)?(?:default\s+)?(?:async\s+)?function\s*\*?\s*([\w$]+)",
        r"(?:export\s+)?(?:const|let|var)\s+([\w$]+)\s*(?::[^=]+)?=\s*(?:async\s*)?"
        r"(?:function\b|\([^)]*\)?[^=]*(?:=>|$)|[\w$]+\s*=>)",
        r"(?:export\s+)?type\s+([\w$]+)[^=]*=",
        r"([\w$.]+)\s*[:=]\s*(?:async\s+)?function\b",
        r"(?:(?:public|private|protected|static|async|readonly|override|get|set)\s+|\*\s*)*"
        r"([\w$#]+)\s*\([^;]*\)\s*(?::[^;{]+)?\{\s*$",
    ),
)
_JAVA: Final = Language(
    _either(_MODIFIERS + r"(?:class|interface|enum|record|struct|namespace|object)\s+([\w.]+)"),
    _either(r"(?:@\w+\s+)*(?:[\w<>\[\],.?&*]+\s+)+(\w+)\s*\([^;=]*$", r"public\s+(\w+)\s*\("),
)
_KOTLIN: Final = Language(
    _either(
        _MODIFIERS
        + r"(?:class|interface|object|trait|struct|enum|protocol|extension|mixin)\s+([\w.]+)"
    ),
    _either(
        _MODIFIERS + r"(?:fun|func|def|function|init|given)\s+(?:<[^>]*>\s*)?(?:[\w<>]+\.)?&?(\w+)",
        r"(?:[\w<>\[\],.?]+\s+)+(\w+)\s*\([^;=]*\)\s*(?:async\s*)?\{\s*$",
    ),
)
_C: Final = Language(
    _either(r"(?:typedef\s+)?(?:class|struct|union|enum|namespace)\s+([\w:]+)[^;()]*$"),
    _either(r"(?!else\b|return\b)(?:[\w:<>,~]+(?:\s*[*&]+\s*|\s+))+([\w:~]+)\s*\([^;]*$"),
)
_GO: Final = Language(None, _either(r"func\s+(?:\([^)]*\)\s*)?(\w+)", r"type\s+(\w+)"))
_RUST: Final = Language(
    _either(
        r"(?:unsafe\s+)?impl\b(?:<[^>]*>)?\s*(?:[\w:<>, ]+\s+for\s+)?(\w+)",
        r"(?:pub(?:\([^)]*\))?\s+)?(?:unsafe\s+)?(?:trait|mod)\s+(\w+)",
    ),
    _either(
        r"(?:pub(?:\([^)]*\))?\s+)?(?:(?:const|async|unsafe|extern(?:\s+\"[^\"]*\")?)\s+)*"
        r"(?:fn|struct|enum|union|type|static|const)\s+(\w+)",
        r"macro_rules!\s*(\w+)",
    ),
)
_PYTHON: Final = Language(_either(r"class\s+(\w+)"), _either(r"(?:async\s+)?def\s+(\w+)"))
_RUBY: Final = Language(_either(r"(?:class|module)\s+([\w:]+)"), _either(r"def\s+([\w.?!=]+)"))
_LUA: Final = Language(None, _either(r"(?:local\s+)?function\s+([\w.:]+)"))
_SHELL: Final = Language(None, _either(r"function\s+([\w:-]+)", r"([\w:-]+)\s*\(\s*\)"))
_SQL: Final = Language(
    None,
    _either(
        r"create\s+(?:or\s+replace\s+)?(?:(?:temp|temporary|unique|materialized)\s+)*"
        r"(?:table|view|function|procedure|trigger|index|type|schema)\s+(?:if\s+not\s+exists\s+)?"
        r"([\w.\"`\[\]]+)",
        flags=re.I,
    ),
)
_PERL: Final = Language(None, _either(r"sub\s+(\w+)", r"package\s+([\w:]+)"))
_R: Final = Language(None, _either(r"([\w.]+)\s*(?:<-|=)\s*function\b"))
_JULIA: Final = Language(
    _either(r"(?:bare)?module\s+(\w+)"),
    _either(r"(?:function|macro|(?:mutable\s+)?struct|abstract\s+type)\s+([\w.!]+)"),
)
_ELIXIR: Final = Language(
    _either(r"(?:defmodule|defprotocol|defimpl)\s+([\w.]+)"),
    _either(r"(?:defp?|defmacrop?|defguard)\s+([\w?!]+)"),
)
_LISP: Final = Language(None, _either(r"\(def\w*-?\s+\(?([^\s()]+)"))
_ML: Final = Language(
    None, _either(r"(?:let|and|type|module|data|class|instance)\s+(?:rec\s+)?(\w+)", r"(\w+)\s*::")
)
_ERLANG: Final = Language(None, _either(r"([a-z]\w*)\([^)]*\)\s*(?:when\b.*)?->"))
_PROTO: Final = Language(
    _either(r"(?:message|service)\s+(\w+)"), _either(r"(?:rpc|enum|oneof)\s+(\w+)")
)
_TERRAFORM: Final = Language(
    None, _either(r"(?:resource|data|module|variable|output|provider)\s+\"([^\"]+)\"")
)
_POWERSHELL: Final = Language(
    _either(r"class\s+(\w+)"), _either(r"(?:function|filter)\s+([\w:-]+)")
)
_CMAKE: Final = Language(None, _either(r"(?:function|macro)\s*\(\s*(\w+)", flags=re.I))

LANGUAGES: Final = {
    extension: language
    for extensions, language in (
        ("js mjs cjs jsx ts tsx vue", _SCRIPT),
        ("java cs groovy gradle", _JAVA),
        ("kt kts scala swift php dart", _KOTLIN),
        ("c h cc cpp cxx hpp m", _C),
        ("go", _GO),
        ("rs", _RUST),
        ("py pyi", _PYTHON),
        ("rb", _RUBY),
        ("lua", _LUA),
        ("sh bash zsh fish", _SHELL),
        ("sql", _SQL),
        ("pl", _PERL),
        ("r", _R),
        ("jl", _JULIA),
        ("ex exs", _ELIXIR),
        ("clj", _LISP),
        ("hs ml", _ML),
        ("erl", _ERLANG),
        ("proto", _PROTO),
        ("tf", _TERRAFORM),
        ("ps1", _POWERSHELL),
        ("cmake", _CMAKE),
    )
    for extension in extensions.split()
}
"""The languages by the extensions of their files."""
