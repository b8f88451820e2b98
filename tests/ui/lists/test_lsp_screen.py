"""Language servers on the screen: states, details, restart."""

from dataclasses import replace

from coder_tui.lsp.pool import ServerLine
from coder_tui.protocol.diagnostics import ServerStatus
from coder_tui.protocol.events import ServerStatusChanged
from coder_tui.ui.lists.servers import LspScreen
from coder_tui.ui.transcript.pager import PagerScreen
from tests.fakes.screens import Stage, stage

PYLSP = ServerLine(
    "py",
    "pylsp",
    ServerStatus.FRESH,
    is_started=True,
    root="/srv/project",
    command=("/usr/bin/pylsp", "--verbose"),
    pid=4711,
    said="[@click=app.quit]loading[/] \x1b[31mrope",
)
BASH = ServerLine("sh", "bash-language-server", ServerStatus.NOT_INSTALLED, detail="run: npm i -g it")


async def opened(s: Stage) -> LspScreen:
    s.session.lookup.lines = (BASH, PYLSP)
    await s.pilot.press(*"/lsp", "enter")
    await s.until(lambda: isinstance(s.app.screen, LspScreen) and "pylsp" in s.drawn())
    assert isinstance(s.app.screen, LspScreen)
    return s.app.screen


async def test_running_servers_come_first_with_their_last_message() -> None:
    async with stage() as s:
        await opened(s)
        drawn = s.drawn()
        rows = [line for line in drawn.splitlines() if "pylsp" in line or "bash-language-server" in line]
        assert "✓" in rows[0] and "works" in rows[0]
        assert "not installed" in rows[1]
        assert "[@click=app.quit]loading[/] ␛[31mrope" in drawn


async def test_enter_shows_details_and_the_list_stays_open_behind() -> None:
    async with stage() as s:
        screen = await opened(s)
        await s.pilot.press("enter")
        await s.until(lambda: isinstance(s.app.screen, PagerScreen) and "4711" in s.drawn())
        assert "/usr/bin/pylsp --verbose" in s.drawn() and "/srv/project" in s.drawn()
        await s.pilot.press("escape")
        await s.until(lambda: s.app.screen is screen)


async def test_r_restarts_the_marked_server_and_the_list_follows() -> None:
    async with stage() as s:
        await opened(s)
        await s.pilot.press("r")
        await s.until(lambda: s.session.lookup.restarted == ["pylsp"])
        s.session.lookup.lines = (BASH, replace(PYLSP, status=ServerStatus.STARTING, pid=0))
        s.session.emit(ServerStatusChanged("pylsp", "py", ServerStatus.STARTING))
        await s.until(lambda: any("pylsp" in row and "starting" in row for row in s.drawn().splitlines()))
        await s.pilot.press("down", "r")
        await s.shows("Not running: it starts")
        assert s.session.lookup.restarted == ["pylsp"]
        await s.pilot.press("escape")
        await s.until(lambda: s.app.screen is s.screen)
