"""Evaluation: how good retrieval and answers are, by which questions, and how large an index gets.

Pure functions over records: what runs the questions is `flows/evaluate.py`.
"""
