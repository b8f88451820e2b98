"""What commands changed, by comparison, without changes known to be others'; and what was not compared."""

import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from coder_tui.storage.database import Table, skip_unreadable
from coder_tui.storage.manifest import SELECT, Change, FileState, add_rows, change_of, last_seq, start_earlier
from coder_tui.storage.turns import turn_in_effect

_MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class CommandWindow:
    """When a command ran: after the scan from `opened` to `begun`, and before the one at `closed`."""

    opened: float
    begun: float
    closed: float


@dataclass(frozen=True, slots=True)
class SeenChange:
    """The state of a path in the scan before a command, and in the one after it."""

    path: Path
    before: FileState
    after: FileState


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Paths that were left out for one reason: a few names, and the count."""

    names: tuple[str, ...]
    count: int

    @classmethod
    def from_names(cls, names: Iterable[str]) -> "LeftOut":
        found = sorted(names)
        return cls(tuple(found[:_MOST_NAMED]), len(found))


@dataclass(slots=True)
class Uncovered:
    """What undo does not cover of some commands, by reason. `is_cut` means that one did not finish."""

    left_out: dict[str, LeftOut] = field(default_factory=dict)
    is_cut: bool = False

    def add(self, left_out: Mapping[str, LeftOut]) -> None:
        for reason, more in left_out.items():
            known = self.left_out.get(reason, more)
            names = LeftOut.from_names({*known.names, *more.names})
            self.left_out[reason] = LeftOut(names.names, max(known.count, more.count, names.count))


class CommandRecords(Table):
    async def begin(self, session_id: str, turn: int, left_out: Mapping[str, LeftOut]) -> int:
        """Record that a command is about to run; return its number."""

        def work(connection: sqlite3.Connection) -> int:
            last = connection.execute(
                "SELECT coalesce(max(number), 0) FROM commands WHERE session_id = ?", (session_id,)
            )
            number = int(last.fetchone()[0]) + 1
            owner = turn_in_effect(connection, session_id, turn)
            connection.execute(
                "INSERT INTO commands (session_id, number, turn, left_out) VALUES (?, ?, ?, ?)",
                (session_id, number, owner, _packed(left_out)),
            )
            return number

        return await self._database.write(work)

    async def end(self, session_id: str, number: int, left_out: Mapping[str, LeftOut]) -> None:
        await self._database.execute(
            "UPDATE commands SET is_ended = 1, left_out = ? WHERE session_id = ? AND number = ?",
            (_packed(left_out), session_id, number),
        )

    async def uncovered(self, session_id: str, turn: int) -> Uncovered | None:
        """Return what undo does not cover of the commands since a turn; None if none ran."""
        query = "SELECT left_out, is_ended FROM commands WHERE session_id = ? AND turn >= ? ORDER BY number"

        def work(connection: sqlite3.Connection) -> Uncovered | None:
            found: Uncovered | None = None
            rows = connection.execute(query, (session_id, turn))
            for left_out, is_ended in skip_unreadable(rows, lambda row: (_unpacked(row[0]), row[1])):
                found = found or Uncovered()
                found.add(left_out)
                found.is_cut = found.is_cut or not is_ended
            return found

        return await self._database.read(work)

    async def edited_during(self, session_id: str, turn: int, window: CommandWindow) -> frozenset[Path]:
        """Return the paths that this session's other calls changed while a command ran."""

        def work(connection: sqlite3.Connection) -> frozenset[Path]:
            return frozenset(
                _own(connection, session_id, turn_in_effect(connection, session_id, turn), window)
            )

        return await self._database.read(work)

    async def record_seen(
        self, session_id: str, turn: int, call_id: str, found: Iterable[SeenChange], window: CommandWindow
    ) -> tuple[Change, ...]:
        """Record what a command changed by comparison, without changes known to be others'."""
        given = tuple(found)

        def work(connection: sqlite3.Connection) -> tuple[Change, ...]:
            owner = turn_in_effect(connection, session_id, turn)
            own, theirs = _own(connection, session_id, owner, window), _others(connection, session_id, window)
            left: list[SeenChange] = []
            for seen in given:
                since = _since_others(seen, theirs.get(seen.path, ()))
                rest = _merge_own_changes(connection, session_id, since, own.get(seen.path, ()), window)
                if not rest.before.is_like(rest.after):
                    left.append(rest)
            last = last_seq(connection, session_id)
            added = tuple(
                Change(last + place, owner, call_id, seen.path, seen.before, seen.after, is_seen=True)
                for place, seen in enumerate(left, start=1)
            )
            add_rows(connection, session_id, added)
            return added

        return await self._database.write(work)


@dataclass(frozen=True, slots=True)
class _Known:
    """A change that its call declared; `ended` is None while the call runs."""

    change: Change
    created: float
    ended: float | None

    @property
    def after(self) -> FileState | None:
        return self.change.after


_Found = dict[Path, list[_Known]]


def _own(connection: sqlite3.Connection, session_id: str, turn: int, window: CommandWindow) -> _Found:
    """Return this session's own changes that may have happened while the command ran."""
    still = "(after_kind IS NULL OR ended >= ?)"
    where = f"session_id = ? AND turn = ? AND NOT is_undone AND {still} ORDER BY seq"
    return _by_path(connection, where, (session_id, turn, window.opened))


def _others(connection: sqlite3.Connection, session_id: str, window: CommandWindow) -> _Found:
    """Return other sessions' declared changes during the command; compared ones may be this command's own."""
    where = "ended >= ? AND session_id <> ? AND NOT is_seen ORDER BY ended"
    return _by_path(connection, where, (window.opened, session_id))


def _by_path(connection: sqlite3.Connection, where: str, given: tuple[str | int | float, ...]) -> _Found:
    found: _Found = {}
    rows = connection.execute(f"{_WITH_END} WHERE {where}", given)
    for known in skip_unreadable(rows, lambda row: _Known(change_of(row[:-2]), *row[-2:])):
        found.setdefault(known.change.path, []).append(known)
    return found


def _since_others(seen: SeenChange, theirs: Iterable[_Known]) -> SeenChange:
    """Return what happened after others' last change: undoing more would undo their work."""
    before = seen.before
    for known in theirs:
        before = known.after or before
    return SeenChange(seen.path, before, seen.after)


def _merge_own_changes(
    connection: sqlite3.Connection,
    session_id: str,
    seen: SeenChange,
    own: Iterable[_Known],
    window: CommandWindow,
) -> SeenChange:
    """Join the session's own changes during the command into a chain; return what is left to record."""
    chain = _since(seen.before, list(own), window)
    state = seen.before
    for known in chain:
        if not known.change.before.is_like(state):
            # The command changed it in between: undoing this change undoes that as well.
            start_earlier(connection, session_id, known.change.seq, state)
        if known.after is None:
            return SeenChange(seen.path, state, state)
        state = known.after
    if chain and (chain[-1].ended or 0.0) >= window.closed:
        # The scan may have been before this change, which records its own result.
        return SeenChange(seen.path, state, state)
    return SeenChange(seen.path, state, seen.after)


def _since(state: FileState, own: list[_Known], window: CommandWindow) -> list[_Known]:
    """Return the changes that were made after the first scan reached this path."""
    if not own or own[0].change.before.is_like(state):
        return own
    during = [known for known in own if known.created < window.begun]
    done = [place for place, known in enumerate(during, 1) if known.after and known.after.is_like(state)]
    return own[max(done, default=0) :]


_WITH_END = SELECT.replace(" FROM changes", ", created, ended FROM changes")


def _packed(left_out: Mapping[str, LeftOut]) -> str:
    return json.dumps({reason: [each.count, *each.names] for reason, each in left_out.items()})


def _unpacked(text: str) -> dict[str, LeftOut]:
    found = json.loads(text)
    return {reason: LeftOut(tuple(names), int(count)) for reason, (count, *names) in found.items()}
