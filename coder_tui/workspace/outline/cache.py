"""Keeps what was parsed by content, so that the next map of a project reads only what changed."""

import contextlib
import json
import sqlite3
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path

from coder_tui.workspace.outline.languages import grammar_for, suffix_of
from coder_tui.workspace.outline.symbols import Wire

VERSION = 1
"""To be raised whenever the same content would be read differently."""
_MOST_ROWS = 100_000
_BATCH = 500
_SCHEMA = "CREATE TABLE IF NOT EXISTS outlines (key TEXT PRIMARY KEY, data TEXT NOT NULL)"


def key_of(path: str, data: bytes) -> str:
    grammar = grammar_for(path)
    language = f"{grammar.name}.{grammar.entry}" if grammar else suffix_of(path)
    return f"{VERSION}:{language}:{sha256(data).hexdigest()}"


class OutlineCache:
    """A cache may fail in any way a disk can: then everything is parsed anew, and nobody hears of it."""

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
            # Busy or out of reach: another time.
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
