"""The MCP host: a separate process, so that neither the SDK nor a flood slows the screen.

`begin` (the sandbox) comes first, then `start` (an order), `call`, `prompt`, `read`, `restart` and `stop`.
Events are a server's state and a call's progress. All servers end with the input.
"""

import asyncio
from dataclasses import asdict
from typing import Any

from pydantic import TypeAdapter

from coder_tui.mcp.client import Connection, Progress
from coder_tui.mcp.supervisor import ServerSupervisor
from coder_tui.mcp.wire import Answer, ServerOrder
from coder_tui.shell.hosts.link import JsonObject
from coder_tui.shell.hosts.side import HostSide, SandboxSpec, Send, build_sandbox, run_host
from coder_tui.shell.sandbox.sandbox import Sandbox

_ORDERS = TypeAdapter(ServerOrder)
_SANDBOXES = TypeAdapter(SandboxSpec)


class Host(HostSide):
    def __init__(self, send: Send) -> None:
        super().__init__(send)
        self._sandbox: SandboxSpec | None = None
        self._opened: list[Sandbox] = []
        self._supervisors: dict[str, ServerSupervisor] = {}

    async def end(self) -> None:
        await asyncio.gather(*(supervisor.close() for supervisor in self._supervisors.values()))
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
                await self._supervisors[line["server"]].restart(logs_in=line["logs_in"])
            case "stop":
                if (supervisor := self._supervisors.pop(line["server"], None)) is not None:
                    await supervisor.close()
            case _:
                raise ValueError(f"unknown: {op}")
        return None

    async def _start(self, order: ServerOrder) -> None:
        if self._sandbox is None:
            raise RuntimeError("a server cannot start before `begin` has sent the sandbox")
        if order.name not in self._supervisors:
            sandbox = build_sandbox(self._sandbox, is_confined=order.is_confined)
            self._opened.append(sandbox)
            self._supervisors[order.name] = ServerSupervisor(
                order, sandbox, lambda state: self.publish("state", asdict(state))
            )

    async def _call(self, server: str, tool: str, arguments: JsonObject, seconds: float, call: int) -> Answer:
        def ask(connection: Connection) -> Any:
            return connection.call(tool, arguments, seconds, self._progress(call))

        return await self._supervisors[server].ask(ask)

    async def _prompt(self, server: str, name: str, arguments: dict[str, str], seconds: float) -> Answer:
        return await self._supervisors[server].ask(lambda link: link.prompt(name, arguments, seconds))

    async def _read(self, server: str, uri: str, seconds: float) -> Answer:
        return await self._supervisors[server].ask(lambda link: link.read(uri, seconds))

    def _progress(self, call: int) -> Progress:
        def report(done: float, total: float | None, message: str) -> None:
            self.publish("progress", {"call": call, "done": done, "total": total, "message": message[:2_000]})

        return report


if __name__ == "__main__":
    run_host(Host)
