"""One fake language server, asked in this process."""

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from coder_tui.lsp.checker import Checker
from coder_tui.lsp.wire import Finding, Published, ServerOrder, StateChanged
from coder_tui.protocol.diagnostics import Severity
from coder_tui.shell.environment import clean_environment
from coder_tui.shell.hosts.link import JsonObject
from coder_tui.shell.sandbox.sandbox import Sandbox, SandboxSetting, SandboxStatus
from tests.fakes.lsp_pools import FAKE
from tests.fakes.shells import UNCONFINED, folders_in

ENOUGH = 20.0
"""Seconds in which whatever is to come has come, on a slow machine too."""
BRIEF = 1.0


def bad(line: int, character: int) -> Finding:
    """What the fake reports about the word `bad`."""
    return Finding(line, character, line, character + 3, Severity.ERROR, "bad word", "W", "fake")


class Asked:
    """`reported` has the events of the server."""

    def __init__(self, root: Path) -> None:
        self.checker: Checker
        self.path = str(root / "a.py")
        self.reported: list[Published | StateChanged] = []
        self._more = asyncio.Event()

    def hear(self, event: Published | StateChanged) -> None:
        self.reported.append(event)
        self._more.set()

    async def until_count(self, count: int) -> None:
        while len(self.reported) < count:
            self._more.clear()
            await asyncio.wait_for(self._more.wait(), ENOUGH)

    async def until_reported(self, is_wanted: Callable[[Published | StateChanged], bool]) -> None:
        while not any(map(is_wanted, self.reported)):
            self._more.clear()
            await asyncio.wait_for(self._more.wait(), ENOUGH)


@contextlib.asynccontextmanager
async def fake_checker(
    root: Path, behaviour: str = "", *, settings: JsonObject | None = None, status: SandboxStatus = UNCONFINED
) -> AsyncIterator[Asked]:
    await asyncio.to_thread(root.mkdir, exist_ok=True)
    argv = (sys.executable, str(FAKE), behaviour)
    order = ServerOrder("fake", "fake", argv, str(root), clean_environment(os.environ), settings or {})
    sandbox = Sandbox(status, SandboxSetting.AUTO, (), folders_in(root.parent), Path.home())
    asked = Asked(root)
    asked.checker = Checker(order, sandbox, asked.hear)
    try:
        yield asked
    finally:
        await asked.checker.close()
        sandbox.close()
