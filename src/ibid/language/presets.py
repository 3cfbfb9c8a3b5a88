"""The plain regular-expression tokenizers that textbooks use, by name.

They know the ASCII letters only, so they serve examples and comparisons; `analyze` serves people.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final


def find_words(text: str) -> list[str]:
    """The runs of `[a-z0-9]+` in lower case: "E-4012" gives "e" and "4012"."""
    return re.findall(r"[a-z0-9]+", text.lower())


def find_hyphenated_words(text: str) -> list[str]:
    """The runs of `[a-z0-9-]+` in lower case: "E-4012" gives "e-4012"."""
    return re.findall(r"[a-z0-9-]+", text.lower())


PRESETS: Final[dict[str, Callable[[str], list[str]]]] = {
    "[a-z0-9]+": find_words,
    "[a-z0-9-]+": find_hyphenated_words,
}
"""Each preset under the expression that it stands for."""
