"""Where the time of a run goes."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(slots=True)
class Stopwatch:
    """Seconds by stage, added up over a run; 0 for a stage that never ran."""

    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))

    @contextmanager
    def timing(self, stage: str) -> Iterator[None]:
        """Add the length of a `with` to a stage."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] += time.perf_counter() - start

    def milliseconds(self) -> dict[str, float]:
        """The stages so far, in milliseconds to the microsecond."""
        return {stage: round(seconds * 1000, 3) for stage, seconds in self.seconds.items()}
