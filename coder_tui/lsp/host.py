"""The language server host: a separate process, so that neither pygls nor a flood slows the screen.

A line in is `{"id", "op", …}`: `begin` (the sandbox) comes first, then `start` (an order), `check`, `put`,
`ask`, `close`, `disk`, `restart` (an order), `states` and `cancel`. Lines out carry the same id with
`result` or `failure`, or an `event`. The process ends, and all servers with it, when its input does.
"""

import asyncio
from dataclasses import asdict
from typing import Any

from pydantic import TypeAdapter

from coder_tui.lsp.checker import Checker
from coder_tui.lsp.questions import Asker, Inquiry
from coder_tui.lsp.wire import Published, Question, ServerOrder, StateChanged, flat
from coder_tui.shell.hosts.link import JsonObject
from coder_tui.shell.hosts.side import HostSide, SandboxSpec, Send, build_sandbox, run_host
from coder_tui.shell.sandbox.sandbox import Sandbox
from coder_tui.tasks import BackgroundTasks

_ORDERS = TypeAdapter(ServerOrder)
_SANDBOXES = TypeAdapter(SandboxSpec)


class Host(HostSide):
    def __init__(self, send: Send) -> None:
        super().__init__(send)
        self._sandbox: Sandbox | None = None
        self._servers: dict[str, Checker] = {}
        self._ending = BackgroundTasks()

    async def end(self) -> None:
        await asyncio.gather(*(server.close() for server in self._servers.values()), self._ending.wait())
        if self._sandbox is not None:
            await asyncio.to_thread(self._sandbox.close)

    async def work(self, op: str, line: JsonObject) -> Any:
        match op:
            case "begin":
                self._sandbox = build_sandbox(_SANDBOXES.validate_python(line["sandbox"]))
            case "start":
                self._start(_ORDERS.validate_python(line["order"]))
            case "check":
                return flat(await self._server(line).check(**line))
            case "put":
                self._server(line).put(**line)
            case "ask":
                question = Question(line.pop("question"))
                return asdict(await Asker(self._server(line)).ask(Inquiry(question, **line)))
            case "close":
                self._server(line).close_document(**line)
            case "disk":
                for server in (self._server(line),) if "key" in line else self._servers.values():
                    server.changed_on_disk(line["changes"])
            case "restart":
                await self._restart(_ORDERS.validate_python(line["order"]))
            case "states":
                return [asdict(server.life.state()) for server in self._servers.values()]
            case _:
                raise ValueError(f"unknown: {op}")
        return None

    def _start(self, order: ServerOrder) -> None:
        if self._sandbox is None:
            raise RuntimeError("a server cannot start before `begin` has sent the sandbox")
        if order.key not in self._servers:
            self._servers[order.key] = Checker(order, self._sandbox, self._tell)

    async def _restart(self, order: ServerOrder) -> None:
        server = self._servers[order.key]
        if server.order == order:
            await server.life.restart()
            return
        # Results of the earlier start, for example without its checker, are outdated.
        del self._servers[order.key]
        self._start(order)
        self._ending.start(server.close())

    def _server(self, line: JsonObject) -> Checker:
        return self._servers[line.pop("key")]

    def _tell(self, event: Published | StateChanged) -> None:
        kind = "published" if isinstance(event, Published) else "state"
        # After the answer to a request that waits for the same result.
        asyncio.get_running_loop().call_soon(lambda: self.publish(kind, asdict(event)))


if __name__ == "__main__":
    run_host(Host)
