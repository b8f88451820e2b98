"""Who begins to plan while a call is being prepared sees nothing change any more."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from coder_tui.agent.calls.log import NoLog
from coder_tui.agent.event_bus import EventBus
from coder_tui.bootstrap.toolset import build_tools_alone
from coder_tui.protocol.access import Mode
from coder_tui.protocol.messages import ToolCall
from coder_tui.protocol.todos import TodoItem
from coder_tui.tools.builtin.todo import TodoList
from tests.fakes.real_tools import setup_in

ALLOW = '[permission]\nedit = "allow"\n[permission.bash]\n"touch *" = "allow"\n'


async def not_kept(items: tuple[TodoItem, ...]) -> None:
    """Nothing here reads todos again."""


class SlowCopies(NoLog):
    """Copies are made before a change; `happens` runs while they are made."""

    def __init__(self, happens: Callable[[], None]) -> None:
        self._happens = happens

    @asynccontextmanager
    async def keeping(self, call_id: str, paths: tuple[Path, ...]) -> AsyncIterator[None]:
        self._happens()
        yield

    @asynccontextmanager
    async def watching(self, call_id: str, *, touches_git: bool) -> AsyncIterator[list[Path]]:
        self._happens()
        yield []


@pytest.mark.parametrize("mode", [Mode.ASK, Mode.PLAN])
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [("bash", '{"command": "touch new.txt"}'), ("write", '{"path": "new.txt", "content": "x"}')],
    ids=["command", "edit"],
)
async def test_a_call_that_was_cleared_before_does_not_run(
    tmp_path: Path, tool: str, arguments: str, mode: Mode
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "config").mkdir()
    (tmp_path / "config/config.toml").write_text(ALLOW)
    setup = setup_in(tmp_path, project, Mode.ASK)
    bench = build_tools_alone(setup, EventBus(), TodoList("s", not_kept))
    bench.runner.calls = SlowCopies(lambda: bench.profiles.set_mode(mode))

    await bench.runner.execute(ToolCall("1", tool, arguments), "m")
    await bench.close()

    assert (project / "new.txt").exists() is (mode is Mode.ASK)
