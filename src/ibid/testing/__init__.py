"""Honest fakes and conformance suites: what a new model or engine is tried with."""
