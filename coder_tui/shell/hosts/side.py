"""The other end of the line: a process that does what lines tell it, many at a time, until its input ends."""

import asyncio
import json
import logging
import os
import signal
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine
from typing import Any

from coder_tui.shell.hosts.link import LONGEST_LINE, JsonObject, Lines
from coder_tui.text.crash_text import redact_crashes
from coder_tui.text.redact import Redactor

log = logging.getLogger(__name__)
Send = Callable[[JsonObject], None]


class HostSide(ABC):
    """`send` writes one line. A line in is `{"id", "op", …}`; one out has that id, or is an event."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._tasks: dict[int, asyncio.Task[None]] = {}

    @abstractmethod
    async def work(self, op: str, line: JsonObject) -> Any:
        """Do what one line says, and give its result."""

    @abstractmethod
    async def end(self) -> None:
        """Let go of everything that was begun."""

    def take(self, line: JsonObject) -> None:
        """Do what a line says; whatever takes time goes on beside the next lines."""
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

    def tell(self, event: str, told: JsonObject) -> None:
        self._send({"event": event, "told": told})

    def _done(self, number: int, task: asyncio.Task[None]) -> None:
        self._tasks.pop(number, None)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("request %s failed", number, exc_info=error)
            self._send({"id": number, "failure": repr(error)})

    async def _answer(self, number: int, work: Coroutine[Any, Any, Any]) -> None:
        self._send({"id": number, "result": await work})


def run_host(make: Callable[[Send], HostSide]) -> None:
    """The whole life of such a process."""
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
    # Whatever prints must not get between the lines.
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    transport, _ = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, out)

    def send(line: JsonObject) -> None:
        transport.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")

    host = make(send)
    lines = Lines(lambda line: host.take(json.loads(line)), LONGEST_LINE)
    await loop.connect_read_pipe(lambda: lines, sys.stdin)
    serving = asyncio.ensure_future(_serve(lines, host))
    # The program's own end comes as the end of input; a signal is somebody else's wish.
    loop.add_signal_handler(signal.SIGTERM, serving.cancel)
    await asyncio.gather(serving, return_exceptions=True)
