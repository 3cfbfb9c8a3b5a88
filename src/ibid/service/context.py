"""What every route works with: the library, the options, and what the service keeps."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.requests import Request

if TYPE_CHECKING:
    from ibid.library import Library
    from ibid.service.evaluating import Evaluations
    from ibid.service.jobs import Jobs
    from ibid.service.metrics import Metrics
    from ibid.service.options import ServeOptions
    from ibid.service.store import Store
    from ibid.service.tokens import Tokens
    from ibid.service.traces import Traces


@dataclass(frozen=True, slots=True)
class Context:
    """The parts of a service; `askers` are the threads in which answers are written, `embedder` the
    name of what embeds, which never changes while a library is open."""

    library: Library
    embedder: str
    options: ServeOptions
    store: Store
    jobs: Jobs
    askers: ThreadPoolExecutor
    metrics: Metrics
    evaluations: Evaluations
    tokens: Tokens | None = None
    traces: Traces | None = None


def find_context(request: Request) -> Context:
    """The service that a request came to."""
    context: Context = request.app.state.context
    return context
