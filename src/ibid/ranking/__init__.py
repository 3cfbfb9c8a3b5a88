"""Ranking: scores, fuses, reranks and selects what the retrievers found."""
