"""An evaluation as one HTML page that needs nothing else: no network, no script, no other file."""

from ibid.evaluation.report.page import Report, render_report
from ibid.evaluation.report.questions import order_worst

__all__ = ["Report", "order_worst", "render_report"]
