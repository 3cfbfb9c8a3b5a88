"""ONNX Runtime sessions that start fast: the optimised graph is kept and mapped from a cache.

Folding int8 weights into float32 takes most of the 0.25 s that a session costs to open; from a
kept graph, whose weights are mapped and not copied, it takes 0.02 s. The copy is four times the
size of the packaged model (90 MB for MiniLM), and every process of the machine shares its pages.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state as runtime_errors

from ibid.errors import ModelUnavailable

_FAILURES: Final = (
    runtime_errors.Fail,
    runtime_errors.InvalidArgument,
    runtime_errors.InvalidGraph,
    runtime_errors.InvalidProtobuf,
    runtime_errors.NoModel,
    runtime_errors.NoSuchFile,
    runtime_errors.NotImplemented,
    runtime_errors.RuntimeException,
)
_ERRORS_ONLY: Final = 3
_GRAPH, _WEIGHTS = "model.onnx", "model.weights"


def open_session(model: Path, *, kept: Path | None, threads: int) -> onnxruntime.InferenceSession:
    """A session for the model, from the graph kept in the folder `kept` where there is one.

    The optimised graph is kept there otherwise, whole or not at all; a folder that can't be
    written costs time, nothing else. The vectors are the same either way.

    Raises ModelUnavailable for a file that is no model.
    """
    if kept is not None and (kept / _GRAPH).is_file():
        try:
            return _open(kept / _GRAPH, _options(threads, optimize=False))
        except _FAILURES:
            shutil.rmtree(kept, ignore_errors=True)
    if kept is not None:
        with suppress(OSError, *_FAILURES):
            return _open_and_keep(model, kept, threads)
    try:
        return _open(model, _options(threads, optimize=True))
    except _FAILURES as error:
        raise ModelUnavailable(
            f"{model} is no model that ONNX Runtime {onnxruntime.__version__} can run: {error}",
            hint="export the model again, or name another folder",
        ) from error


def kept_folder(cache: Path, weights: str) -> Path:
    """Where the optimised graph of these weights is kept; another runtime optimises anew."""
    return cache / f"{weights}-onnxruntime-{onnxruntime.__version__}"


def is_kept(folder: Path) -> bool:
    """Whether the optimised graph lies there."""
    return (folder / _GRAPH).is_file()


def _open_and_keep(model: Path, kept: Path, threads: int) -> onnxruntime.InferenceSession:
    kept.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with tempfile.TemporaryDirectory(dir=kept.parent, prefix=".new-") as scratch:
        made = Path(scratch, "graph")
        made.mkdir()
        options = _options(threads, optimize=True)
        options.optimized_model_filepath = str(made / _GRAPH)
        for key, value in {
            "session.optimized_model_external_initializers_file_name": _WEIGHTS,
            "session.optimized_model_external_initializers_min_size_in_bytes": "1024",
        }.items():
            options.add_session_config_entry(key, value)
        session = _open(model, options)
        for file in made.iterdir():
            _flush(file)
        with suppress(OSError):  # another process was first, with the same graph
            made.rename(kept)
    return session


def _options(threads: int, *, optimize: bool) -> onnxruntime.SessionOptions:
    levels = onnxruntime.GraphOptimizationLevel
    options = onnxruntime.SessionOptions()
    # The level above, ALL, lays memory out for this one processor; a kept graph may meet another.
    options.graph_optimization_level = (
        levels.ORT_ENABLE_EXTENDED if optimize else levels.ORT_DISABLE_ALL
    )
    options.intra_op_num_threads = threads
    options.log_severity_level = _ERRORS_ONLY
    # Waiting threads would spin, and take the processor from whoever reads and chunks beside.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # Packing copies all weights at every start (70 ms) to save 2 ms of a query.
    options.add_session_config_entry("session.disable_prepacking", "1")
    return options


def _open(path: Path, options: onnxruntime.SessionOptions) -> onnxruntime.InferenceSession:
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def _flush(file: Path) -> None:
    with file.open("rb") as stream:
        os.fsync(stream.fileno())
