"""From the address of a Ray cluster to what spreads a sync over it: Ray Data, in two stages.

Each machine of the cluster has this very ibid, the model, and the folder under the same path (or
the credentials for an object store). The files' texts travel between these machines, and nowhere
else: Ray's reports of its usage are off. A cluster of this machine's own ends with the sync, and
only who knows its key may speak with it.
"""

from __future__ import annotations

import logging
import os
import pickle
import secrets
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from functools import cached_property, partial
from tempfile import TemporaryDirectory
from typing import Any, Final, TypeAlias

from ibid.errors import BadSetting, IbidError, ModelUnavailable
from ibid.flows.options import Spread
from ibid.flows.spread import Prepared, Work, cut_files, embed_files
from ibid.flows.taking import open_readers
from ibid.protocols import Embedder, SourceFile
from ibid.settings import Settings
from ibid.version import VERSION

LOCAL: Final = "local"
"""The address of a cluster that is started for the sync, on this machine."""

FILES_CUT: Final = 16
FILES_EMBEDDED: Final = 8
"""Files in one call of each stage."""

_STORE_BYTES: Final = 512 * 1024**2
"""What waits between the stages of a local cluster; more goes to disk."""

_MOST_BLOCKS: Final = 10_000
"""Parts of the list of files, each of which costs Ray some bookkeeping."""

_QUIET: Final = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DATA_DISABLE_PROGRESS_BARS": "1",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_BACKEND_LOG_LEVEL": "fatal",
}

OpenEmbedder: TypeAlias = Callable[[], Embedder]
Step: TypeAlias = Callable[[Sequence[Any]], Iterable[object]]


def open_spread(address: str, settings: Settings, open_embedder: OpenEmbedder) -> Spread:
    """What spreads a sync over the cluster at an address, which is reached when it begins.

    `open_embedder` is called at each place. Raises BadSetting where Ray isn't installed, and
    ModelUnavailable for a cluster elsewhere when nothing may leave this machine.
    """
    if settings.offline and address != LOCAL:
        raise ModelUnavailable(
            f"the Ray cluster at {address} would be sent texts, and ibid is offline",
            hint="leave --offline and IBID_OFFLINE out, or use --ray local",
        )
    load_ray(address)
    return partial(_spread, address, open_embedder)


def load_ray(address: str) -> None:
    """Import Ray as it has to be for an address: it reads once what its clusters are guarded by.

    Raises BadSetting where it isn't installed, or was loaded before without a key.
    """
    os.environ.update(_QUIET)
    if address == LOCAL and "ray" not in sys.modules:
        os.environ.setdefault("RAY_AUTH_MODE", "token")
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
    try:
        import ray.data  # noqa: F401 - a sync would find out too late
    except ImportError as error:
        raise BadSetting(
            f"--ray needs the extra ray ({error})", hint="run `pip install 'ibid-rag[ray]'`"
        ) from error
    if address == LOCAL and os.environ.get("RAY_AUTH_MODE") != "token" and not _has_joined():
        raise BadSetting(
            "Ray was loaded before ibid could give its cluster a key",
            hint="call ray.init yourself before, or set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN",
        )


def _has_joined() -> bool:
    import ray

    return bool(ray.is_initialized())


@contextmanager
def _spread(
    address: str, open_embedder: OpenEmbedder, work: Work, files: Sequence[SourceFile]
) -> Iterator[Iterator[Prepared]]:
    from ray.exceptions import RayError

    with _joining(address), ExitStack() as stack:
        batches = iter(_build(work, files, open_embedder).iter_batches(batch_size=None))
        stack.callback(batches.close)  # while there is a cluster to tell of it
        try:
            yield (_unpack(row) for batch in batches for row in batch["row"])
        except RayError as error:
            raise IbidError(
                f"a place of the Ray cluster failed: {_tell_cause(error)}",
                hint="what was committed is kept; mend it and sync again, which goes on from there",
            ) from error


def _build(work: Work, files: Sequence[SourceFile], open_embedder: OpenEmbedder) -> Any:
    """The two stages over the files: as many readers as processors, an embedder a machine."""
    import ray
    import ray.data

    context = ray.data.DataContext.get_current()
    context.execution_options.preserve_order = True
    context.enable_progress_bars = False
    machines = sum(1 for node in ray.nodes() if node["Alive"])
    processors = max(1, int(ray.cluster_resources().get("CPU", 1)))
    shared = ray.put((work, open_embedder))
    items = [{"row": pickle.dumps(file)} for file in files]
    blocks = max(1, min(len(items) // FILES_CUT, _MOST_BLOCKS))
    pool = ray.data.ActorPoolStrategy
    return (
        ray.data.from_items(items, override_num_blocks=blocks)
        .map_batches(
            _Stage,
            fn_constructor_args=(shared, _open_cutting),
            batch_size=FILES_CUT,
            compute=pool(min_size=1, max_size=processors),
            num_cpus=0.25,
        )
        .map_batches(
            _Stage,
            fn_constructor_args=(shared, _open_embedding),
            batch_size=FILES_EMBEDDED,
            compute=pool(min_size=1, max_size=machines),
            num_cpus=0.5,
        )
    )


class _Stage:
    """One stage at one place: what `open_step` opens for it, with its first files.

    It gives an error as it gives files, so that what fails there is told as it would be here.
    """

    def __init__(self, shared: Any, open_step: Callable[[Work, Embedder], Step]) -> None:
        self._shared = shared
        self._open_step = open_step

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, list[bytes]]:
        rows = batch["row"]
        try:
            made = list(self._step([_unpack(row) for row in rows]))
        except IbidError as error:
            made = [error] * len(rows)
        return {"row": [pickle.dumps(one) for one in made]}

    @cached_property
    def _step(self) -> Step:
        work, open_embedder = _receive(self._shared)
        return self._open_step(work, open_embedder())


def _open_cutting(work: Work, embedder: Embedder) -> Step:
    """Reads files in children with the limits of every sync, and cuts them."""
    readers = open_readers(work.options)
    return lambda files: cut_files(
        files, work, embedder=embedder, lend=lambda: nullcontext(readers)
    )


def _open_embedding(work: Work, embedder: Embedder) -> Step:
    """Embeds what was cut."""
    return partial(embed_files, work=work, embedder=embedder)


def _unpack(row: bytes) -> Any:
    """What a stage gave. Raises the error that it gave instead."""
    found = pickle.loads(row)
    if isinstance(found, IbidError):
        raise found
    return found


def _receive(shared: Any) -> tuple[Work, OpenEmbedder]:
    """The work that was given out. Raises BadSetting where it was by another ibid than this."""
    import ray

    work, open_embedder = ray.get(shared)
    if work.version != VERSION:
        raise BadSetting(
            f"the work is ibid {work.version}'s, and this place has ibid {VERSION}",
            hint="install one version everywhere",
        )
    return work, open_embedder


@contextmanager
def _joining(address: str) -> Iterator[None]:
    """The cluster at an address, for a `with`; one that this process has joined already stays."""
    import ray

    if _has_joined():
        yield
        return
    logging.getLogger("ray.data").setLevel(logging.CRITICAL)
    with ExitStack() as stack:
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
        if address == LOCAL:
            options |= stack.enter_context(starting())
        else:
            options |= {"address": address}
        try:
            ray.init(**options)
        except (OSError, RuntimeError, ValueError) as error:
            raise ModelUnavailable(
                f"no Ray cluster at {address}: {error}",
                hint="give the address of its head, or --ray local",
            ) from error
        stack.callback(ray.shutdown)
        yield


@contextmanager
def starting() -> Iterator[dict[str, Any]]:
    """The options of a cluster on this machine, whose files are gone after the `with`."""
    with TemporaryDirectory(prefix="ibid-ray-", ignore_cleanup_errors=True) as folder:
        yield {
            "_temp_dir": folder,
            "_node_ip_address": "127.0.0.1",
            "include_dashboard": False,
            "object_store_memory": _STORE_BYTES,
        }


def _tell_cause(error: BaseException) -> str:
    """What kind of error it is, and the first line of what it says."""
    line = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    return f"{type(error).__name__}: {line}"
