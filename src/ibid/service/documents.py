"""The routes of documents: listed, read, sent, described, removed; pages, sources and jobs.

Ids hold slashes, so they travel as a parameter. What a caller may not see is told as not there;
what they may write is told from the id alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Annotated, Any, Final, TypeAlias

from anyio.to_thread import run_sync
from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse, Response
from starlette.datastructures import UploadFile

from ibid.errors import (
    BadQuery,
    DuplicateDocument,
    UnknownDocument,
    UnknownSource,
    UnsupportedFormat,
)
from ibid.flows.options import check_allow
from ibid.library import Library
from ibid.reading.pdf.picture import draw_page
from ibid.records import JSON, OWNER
from ibid.service.access import need
from ibid.service.asking import note
from ibid.service.bodies import DocumentBody, SaidBody, parse_body
from ibid.service.callers import Caller
from ibid.service.context import Context, find_context
from ibid.service.jobs import Job, Kind, shape_job
from ibid.service.replies import describe
from ibid.service.replies.documents import (
    DocumentReply,
    DocumentsReply,
    JobReply,
    JobsReply,
    ReportReply,
    SourcesReply,
    StatusReply,
    SyncingReply,
    TakenReply,
)
from ibid.shapes import (
    shape_blocks,
    shape_info,
    shape_passages,
    shape_report,
    shape_source,
)
from ibid.uploads import UPLOADS, Uploads, find_file

router = APIRouter(tags=["documents"])

Id = Annotated[str, Query(min_length=1, max_length=1000, description="The document's id.")]

Parts: TypeAlias = list[tuple[dict[str, Any], UploadFile | None]]
"""What is told of each document that was sent, and its file where it came as one."""

MOST_FILES: Final = 1000
"""Files in one request."""


# -- read -----------------------------------------------------------------------------------------


@router.get("/v1/documents", responses=describe(DocumentsReply | DocumentReply))
def read_documents(
    request: Request,
    caller: Annotated[Caller, need("search")],
    id: Annotated[str | None, Query(min_length=1, max_length=1000)] = None,
    filter: Annotated[str | None, Query(max_length=20_000)] = None,
    most: Annotated[int, Query(ge=1, le=10_000)] = 1000,
    offset: Annotated[int, Query(ge=0, le=10**9)] = 0,
) -> JSONResponse:
    """The documents that the caller may see in the order they came in, or the one with this id,
    with its text, blocks and passages."""
    library = find_context(request).library
    if id is None:
        found = library.documents(caller.principals, filter=filter)
        shown = [shape_info(info) for info in found[offset : offset + most]]
        return JSONResponse({"documents": shown, "total": len(found)})
    document = library.document(id, caller.principals)
    note(request, documents=[id])
    shape = {
        **shape_info(library.describe(id, caller.principals)),
        "text": document.text,
        "blocks": shape_blocks(document.blocks),
        "passages": shape_passages(library.passages(id, caller.principals)),
    }
    return JSONResponse(shape)


@router.get(
    "/v1/pages/{number}.png",
    response_class=Response,
    responses={200: {"content": {"image/png": {}}}},
)
def show_page(
    number: Annotated[int, "counted from 1"],
    id: Id,
    request: Request,
    caller: Annotated[Caller, need("search")],
) -> Response:
    """A page of a PDF as a picture with 144 dots an inch: two for each point of the boxes."""
    info = find_context(request).library.describe(id, caller.principals)
    path = find_file(info.source) if info.media_type == "application/pdf" else None
    picture = draw_page(path, number) if path is not None and 0 < number < 10**6 else None
    if picture is None:
        raise UnknownDocument(
            f"no picture of page {number} of {id!r}",
            hint="pages of PDF files that are kept have one",
        )
    note(request, documents=[id])
    return Response(picture, media_type="image/png", headers={"Cache-Control": "private, no-store"})


@router.get("/v1/sources", responses=describe(SourcesReply))
def list_sources(request: Request, caller: Annotated[Caller, need("search")]) -> JSONResponse:
    """The folders that were synced, their documents counted as far as the caller sees them."""
    found = find_context(request).library.sources(caller.principals)
    return JSONResponse({"sources": [shape_source(source) for source in found]})


@router.get("/v1/status", responses=describe(StatusReply))
def tell_status(request: Request, caller: Annotated[Caller, need("search")]) -> JSONResponse:
    """What the library holds, as far as the caller sees it."""
    context = find_context(request)
    status = context.library.status(caller.principals)
    shape = {
        "engine": status.engine,
        "version": status.version,
        "documents": status.documents,
        "passages": status.passages,
        "embedder": {"name": status.manifest.embedder, "dimension": status.manifest.dimension},
        "generator": context.library.generator.name,
        "caller": {
            "name": caller.name,
            "principals": sorted(caller.principals),
            "scopes": sorted(caller.scopes),
            "prefix": caller.prefix,
        },
    }
    return JSONResponse(shape)


# -- write ----------------------------------------------------------------------------------------

_SENDING: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": DocumentBody.model_json_schema(),
            },
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {
                        "file": {
                            "type": "array",
                            "items": {"type": "string", "format": "binary"},
                            "minItems": 1,
                            "maxItems": MOST_FILES,
                        },
                        "said": {
                            "type": "string",
                            "description": "What is said of them all: JSON as for PATCH.",
                        },
                    },
                }
            },
        },
    }
}


@router.post(
    "/v1/documents",
    status_code=202,
    openapi_extra=_SENDING,
    responses=describe(TakenReply, 202),
)
async def create_documents(
    request: Request,
    caller: Annotated[Caller, need("ingest")],
    id: Annotated[str | None, Query(min_length=1, max_length=1000)] = None,
) -> JSONResponse:
    """Create documents: one of JSON, or the files of a form, each under its name after the caller's
    prefix, or the only one under `id`. An id that exists is refused. A job does it."""
    return await _send(request, caller, id, overwrite=False)


@router.put(
    "/v1/documents",
    status_code=202,
    openapi_extra=_SENDING,
    responses=describe(TakenReply, 202),
)
async def write_documents(
    request: Request,
    caller: Annotated[Caller, need("ingest")],
    id: Annotated[str | None, Query(min_length=1, max_length=1000)] = None,
) -> JSONResponse:
    """Write documents over those with their ids, or new ones; otherwise as POST does."""
    return await _send(request, caller, id, overwrite=True)


@router.patch("/v1/documents", responses=describe(ReportReply))
def describe_document(
    id: Id, body: SaidBody, request: Request, caller: Annotated[Caller, need("ingest")]
) -> JSONResponse:
    """Say who may see a document, how it is tagged, whether it is archived."""
    library = find_context(request).library
    _find_own(library, id, caller)
    note(request, documents=[id])
    return JSONResponse(shape_report(library.set_said([id], _read_said(body))))


@router.delete("/v1/documents", responses=describe(ReportReply))
def remove_document(
    id: Id, request: Request, caller: Annotated[Caller, need("ingest")], purge: bool = False
) -> JSONResponse:
    """Hide a document from now on, or with `purge` erase it from every version."""
    library = find_context(request).library
    _find_own(library, id, caller)
    note(request, documents=[id], purge=purge)
    return JSONResponse(shape_report(library.remove(id, purge=purge)))


def _find_own(library: Library, id: str, caller: Caller) -> None:
    """Raise UnknownDocument for one that the caller does not see, AccessDenied for another's."""
    library.describe(id, caller.principals)
    caller.check_id(id)


async def _send(
    request: Request, caller: Caller, id: str | None, *, overwrite: bool
) -> JSONResponse:
    context = find_context(request)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "application/json":
        body = parse_body(DocumentBody, await request.body())
        if id is None:
            raise BadQuery("no id for the document", hint="give it as ?id=…")
        text = {"text": body.text, "title": body.title, "media_type": body.media_type}
        parts: Parts = [({"id": id, **text}, None)]
        job = await run_sync(_put, context, caller, parts, _read_said(body), overwrite)
    elif kind == "multipart/form-data":
        async with request.form(max_files=MOST_FILES, max_fields=10) as form:
            said = form.get("said")
            body_said = parse_body(SaidBody, said.encode() if isinstance(said, str) else b"{}")
            files = [file for file in form.getlist("file") if isinstance(file, UploadFile)]
            parts = _name_files(files, id, caller)
            job = await run_sync(_put, context, caller, parts, _read_said(body_said), overwrite)
    else:
        raise UnsupportedFormat(
            f"a body of type {kind or 'unknown'}", hint="send application/json or a form with files"
        )
    ids = [part["id"] for part in job.work["parts"]]
    note(request, documents=ids, job=job.id)
    headers = {"Location": f"/v1/jobs/{job.id}"}
    return JSONResponse({"job_id": job.id, "ids": ids}, 202, headers)


def _name_files(files: list[UploadFile], id: str | None, caller: Caller) -> Parts:
    """The files with the ids of their documents."""
    if not files:
        raise BadQuery("no file in the form", hint="send each in a field called file")
    if id is not None and len(files) > 1:
        raise BadQuery(f"one id for {len(files)} files", hint="leave it out, or send one file")
    named: Parts = []
    for file in files:
        name = PurePosixPath((file.filename or "").replace("\\", "/")).name
        if id is None and not name:
            raise BadQuery("a file without a name", hint="give it one, or an id")
        named.append(({"id": id or f"{caller.prefix}{name}", "name": name or "file"}, file))
    return named


def _put(
    context: Context,
    caller: Caller,
    parts: Parts,
    said: Mapping[str, JSON],
    overwrite: bool,
) -> Job:
    """The job that writes these parts, whose files are kept. Raises AccessDenied,
    UnknownDocument for a document to overwrite that the caller doesn't see, DuplicateDocument."""
    ids = [part["id"] for part, _ in parts]
    if len(set(ids)) < len(ids):
        raise DuplicateDocument("an id stands twice in one request", hint="nothing was changed")
    for id in ids:
        caller.check_id(id)
        _check_target(context.library, id, caller, overwrite)
    uploads = Uploads(context.store.folder / UPLOADS)
    kept: list[dict[str, Any]] = []
    for part, file in parts:
        if file is None:
            kept.append(part)
        else:
            path = uploads.keep(part["id"], part["name"], file.file)
            kept.append({"id": part["id"], "path": str(path)})
    work = {"parts": kept, "said": dict(said), "overwrite": overwrite}
    return context.jobs.put(caller.name, "documents", work, len(kept))


def _check_target(library: Library, id: str, caller: Caller, overwrite: bool) -> None:
    try:
        library.describe(id, OWNER)
    except UnknownDocument:
        return
    if not overwrite:
        raise DuplicateDocument(f"{id!r} in the library already", hint="PUT overwrites it")
    library.describe(id, caller.principals)


def _read_said(body: SaidBody) -> dict[str, JSON]:
    """What a body says of documents; what it leaves out is not said."""
    given = body.model_fields_set
    said: dict[str, JSON] = {}
    if "allow" in given:
        said["allow"] = None if body.allow is None else [*sorted(check_allow(body.allow))]
    if body.tags:
        said["tags"] = dict(body.tags)
    if body.archived is not None:
        said["archived"] = body.archived
    return said


# -- jobs -----------------------------------------------------------------------------------------


@router.post("/v1/sources/sync", status_code=202, responses=describe(SyncingReply, 202))
def sync_source(
    request: Request,
    caller: Annotated[Caller, need("admin")],
    name: Annotated[str, Query(min_length=1, max_length=1000)],
) -> JSONResponse:
    """Sync a folder again that was synced before. A job does it, whose report tells of documents
    that the caller sees."""
    context = find_context(request)
    found = [one for one in context.library.sources(caller.principals) if one.name == name]
    if not found:
        raise UnknownSource(f"no source {name!r}", hint="GET /v1/sources lists them")
    principals = sorted(caller.principals)
    work = {"location": found[0].location, "prefix": found[0].prefix, "principals": principals}
    job = context.jobs.put(caller.name, "sync", work, 100)
    note(request, source=name, job=job.id)
    return JSONResponse({"job_id": job.id}, 202, {"Location": f"/v1/jobs/{job.id}"})


@router.get("/v1/jobs", responses=describe(JobsReply))
def list_jobs(
    request: Request,
    caller: Annotated[Caller, need("ingest", "admin")],
    most: Annotated[int, Query(ge=1, le=1000)] = 20,
    kind: Kind | None = None,
) -> JSONResponse:
    """The caller's jobs, of all kinds or of one, newest first."""
    found = find_context(request).jobs.list(caller.name, most, kind)
    return JSONResponse({"jobs": [shape_job(job) for job in found]})


@router.get("/v1/jobs/{id}", responses=describe(JobReply))
def show_job(
    id: str, request: Request, caller: Annotated[Caller, need("ingest", "admin")]
) -> JSONResponse:
    """How far one of the caller's jobs is, and what it did."""
    return JSONResponse(shape_job(find_context(request).jobs.find(id, caller.name)))
