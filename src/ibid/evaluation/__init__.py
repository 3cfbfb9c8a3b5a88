"""Evaluation: how good the retrieval is, and how large an index gets."""
