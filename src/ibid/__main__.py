"""`python -m ibid` and the `ibid` command."""

from __future__ import annotations

import atexit
import gc
from typing import Final

OBJECTS_BEFORE_COLLECTION: Final = 200_000
"""New objects after which the collector looks for cycles: with its own 700 it runs hundreds of
times while modules are loaded, and finds nothing."""


def main() -> None:
    """Run the command line."""
    gc.set_threshold(OBJECTS_BEFORE_COLLECTION)
    # At the end all that was loaded would be searched for cycles: a tenth of a short call.
    atexit.register(gc.freeze)
    from ibid.cli import run  # noqa: PLC0415  -- `python -m ibid --help` must stay light

    run()


if __name__ == "__main__":
    main()
