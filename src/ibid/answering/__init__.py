"""Answers from the hits: prompt, generators, citations and their verification."""
