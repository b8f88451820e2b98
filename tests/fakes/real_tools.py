"""The program's own tools, policy and runner around a folder, without a model or a session."""

import json
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

from coder_tui.agent.event_bus import EventBus
from coder_tui.bootstrap.prepare import load_setup
from coder_tui.bootstrap.setup import Setup
from coder_tui.bootstrap.toolset import build_tools_alone
from coder_tui.config.paths import find_directories
from coder_tui.config.sources import find_sources
from coder_tui.protocol.access import Mode
from coder_tui.protocol.events import Event, RequestOpened
from coder_tui.protocol.messages import ToolCall
from coder_tui.protocol.requests import ApprovalReply, ApprovalRequest, Decision
from coder_tui.protocol.todos import TodoItem
from coder_tui.tools.base import JsonObject
from coder_tui.tools.builtin.todo import TodoList
from tests.fakes.program import NO_SERVERS

NOBODY = ApprovalReply(Decision.NOBODY_THERE)
ALLOW = ApprovalReply(Decision.ALLOW_ONCE)

Answer = Callable[[ApprovalRequest], ApprovalReply]


def setup_in(home: Path, project: Path, mode: Mode, servers: str = NO_SERVERS, **more: str) -> Setup:
    """Default settings but for the language servers and `more`; the program's own folders lie in `home`."""
    environ = {f"CODER_TUI_{name}_DIR": str(home / name.lower()) for name in ("DATA", "CONFIG", "CACHE")}
    environ |= {"HOME": str(home), "CODER_TUI_LSP": servers, **more}
    directories = find_directories(environ)
    return load_setup(
        project, directories, find_sources(directories, project, environ, {}, None), environ, mode
    )


async def _keep(items: tuple[TodoItem, ...]) -> None:
    """Nothing here reads todos again."""


def nobody(request: ApprovalRequest) -> ApprovalReply:
    return NOBODY


class RealTools:
    """Calls as `coder-tui tool call` makes them; `asked` are the requests, which `answer` answers."""

    def __init__(self, setup: Setup, answer: Answer = nobody) -> None:
        self._bus = EventBus()
        self._bench = build_tools_alone(setup, self._bus, TodoList("outside", _keep))
        self._bus.subscribe(self._on_event)
        self.answer = answer
        self.asked: list[ApprovalRequest] = []

    async def call(self, tool: str, **arguments: object) -> JsonObject:
        call = ToolCall(uuid4().hex, tool, json.dumps(arguments))
        result: JsonObject = json.loads((await self._bench.runner.execute(call, "")).content)
        return result

    async def outcome(self, tool: str, **arguments: object) -> str:
        """`ok`, or the type of the error."""
        result = await self.call(tool, **arguments)
        return "ok" if result["ok"] else str(result["error"]["type"])

    def _on_event(self, event: Event) -> None:
        if isinstance(event, RequestOpened) and isinstance(event.request, ApprovalRequest):
            self.asked.append(event.request)
            self._bench.broker.answer(event.request.id, self.answer(event.request))
