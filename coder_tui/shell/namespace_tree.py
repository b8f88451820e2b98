"""Ends a command that has process ids of its own: when its first process dies, the kernel takes the rest."""

import asyncio
import contextlib
import json
import os
import signal

from coder_tui.shell.process_tree import descendants_of, send

_LAST_RESORT = 5.0


class NamespaceTree:
    """`first` is the namespace's first process as seen from outside, held by a descriptor."""

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
        """Return when nothing of it lives: TERM to all, and KILL after `grace` seconds."""
        if not self._is_gone.is_set():
            members = await asyncio.to_thread(descendants_of, self._first)
            send(members, signal.SIGTERM)
            if not await self._gone_within(grace if members else 0.0):
                self._kill()
                await self._gone_within(_LAST_RESORT)

    def close(self) -> None:
        """Kill whatever there still is; the descriptor is not needed any more."""
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
    """What bubblewrap tells through `report`; None when it failed before. Blocks."""
    told = b""
    while piece := os.read(report, 4096):
        told += piece
    return int(json.loads(told)["child-pid"]) if told.strip() else None
