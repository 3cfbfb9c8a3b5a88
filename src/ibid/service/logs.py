"""Logs as lines of JSON: requests on standard error, who did what in a file."""

from __future__ import annotations

import json
import logging
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

AUDIT_FILE: Final = "audit.jsonl"


class JsonLines(logging.Formatter):
    """A record as one line; `facts` are its fields. Nothing that a document says is among them."""

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record."""
        line = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "facts", {}),
        }
        if record.exc_info and record.exc_info[1] is not None:
            line["error"] = type(record.exc_info[1]).__name__
            line["trace"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


def start_logs(folder: Path) -> None:
    """Have the service's logs written: to standard error, and its audit log to a file that only
    this user can read."""
    # The root has it, so that no library sets up one of its own; from others, warnings are enough.
    _add(logging.getLogger(), logging.StreamHandler(), logging.WARNING)
    logging.getLogger("ibid.service").setLevel(logging.INFO)
    path = folder / AUDIT_FILE
    os.close(os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600))
    audit = logging.getLogger("ibid.service.audit")
    audit.propagate = False
    _add(audit, logging.FileHandler(path, encoding="utf-8"), logging.INFO)


def _add(logger: logging.Logger, handler: logging.Handler, level: int) -> None:
    handler.setFormatter(JsonLines())
    logger.handlers[:] = [handler]
    logger.setLevel(level)
