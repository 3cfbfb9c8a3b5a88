"""Markup: web pages, books, and what people write with plain signs."""
