"""The versions of ibid: its own, and those that a library records of what it was made by."""

from typing import Final

VERSION: Final = "0.1.0"

ANALYZER: Final = "ibid-1"
"""The analyzer of `language/analyzer.py`; a change of any term that it gives needs a new name."""
