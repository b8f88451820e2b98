"""The process that speaks to language servers, so that neither pygls's weight nor a flood reaches the screen.

A line in is `{"id", "op", …}`: `begin` (the sandbox) comes first, then `start` (an order), `check`, `put`,
`ask`, `close`, `disk`, `restart` and `cancel`. Lines out carry the same id with `result` or `failure`, or an
`event`. The process ends, and all servers with it, when its input does.
"""

import asyncio
import json
import logging
import os
import signal
import sys
from collections.abc import Callable, Coroutine
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from coder_tui.lsp.asking import Asker
from coder_tui.lsp.checking import Checker
from coder_tui.lsp.wire import JsonObject, Published, Question, SandboxOrder, ServerOrder, StateTold
from coder_tui.shell.sandbox import Sandbox, SandboxFolders, SandboxKind, SandboxStatus, SandboxWish
from coder_tui.text.crash_text import redact_crashes
from coder_tui.text.redact import Redactor

log = logging.getLogger(__name__)
LONGEST_LINE = 2**26
_ORDERS = TypeAdapter(ServerOrder)
_SANDBOXES = TypeAdapter(SandboxOrder)


class Host:
    """`send` writes one line."""

    def __init__(self, send: Callable[[JsonObject], None]) -> None:
        self._send = send
        self._sandbox: Sandbox | None = None
        self._servers: dict[str, Checker] = {}
        self._tasks: dict[int, asyncio.Task[None]] = {}

    def take(self, line: JsonObject) -> None:
        """Do what a line says; whatever takes time goes on beside the next lines."""
        number, op = line.pop("id"), line.pop("op")
        if op == "cancel":
            if task := self._tasks.get(number):
                task.cancel()
            return
        work = self._work(op, line)
        task = asyncio.ensure_future(self._answer(number, work))
        self._tasks[number] = task
        task.add_done_callback(lambda done: self._done(number, done))

    async def close(self) -> None:
        for task in tuple(self._tasks.values()):
            task.cancel()
        await asyncio.gather(*(server.close() for server in self._servers.values()))
        if self._sandbox is not None:
            await asyncio.to_thread(self._sandbox.close)

    def _done(self, number: int, task: asyncio.Task[None]) -> None:
        self._tasks.pop(number, None)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("request %s failed", number, exc_info=error)
            self._send({"id": number, "failure": repr(error)})

    async def _answer(self, number: int, work: Coroutine[Any, Any, Any]) -> None:
        self._send({"id": number, "result": await work})

    async def _work(self, op: str, line: JsonObject) -> Any:
        match op:
            case "begin":
                self._sandbox = _sandbox(_SANDBOXES.validate_python(line["sandbox"]))
            case "start":
                self._start(_ORDERS.validate_python(line["order"]))
            case "check":
                return asdict(await self._server(line).check(**line))
            case "put":
                self._server(line).put(**line)
            case "ask":
                question = Question(line.pop("question"))
                return asdict(await Asker(self._server(line)).ask(question, **line))
            case "close":
                self._server(line).close_document(**line)
            case "disk":
                for server in self._servers.values():
                    server.changed_on_disk(line["changes"])
            case "restart":
                self._server(line).life.restart()
            case _:
                raise ValueError(f"unknown: {op}")
        return None

    def _start(self, order: ServerOrder) -> None:
        if self._sandbox is None:
            raise RuntimeError("a server cannot start before the sandbox is known")
        if order.key not in self._servers:
            self._servers[order.key] = Checker(order, self._sandbox, self._tell)

    def _server(self, line: JsonObject) -> Checker:
        return self._servers[line.pop("key")]

    def _tell(self, event: Published | StateTold) -> None:
        kind = "published" if isinstance(event, Published) else "state"
        self._send({"event": kind, "told": asdict(event)})


def _sandbox(order: SandboxOrder) -> Sandbox:
    own, readable = (tuple(map(Path, paths)) for paths in (order.own, order.readable))
    return Sandbox(
        SandboxStatus(SandboxKind(order.kind), program=order.program),
        SandboxWish(order.wish),
        # Without a root nothing of the workspace can be written, and nothing in it has to be guarded.
        (),
        SandboxFolders(own, readable, Path(order.cache)),
        Path(order.home),
    )


async def serve(reader: asyncio.StreamReader, send: Callable[[JsonObject], None]) -> None:
    """Until the input ends."""
    host = Host(send)
    try:
        while line := await reader.readline():
            host.take(json.loads(line))
    finally:
        await host.close()


async def _main() -> None:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=LONGEST_LINE)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    # Whatever prints must not get between the lines.
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    transport, _ = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, out)
    serving = asyncio.ensure_future(
        serve(reader, lambda line: transport.write(json.dumps(line, separators=(",", ":")).encode() + b"\n"))
    )
    # The program's own end comes as the end of input; a signal is somebody else's wish.
    loop.add_signal_handler(signal.SIGTERM, serving.cancel)
    await asyncio.gather(serving, return_exceptions=True)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    redact_crashes(Redactor(os.environ))
    asyncio.run(_main())
