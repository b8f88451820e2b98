"""The process that speaks to MCP servers, so that neither the SDK's weight nor a flood reaches the screen.

`begin` (the sandbox) comes first, then `start` (an order), `call`, `prompt`, `read`, `restart` and `stop`.
Events are a server's state and a call's progress. All servers end with the input.
"""

import asyncio
from dataclasses import asdict
from typing import Any

from pydantic import TypeAdapter

from coder_tui.mcp.client import Connection, Progress
from coder_tui.mcp.supervisor import Owner
from coder_tui.mcp.wire import Answer, JsonObject, ServerOrder, StateTold
from coder_tui.shell.hosts.options import SandboxOrder, sandbox_of
from coder_tui.shell.hosts.side import HostSide, Send, run_host
from coder_tui.shell.sandbox.sandbox import Sandbox

_ORDERS = TypeAdapter(ServerOrder)
_SANDBOXES = TypeAdapter(SandboxOrder)


class Host(HostSide):
    def __init__(self, send: Send) -> None:
        super().__init__(send)
        self._sandbox: SandboxOrder | None = None
        self._opened: list[Sandbox] = []
        self._owners: dict[str, Owner] = {}

    async def end(self) -> None:
        await asyncio.gather(*(owner.close() for owner in self._owners.values()))
        for sandbox in self._opened:
            await asyncio.to_thread(sandbox.close)

    async def work(self, op: str, line: JsonObject) -> Any:
        match op:
            case "begin":
                self._sandbox = _SANDBOXES.validate_python(line["sandbox"])
            case "start":
                await self._start(_ORDERS.validate_python(line["order"]))
            case "call":
                return asdict(await self._call(**line))
            case "prompt":
                return asdict(await self._prompt(**line))
            case "read":
                return asdict(await self._read(**line))
            case "restart":
                await self._owners[line["server"]].restart(logs_in=line["logs_in"])
            case "stop":
                if (owner := self._owners.pop(line["server"], None)) is not None:
                    await owner.close()
            case _:
                raise ValueError(f"unknown: {op}")
        return None

    async def _start(self, order: ServerOrder) -> None:
        if self._sandbox is None:
            raise RuntimeError("a server cannot start before the sandbox is known")
        if order.name not in self._owners:
            sandbox = sandbox_of(self._sandbox, is_confined=order.is_confined)
            self._opened.append(sandbox)
            self._owners[order.name] = Owner(order, sandbox, self._told)

    async def _call(self, server: str, tool: str, arguments: JsonObject, seconds: float, call: int) -> Answer:
        def ask(connection: Connection) -> Any:
            return connection.call(tool, arguments, seconds, self._progress(call))

        return await self._owners[server].ask(ask)

    async def _prompt(self, server: str, name: str, arguments: dict[str, str], seconds: float) -> Answer:
        return await self._owners[server].ask(lambda link: link.prompt(name, arguments, seconds))

    async def _read(self, server: str, uri: str, seconds: float) -> Answer:
        return await self._owners[server].ask(lambda link: link.read(uri, seconds))

    def _progress(self, call: int) -> Progress:
        def hear(done: float, total: float | None, message: str) -> None:
            self.tell("progress", {"call": call, "done": done, "total": total, "message": message[:2_000]})

        return hear

    def _told(self, state: StateTold) -> None:
        self.tell("state", asdict(state))


if __name__ == "__main__":
    run_host(Host)
