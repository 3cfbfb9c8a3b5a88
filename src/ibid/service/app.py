"""The service put together: its parts opened and closed, its routes, what stands before them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Annotated, Final

from anyio import to_thread
from fastapi import FastAPI
from fastapi.responses import JSONResponse, PlainTextResponse, Response
from fastapi.telemetry import TelemetryConfig
from starlette.staticfiles import StaticFiles

from ibid.errors import IbidError
from ibid.library import Library
from ibid.service import answers, asking, chat_clients, documents, lab, measures
from ibid.service.access import need
from ibid.service.callers import Caller
from ibid.service.carrying import sync_folder, write_documents
from ibid.service.context import Context
from ibid.service.evaluating import Evaluations
from ibid.service.failures import handle_errors, refuse
from ibid.service.guards import Guard
from ibid.service.jobs import CarryOut, Jobs, Kind
from ibid.service.metrics import TYPE, Metrics
from ibid.service.options import ServeOptions
from ibid.service.reference import add_reference
from ibid.service.replies import FAILURES, describe
from ibid.service.replies.documents import ReadyReply
from ibid.service.store import Store, find_folder
from ibid.service.tokens import Tokens
from ibid.service.tool_route import ToolRoute, has_tools
from ibid.service.traces import Traces
from ibid.uploads import UPLOADS, Uploads
from ibid.version import VERSION

THREADS: Final = 40
"""Searches and reads that are worked on at once; more wait, for they all want the processor."""

_UNTOLD: Final[TelemetryConfig] = {"tracing": False, "metrics": False, "logs": False}
"""FastAPI would tell of whole addresses, in which ids and filters are: ours are in `traces`."""

PAGE: Final = Path(__file__).parent / "page"
"""The files of the web page."""

LOOKS: Final = ("ibid", "looks")
"""The style sheets that it shares with reports, by their package and folder."""


def make_app(library: Library, options: ServeOptions, traces: Traces | None = None) -> FastAPI:
    """The service of a library, which stays its opener's to close after it; so do the traces."""
    metrics = Metrics()
    app = FastAPI(
        title="ibid",
        version=VERSION,
        summary="Answers from your own documents, each sentence cited and checked.",
        docs_url=None,
        redoc_url=None,
        lifespan=partial(_run, library=library, options=options, metrics=metrics, traces=traces),
        telemetry=_UNTOLD,
    )
    handle_errors(app)
    app.add_middleware(Guard, options=options, metrics=metrics, traces=traces)
    for room in (asking, documents, answers, measures, lab, chat_clients):
        app.include_router(room.router, responses=FAILURES)
    _add_health(app, metrics)
    if has_tools():
        app.state.tools = ToolRoute(app)
    add_reference(app)
    if PAGE.is_dir():
        app.mount("/", StaticFiles(directory=PAGE, packages=[LOOKS], html=True), name="page")
    return app


@asynccontextmanager
async def _run(
    app: FastAPI,
    *,
    library: Library,
    options: ServeOptions,
    metrics: Metrics,
    traces: Traces | None,
) -> AsyncIterator[None]:
    """Opens what the service works with; at the end, what runs is let finish or be kept."""
    to_thread.current_default_thread_limiter().total_tokens = THREADS
    folder = find_folder(library.location)
    store = Store(folder)
    evaluations = Evaluations(library)
    work: dict[Kind, CarryOut] = {
        "documents": partial(write_documents, library, Uploads(folder / UPLOADS)),
        "sync": partial(sync_folder, library),
        "evaluate": evaluations.carry_out,
    }
    jobs = Jobs(store, work, folder=folder)
    askers = ThreadPoolExecutor(options.asks, thread_name_prefix="ibid-ask")
    tokens = None if options.identity is None else Tokens(options.identity)
    embedder = library.status(frozenset()).manifest.embedder
    app.state.context = Context(
        library, embedder, options, store, jobs, askers, metrics, evaluations, tokens, traces
    )
    metrics.watch("ibid_jobs_open", "Jobs that are not done.", jobs.count_open)
    jobs.start()
    tools: ToolRoute | None = getattr(app.state, "tools", None)
    try:
        async with nullcontext() if tools is None else tools.running(app.state.context):
            yield
    finally:
        await to_thread.run_sync(jobs.stop)
        askers.shutdown(cancel_futures=True)
        store.close()


def _add_health(app: FastAPI, metrics: Metrics) -> None:
    @app.get("/healthz", tags=["operation"], responses=FAILURES | describe(ReadyReply))
    async def tell_health() -> JSONResponse:
        """That the service runs."""
        return JSONResponse({"ok": True})

    @app.get("/readyz", tags=["operation"], responses=FAILURES | describe(ReadyReply))
    def tell_ready() -> Response:
        """That the library can be read."""
        context: Context = app.state.context
        try:
            context.library.status()
        except IbidError:
            return refuse(503, "the library can't be read", "`ibid verify` tells why")
        return JSONResponse({"ok": True})

    @app.get("/metrics", tags=["operation"], response_class=PlainTextResponse, responses=FAILURES)
    def write_metrics(caller: Annotated[Caller, need("admin")]) -> Response:
        """What the service counts, for Prometheus."""
        return Response(metrics.write(), media_type=TYPE)
