"""What speaks to language servers, without a process of its own: to start one takes most of a quick test."""

import asyncio
import json
from collections.abc import Callable
from typing import Any, Self

import pytest

from coder_tui.lsp.host import Host
from coder_tui.shell.hosts.link import HostProgram, JsonObject


class InsideLink:
    """As `HostLink`: what goes there and back is text on the way."""

    def __init__(self, hear: Callable[[str, JsonObject], None]) -> None:
        self._hear = hear
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._count = 0
        self._host = Host(lambda line: self._take(json.loads(json.dumps(line))))
        self.is_alive = True

    @classmethod
    async def start(cls, program: HostProgram, hear: Callable[[str, JsonObject], None]) -> Self:
        return cls(hear)

    async def request(self, op: str, **fields: object) -> Any:
        self._count += 1
        number = self._count
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        self._host.handle_line(json.loads(json.dumps({"id": number, "op": op, **fields})))
        try:
            return await answer
        except asyncio.CancelledError:
            self._host.handle_line({"id": number, "op": "cancel"})
            raise
        finally:
            del self._answers[number]

    async def close(self) -> None:
        self.is_alive = False
        await self._host.close()

    def _take(self, line: JsonObject) -> None:
        if "event" in line:
            self._hear(line["event"], line["data"])
        elif (answer := self._answers.get(line["id"])) is not None and not answer.done():
            if "failure" in line:
                answer.set_exception(RuntimeError(line["failure"]))
            else:
                answer.set_result(line["result"])


@pytest.fixture
def hosted_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("coder_tui.shell.hosts.supervisor.HostLink", InsideLink)
