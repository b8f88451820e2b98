"""Read the symbols of many files in several processes, within a time limit.

Results are cached by content, so that the next map of a project reads only what changed.
"""

import contextlib
import json
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, wait
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from coder_tui.protocol.errors import ToolError
from coder_tui.workspace.files.confine import Located, open_regular
from coder_tui.workspace.outline.parse import (
    FileSymbols,
    Wire,
    from_wire,
    grammar_for,
    parse,
    suffix_of,
    to_wire,
)

VERSION = 1
"""Increase this whenever the same content would be read differently."""
_MOST_ROWS = 100_000
_BATCH = 500
_SCHEMA = "CREATE TABLE IF NOT EXISTS outlines (key TEXT PRIMARY KEY, data TEXT NOT NULL)"


def key_of(path: str, data: bytes) -> str:
    grammar = grammar_for(path)
    language = f"{grammar.name}.{grammar.entry}" if grammar else suffix_of(path)
    return f"{VERSION}:{language}:{sha256(data).hexdigest()}"


class OutlineCache:
    """Stores outlines. If the disk fails, everything is parsed again, without an error."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def load(self, keys: Iterable[str]) -> dict[str, Wire]:
        wanted, found = list(keys), {}
        try:
            with contextlib.closing(self._open()) as database:
                for at in range(0, len(wanted), _BATCH):
                    batch = wanted[at : at + _BATCH]
                    places = ",".join("?" * len(batch))
                    query = f"SELECT key, data FROM outlines WHERE key IN ({places})"
                    for key, data in database.execute(query, batch):
                        found[key] = json.loads(data)
        except (sqlite3.OperationalError, OSError):
            # Busy or unreachable: next time.
            pass
        except (sqlite3.DatabaseError, ValueError):
            self._discard()
        return found

    def save(self, outlines: Mapping[str, Wire]) -> None:
        rows = [(key, json.dumps(wire, ensure_ascii=False)) for key, wire in outlines.items()]
        if not rows:
            return
        last = "(SELECT max(rowid) FROM outlines)"
        with contextlib.suppress(sqlite3.Error, OSError), contextlib.closing(self._open()) as database:
            database.executemany("INSERT OR REPLACE INTO outlines VALUES (?, ?)", rows)
            database.execute(f"DELETE FROM outlines WHERE rowid <= {last} - ?", (_MOST_ROWS,))
            database.commit()

    def _open(self) -> sqlite3.Connection:
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        database = sqlite3.connect(self._path, timeout=2.0)
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = OFF")
        database.execute(_SCHEMA)
        return database

    def _discard(self) -> None:
        for suffix in ("", "-wal", "-shm"):
            with contextlib.suppress(OSError):
                self._path.with_name(self._path.name + suffix).unlink()


LARGEST_FILE = 512 * 1024
_WORTH_A_POOL = 100
_MOST_PROCESSES = 4
_PIECE = 16


@dataclass(frozen=True, slots=True)
class Survey:
    """Symbols by path; `is_partial` if the time was up first."""

    files: dict[str, FileSymbols]
    is_partial: bool


@dataclass(frozen=True, slots=True)
class _Job:
    path: str
    key: str
    data: bytes


def survey(root: Path, paths: list[str], cache: OutlineCache, seconds: float) -> Survey:
    """Return what is cached by content, and parse the rest."""
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
    """Read one file; return None if it is gone, not text, or too large to be written by hand."""
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
    """Parse in batches, each in some process; what is not done by the deadline is left out."""
    processes = min(_MOST_PROCESSES, os.cpu_count() or 1)
    if len(jobs) < _WORTH_A_POOL or processes == 1:
        return dict(_parse_until(jobs, deadline))
    pool = ProcessPoolExecutor(processes)
    pieces = [pool.submit(_parse_piece, jobs[at : at + _PIECE]) for at in range(0, len(jobs), _PIECE)]
    done, _ = wait(pieces, max(deadline - time.monotonic(), 0))
    pool.shutdown(wait=False, cancel_futures=True)
    # A grammar that crashes takes its process with it, and the pool all pending work.
    return {key: wire for piece in done if piece.exception() is None for key, wire in piece.result()}


def _parse_until(jobs: list[_Job], deadline: float) -> Iterator[tuple[str, Wire]]:
    for job in jobs:
        if time.monotonic() > deadline:
            return
        yield job.key, to_wire(parse(job.path, job.data))


def _parse_piece(jobs: list[_Job]) -> list[tuple[str, Wire]]:
    return [(job.key, to_wire(parse(job.path, job.data))) for job in jobs]
