"""What every bench does with its figures: a dated file of them, when one is asked for."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any


def make_parser(description: str | None) -> argparse.ArgumentParser:
    """A parser with what all benches take; the description is the bench's docstring."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--save", type=Path, metavar="FILE", help="also write the figures as JSON")
    return parser


def save_results(path: Path | None, figures: Mapping[str, Any]) -> None:
    """Write the figures with the date, the command and the machine; nothing without a path."""
    if path is None:
        return
    result = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": [Path(sys.argv[0]).name, *map(_shorten, sys.argv[1:])],
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors",
        "figures": figures,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"\nsaved to {path}")


def _shorten(argument: str) -> str:
    """A path by its last part: where it lies on one machine says nothing on another."""
    return Path(argument).name if Path(argument).is_absolute() else argument
