"""Starts the real app on a fake session, headless."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import cast

from textual import _time
from textual.pilot import Pilot

from coder_tui.agent.session import Session
from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.display import DisplayBlock, TerminalBlock
from coder_tui.protocol.requests import ApprovalRequest, Grant
from coder_tui.ui.app import CoderApp
from coder_tui.ui.launch import Launch
from coder_tui.ui.requests.approval import ApprovalScreen
from coder_tui.ui.session.screen import SessionScreen
from tests.fakes.fake_session import FakeSession

PATIENCE = 60.0


@dataclass(frozen=True, slots=True)
class Stage:
    """A running app with everything a test looks at."""

    app: CoderApp
    pilot: Pilot[int]
    session: FakeSession

    @property
    def screen(self) -> SessionScreen:
        return self.app.session_screen

    @property
    def draft(self) -> str:
        return self.screen.prompt.text

    @property
    def dialog(self) -> ApprovalScreen | None:
        top = self.app.screen
        return top if isinstance(top, ApprovalScreen) else None

    async def until(self, condition: Callable[[], bool]) -> None:
        """Let the app work until the condition holds; the limit only ends a test that would hang."""
        end = monotonic() + PATIENCE
        while not condition():
            assert monotonic() < end, "the awaited state never came"
            await self.pilot.pause(0.005)

    async def shows(self, text: str) -> None:
        """Wait until the screen shows the text: a drawing may follow in pieces, or after a thread."""
        try:
            await self.until(lambda: text in self.drawn())
        except AssertionError as error:
            raise AssertionError(f"no {text!r} on the screen:\n{self.drawn()}") from error

    async def ready_dialog(self) -> ApprovalScreen:
        """The open dialog, once it takes answers."""
        await self.until(lambda: self.dialog is not None and self.dialog.is_ready)
        await self.pilot.pause()
        assert self.dialog is not None
        return self.dialog

    def drawn(self) -> str:
        """All that is on the screen, as text."""
        strips = self.app.screen._compositor.render_strips()
        return "\n".join(strip.text for strip in strips)


def clock() -> float:
    """Return the time that the app goes by, which may be virtual."""
    return _time.get_time()


def launch_for(session: FakeSession, *, theme: str = "coder-dark", use_ascii: bool = False) -> Launch:
    async def open_session() -> Session:
        return cast(Session, session)

    return Launch(session.directory, theme, use_ascii, open_session)


@asynccontextmanager
async def stage(
    session: FakeSession | None = None, size: tuple[int, int] = (100, 30), launch: Launch | None = None
) -> AsyncIterator[Stage]:
    """The app, its session attached."""
    session = session or FakeSession(Path("/srv/project"))
    app = CoderApp(launch or launch_for(session))
    async with app.run_test(size=size) as pilot:
        running = Stage(app, pilot, session)
        await running.until(lambda: app.session_screen.widgets.sender.session is not None)
        await pilot.pause()
        yield running


def shell_request(
    id: str = "r1", command: str = "rm -rf build", preview: DisplayBlock | None = None
) -> ApprovalRequest:
    return ApprovalRequest(
        id=id,
        call_id=f"call-{id}",
        tool="bash",
        kind=ToolKind.EXECUTE,
        title="Run this command?",
        preview=preview or TerminalBlock(command, "", None),
        facts=("deletes files",),
        grants=(Grant("bash", ("rm -rf build",), "this command"), Grant("bash", ("*",), "every command")),
        is_undoable=False,
        rule="* = ask (defaults)",
        summary=command.splitlines()[0],
    )
