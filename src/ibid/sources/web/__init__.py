"""Websites as sources: lists of pages, and pages that are asked for politely."""
