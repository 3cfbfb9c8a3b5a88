"""Lists that are told paragraph by paragraph, as Word and RTF files do, put into a builder."""

from __future__ import annotations

from ibid.reading.builder import DocumentBuilder
from ibid.records import BlockKind


class ListWriter:
    """Opens and closes the items of a builder by the level that each paragraph names."""

    def __init__(self, builder: DocumentBuilder) -> None:
        self._builder = builder
        self._open: list[int] = []  # levels of the items that are open

    def put(self, text: str, label: str, level: int) -> None:
        """Put one item; those of its level and deeper end before it."""
        while self._open and self._open[-1] >= level:
            self._open.pop()
            self._builder.close_item()
        self._open.append(level)
        self._builder.open_item(label)
        self._builder.append(BlockKind.PARAGRAPH, text)

    def close(self) -> None:
        """End the list."""
        for _ in self._open:
            self._builder.close_item()
        self._open.clear()
        self._builder.close_list()
