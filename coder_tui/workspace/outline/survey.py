"""Reads the symbols of many files, in several processes and within a time."""

import os
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

from coder_tui.protocol.errors import ToolError
from coder_tui.workspace.confine import Located, open_regular
from coder_tui.workspace.outline.cache import OutlineCache, key_of
from coder_tui.workspace.outline.parse import parse
from coder_tui.workspace.outline.symbols import FileSymbols, Wire, from_wire, to_wire

LARGEST_FILE = 512 * 1024
_WORTH_A_POOL = 100
_MOST_PROCESSES = 4
_PIECE = 16


@dataclass(frozen=True, slots=True)
class Survey:
    """Symbols by path; `is_partial` when the time was up first."""

    files: dict[str, FileSymbols]
    is_partial: bool


@dataclass(frozen=True, slots=True)
class _Job:
    path: str
    key: str
    data: bytes


def survey(root: Path, paths: list[str], cache: OutlineCache, seconds: float) -> Survey:
    """Take what is cached by content, parse the rest."""
    deadline = time.monotonic() + seconds
    jobs = [job for path in paths if (job := _job(root, path)) is not None]
    known = cache.load(job.key for job in jobs)
    missing = {job.key: job for job in jobs if job.key not in known}
    parsed = _parse_all(list(missing.values()), deadline)
    cache.save(parsed)
    found = known | parsed
    files = {job.path: from_wire(found[job.key]) for job in jobs if job.key in found}
    return Survey(files, len(files) < len(jobs))


def _job(root: Path, path: str) -> _Job | None:
    """Read one file; None where it is gone, too large to have been written by hand, or no text."""
    try:
        descriptor = open_regular(Located(root / path, path, is_inside=True, escapes_by_link=False))
    except ToolError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        data = file.read(LARGEST_FILE + 1)
    if len(data) > LARGEST_FILE or b"\0" in data:
        return None
    return _Job(path, key_of(path, data), data)


def _parse_all(jobs: list[_Job], deadline: float) -> dict[str, Wire]:
    """Parse in pieces, each in some process; what is not done by the deadline is left."""
    processes = min(_MOST_PROCESSES, os.cpu_count() or 1)
    if len(jobs) < _WORTH_A_POOL or processes == 1:
        return dict(_parse_until(jobs, deadline))
    pool = ProcessPoolExecutor(processes)
    pieces = [pool.submit(_parse_piece, jobs[at : at + _PIECE]) for at in range(0, len(jobs), _PIECE)]
    done, _ = wait(pieces, max(deadline - time.monotonic(), 0))
    pool.shutdown(wait=False, cancel_futures=True)
    # A grammar that crashes takes its process with it, and the pool all that was still to be done.
    return {key: wire for piece in done if piece.exception() is None for key, wire in piece.result()}


def _parse_until(jobs: list[_Job], deadline: float) -> Iterator[tuple[str, Wire]]:
    for job in jobs:
        if time.monotonic() > deadline:
            return
        yield job.key, to_wire(parse(job.path, job.data))


def _parse_piece(jobs: list[_Job]) -> list[tuple[str, Wire]]:
    return [(job.key, to_wire(parse(job.path, job.data))) for job in jobs]
