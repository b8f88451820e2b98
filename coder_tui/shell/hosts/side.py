"""The child's end of the link: handle requests as JSON lines, many at a time, until the input ends.

Also the options for a process that starts servers for us: their sandbox and their log.
"""

import asyncio
import json
import logging
import os
import signal
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from coder_tui.shell.hosts.link import LONGEST_LINE, JsonObject, Lines
from coder_tui.shell.sandbox.sandbox import (
    Sandbox,
    SandboxFolders,
    SandboxKind,
    SandboxSetting,
    SandboxStatus,
)
from coder_tui.text.crash_text import redact_crashes
from coder_tui.text.redact import Redactor


@dataclass(frozen=True, slots=True)
class SandboxSpec:
    """The description from which the other process builds a sandbox. Paths are strings."""

    kind: str
    program: str
    setting: str
    own: tuple[str, ...]
    readable: tuple[str, ...]
    cache: str
    home: str


@dataclass(frozen=True, slots=True)
class HostOptions:
    """`environment` is for the process itself. `log` gets the output of the process and its servers."""

    sandbox: SandboxSpec
    environment: dict[str, str]
    log: Path
    redact: Redactor


def build_sandbox(order: SandboxSpec, *, is_confined: bool = True) -> Sandbox:
    """Build a sandbox without roots: the workspace cannot be written, so nothing in it needs guarding."""
    own, readable = (tuple(map(Path, paths)) for paths in (order.own, order.readable))
    status = SandboxStatus(SandboxKind(order.kind), program=order.program)
    setting = SandboxSetting(order.setting)
    if not is_confined:
        status, setting = replace(status, kind=SandboxKind.NONE), SandboxSetting.OFF
    return Sandbox(status, setting, (), SandboxFolders(own, readable, Path(order.cache)), Path(order.home))


log = logging.getLogger(__name__)
Send = Callable[[JsonObject], None]


class HostSide(ABC):
    """Handles requests `{"id", "op", …}`. `send` writes one line: an answer with that id, or an event."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._tasks: dict[int, asyncio.Task[None]] = {}

    @abstractmethod
    async def work(self, op: str, line: JsonObject) -> Any:
        """Handle one request and return its result."""

    @abstractmethod
    async def end(self) -> None:
        """Release everything that was started."""

    def handle_line(self, line: JsonObject) -> None:
        """Start handling a request. It runs concurrently with the next ones."""
        number, op = line.pop("id"), line.pop("op")
        if op == "cancel":
            if task := self._tasks.get(number):
                task.cancel()
            return
        task = asyncio.ensure_future(self._answer(number, self.work(op, line)))
        self._tasks[number] = task
        task.add_done_callback(lambda done: self._done(number, done))

    async def close(self) -> None:
        for task in tuple(self._tasks.values()):
            task.cancel()
        await self.end()

    def publish(self, event: str, data: JsonObject) -> None:
        self._send({"event": event, "data": data})

    def _done(self, number: int, task: asyncio.Task[None]) -> None:
        self._tasks.pop(number, None)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("request %s failed", number, exc_info=error)
            self._send({"id": number, "failure": repr(error)})

    async def _answer(self, number: int, work: Coroutine[Any, Any, Any]) -> None:
        self._send({"id": number, "result": await work})


def run_host(make: Callable[[Send], HostSide]) -> None:
    """Run the process until its input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    redact_crashes(Redactor(os.environ))
    asyncio.run(_main(make))


async def _serve(lines: Lines, host: HostSide) -> None:
    try:
        await lines.ended
    finally:
        await host.close()


async def _main(make: Callable[[Send], HostSide]) -> None:
    loop = asyncio.get_running_loop()
    # Output of libraries must not get between the lines.
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    transport, _ = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, out)

    def send(line: JsonObject) -> None:
        transport.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")

    host = make(send)
    lines = Lines(lambda line: host.handle_line(json.loads(line)), LONGEST_LINE)
    await loop.connect_read_pipe(lambda: lines, sys.stdin)
    serving = asyncio.ensure_future(_serve(lines, host))
    # Our program ends this process by closing its input. A signal comes from somewhere else.
    loop.add_signal_handler(signal.SIGTERM, serving.cancel)
    await asyncio.gather(serving, return_exceptions=True)
