"""One fake language server, asked in this process."""

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from coder_tui.lsp.checker import Checker
from coder_tui.lsp.wire import Found, JsonObject, Published, ServerOrder, StateTold
from coder_tui.protocol.diagnostics import Severity
from coder_tui.shell.environment import clean_environment
from coder_tui.shell.sandbox.sandbox import Sandbox, SandboxStatus, SandboxWish
from tests.fakes.lsp_pools import FAKE
from tests.fakes.shells import UNCONFINED, folders_in

ENOUGH = 20.0
"""Seconds in which whatever is to come has come, on a slow machine too."""
BRIEF = 1.0


def bad(line: int, character: int) -> Found:
    """What the fake says of the word `bad`."""
    return Found(line, character, line, character + 3, Severity.ERROR, "bad word", "W", "fake")


class Asked:
    """`told` is what the server said by itself."""

    def __init__(self, root: Path) -> None:
        self.checker: Checker
        self.path = str(root / "a.py")
        self.told: list[Published | StateTold] = []
        self._more = asyncio.Event()

    def hear(self, event: Published | StateTold) -> None:
        self.told.append(event)
        self._more.set()

    async def until_count(self, count: int) -> None:
        while len(self.told) < count:
            self._more.clear()
            await asyncio.wait_for(self._more.wait(), ENOUGH)

    async def until_told(self, is_wanted: Callable[[Published | StateTold], bool]) -> None:
        while not any(map(is_wanted, self.told)):
            self._more.clear()
            await asyncio.wait_for(self._more.wait(), ENOUGH)


@contextlib.asynccontextmanager
async def fake_checker(
    root: Path, behaviour: str = "", *, settings: JsonObject | None = None, status: SandboxStatus = UNCONFINED
) -> AsyncIterator[Asked]:
    await asyncio.to_thread(root.mkdir, exist_ok=True)
    argv = (sys.executable, str(FAKE), behaviour)
    order = ServerOrder("fake", "fake", argv, str(root), clean_environment(os.environ), settings or {})
    sandbox = Sandbox(status, SandboxWish.AUTO, (), folders_in(root.parent), Path.home())
    asked = Asked(root)
    asked.checker = Checker(order, sandbox, asked.hear)
    try:
        yield asked
    finally:
        await asked.checker.close()
        sandbox.close()
