"""Turning passages and queries into vectors: local models, plain functions, remote services."""
