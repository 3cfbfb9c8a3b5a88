"""The embedded engine: the suite that every engine passes, and what only this one promises."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ibid.index.embedded.engine import EmbeddedIndex
from ibid.protocols import Index
from ibid.testing.index_parts import analyze_words
from ibid.testing.index_suite import IndexSuite


class TestEmbedded(IndexSuite):
    @pytest.fixture
    def open_index(self) -> Callable[[Path], Index]:
        return lambda folder: EmbeddedIndex(folder, analyze=analyze_words)
