"""The files of whose text no language server has spoken yet: marked, and asked about until one has."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any

from coder_tui.protocol.diagnostics import IS_AWAITED, ServerStatus
from coder_tui.protocol.events import DiagnosticsAwaited

AT_ONCE = 0.1
"""Seconds within which an answer needs no word that it is awaited."""
TRIES = 4
_AT_A_TIME = 8
_IS_UNKNOWN = IS_AWAITED | {ServerStatus.CRASHED}

Begin = Callable[[Coroutine[Any, Any, Any]], "asyncio.Task[Any]"]


class PendingFiles:
    """Files by name. `ask` returns the status of the report on one; None if there is no such file."""

    def __init__(
        self,
        ask: Callable[[str], Awaitable[ServerStatus | None]],
        publish: Callable[[DiagnosticsAwaited], None],
        begin: Begin,
    ) -> None:
        self._ask = ask
        self._publish = publish
        self._begin = begin
        self._marked: dict[str, None] = {}
        self._asking: dict[str, asyncio.Task[bool]] = {}
        # Git may change hundreds of files at once.
        self._turn = asyncio.Semaphore(_AT_A_TIME)

    def leave(self, names: Iterable[str]) -> None:
        """Stop asking about these files: they change again."""
        for name in names:
            if (asking := self._asking.pop(name, None)) is not None:
                asking.cancel()

    def note(self, names: Iterable[str], status: ServerStatus, *, asks: bool) -> None:
        """Record what is known of these files since they changed; `asks` again if that is not all."""
        is_unknown = status in _IS_UNKNOWN
        self._mark(names, is_marked=is_unknown)
        if is_unknown and asks:
            for name in names:
                self._ask_about(name)

    async def follow(self, names: Iterable[str]) -> None:
        """Ask about these files, which have changed."""
        asking = {name: self._ask_about(name) for name in names}
        if asking:
            await asyncio.wait(asking.values(), timeout=AT_ONCE)
        self._mark([name for name, task in asking.items() if _is_open(task)], is_marked=True)

    def among(self, names: Iterable[str]) -> list[str]:
        """Those that are marked."""
        return [name for name in names if name in self._marked]

    def ask_again(self) -> None:
        """A server that failed may work now."""
        for name in self._marked:
            if name not in self._asking:
                self._ask_about(name)

    def _ask_about(self, name: str) -> "asyncio.Task[bool]":
        self.leave((name,))
        task: asyncio.Task[bool] = self._begin(self._until_known(name))
        self._asking[name] = task
        task.add_done_callback(lambda done: self._done(name, done))
        return task

    async def _until_known(self, name: str) -> bool:
        """Servers keep what comes late, for the next result."""
        for _ in range(TRIES):
            async with self._turn:
                status = await self._ask(name)
            if status not in _IS_UNKNOWN:
                self._mark((name,), is_marked=False)
                return True
            if status is ServerStatus.CRASHED:
                break
        return False

    def _done(self, name: str, task: "asyncio.Task[bool]") -> None:
        if self._asking.get(name) is task:
            del self._asking[name]

    def _mark(self, names: Iterable[str], *, is_marked: bool) -> None:
        before = tuple(self._marked)
        for name in names:
            if is_marked:
                self._marked[name] = None
            else:
                self._marked.pop(name, None)
        if before != (now := tuple(self._marked)):
            self._publish(DiagnosticsAwaited(now))


def _is_open(task: "asyncio.Task[bool]") -> bool:
    """Return whether it still runs or did not finish; a cancelled one belongs to another caller."""
    return not task.done() or not (task.cancelled() or (task.exception() is None and task.result()))
