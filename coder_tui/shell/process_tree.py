"""Find and end every process that a command started, including those that left its group.

A command in its own process namespace is ended by its first process: the kernel then ends the rest.
"""

import asyncio
import contextlib
import json
import os
import signal
from dataclasses import dataclass
from pathlib import Path

MARKER = "_CODER_TUI_COMMAND"
_PROC = Path("/proc")
_POLL = 0.02
_ROUNDS = 8


@dataclass(frozen=True, slots=True)
class ProcessTree:
    """A command's processes: its group, its session, and all that have its marker in their environment.

    A child that calls setsid leaves group and session but inherits the marker. One that also clears its
    environment is found as a descendant while its parents run.
    """

    leader: int
    marker: str
    is_launched: bool = False
    """Whether the leader is our launcher. All processes stay below it, so it ends last."""

    def members(self) -> set[int]:
        """Return the running processes of the command, without zombies."""
        if not _PROC.joinpath("self", "stat").exists():
            return _group_alone(self.leader)
        if self.is_launched:
            # It ends everything below it when it ends, so no other process matters.
            state = _status(self.leader)
            is_alive = state is not None and state.session == self.leader
            return descendants_of(self.leader) | {self.leader} if is_alive else set()
        parents: dict[int, int] = {}
        found: set[int] = set()
        for pid in _process_ids():
            state = _status(pid)
            if state is None:
                continue
            parents[pid] = state.parent
            if self.leader in {pid, state.group, state.session} or self._carries_marker(pid):
                found.add(pid)
        return found | _descendants(found, parents)

    async def end(self, grace: float) -> None:
        """Send TERM to all, and KILL to those that still run after `grace` seconds."""
        members = await asyncio.to_thread(self.members)
        if not members:
            return
        send(members, signal.SIGTERM)
        deadline = asyncio.get_running_loop().time() + grace
        while members and asyncio.get_running_loop().time() < deadline:
            await asyncio.sleep(_POLL)
            members = await asyncio.to_thread(self.members)
        for rounds_left in reversed(range(_ROUNDS)):
            if not members:
                return
            # Repeated, because a process may have forked between the look and the signal. For the same
            # reason,
            # finding nothing below the launcher proves nothing: it ends once it has no child left.
            spared = {self.leader} if self.is_launched and rounds_left else set()
            send(members - spared, signal.SIGKILL)
            await asyncio.sleep(_POLL)
            members = await asyncio.to_thread(self.members)

    def close(self) -> None:
        """Release nothing: this class holds no resource."""

    def _carries_marker(self, pid: int) -> bool:
        wanted = f"{MARKER}={self.marker}".encode()
        try:
            return wanted in (_PROC / str(pid) / "environ").read_bytes().split(b"\0")
        except OSError:
            # Of another user, or already gone: not ours to end.
            return False


@dataclass(frozen=True, slots=True)
class _Status:
    parent: int
    group: int
    session: int


def _process_ids() -> list[int]:
    own = os.getpid()
    names = (entry.name for entry in _PROC.iterdir())
    return [int(name) for name in names if name.isdecimal() and int(name) != own]


def _status(pid: int) -> _Status | None:
    try:
        text = (_PROC / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return None
    # The name in parentheses may contain anything, including parentheses.
    state, parent, group, session = text.rpartition(")")[2].split()[:4]
    return None if state in {"Z", "X"} else _Status(int(parent), int(group), int(session))


def descendants_of(pid: int) -> set[int]:
    """Return the running processes below `pid`, without itself."""
    states = ((other, _status(other)) for other in _process_ids())
    parents = {other: state.parent for other, state in states if state is not None}
    return _descendants({pid}, parents) - {pid}


def _descendants(found: set[int], parents: dict[int, int]) -> set[int]:
    known: set[int] = set(found)
    grew = True
    while grew:
        more = {pid for pid, parent in parents.items() if parent in known and pid not in known}
        known |= more
        grew = bool(more)
    return known


def _group_alone(leader: int) -> set[int]:
    """Check the group as a whole, for systems without /proc."""
    try:
        os.killpg(leader, 0)
    except ProcessLookupError:
        return set()
    except PermissionError:
        # macOS reports this for a group of zombies.
        return set()
    return {-leader}


def send(members: set[int], number: signal.Signals) -> None:
    """Signal each process. Parents come first, because a shell that outlives its child reports its end."""
    for pid in sorted(members):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


_LAST_RESORT = 5.0


class NamespaceTree:
    """The processes of a namespace. `first` is its first process as seen from outside."""

    def __init__(self, first: int) -> None:
        self._first = first
        self._is_gone = asyncio.Event()
        try:
            self._handle = os.pidfd_open(first)
        except ProcessLookupError:
            self._handle = -1
            self._is_gone.set()
        else:
            asyncio.get_running_loop().add_reader(self._handle, self._on_gone)

    async def end(self, grace: float) -> None:
        """Send TERM to all, and KILL after `grace` seconds. Returns when all have ended."""
        if not self._is_gone.is_set():
            members = await asyncio.to_thread(descendants_of, self._first)
            send(members, signal.SIGTERM)
            if not await self._gone_within(grace if members else 0.0):
                self._kill()
                await self._gone_within(_LAST_RESORT)

    def close(self) -> None:
        """Kill what still runs and close the descriptor."""
        if not self._is_gone.is_set():
            self._kill()
        self._on_gone()

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._handle, signal.SIGKILL)

    async def _gone_within(self, seconds: float) -> bool:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._is_gone.wait()
        return self._is_gone.is_set()

    def _on_gone(self) -> None:
        self._is_gone.set()
        if self._handle >= 0:
            asyncio.get_running_loop().remove_reader(self._handle)
            os.close(self._handle)
            self._handle = -1


def first_process(report: int) -> int | None:
    """Read the process id that bubblewrap reports, or None if it failed before. Blocks."""
    data = b""
    while piece := os.read(report, 4096):
        data += piece
    return int(json.loads(data)["child-pid"]) if data.strip() else None
