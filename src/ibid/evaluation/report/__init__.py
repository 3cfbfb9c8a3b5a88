"""An evaluation as one HTML page that needs nothing else: no network, no script, no other file."""

from ibid.evaluation.report.page import Report, render_report

__all__ = ["Report", "render_report"]
