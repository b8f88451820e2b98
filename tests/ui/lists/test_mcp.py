"""MCP servers on the screen: states, details, keys; their texts are untrusted."""

import pytest

from coder_tui.mcp.wire import ServerState
from coder_tui.ui.lists.servers import McpScreen
from coder_tui.ui.transcript.pager import PagerScreen
from tests.fakes.mcp_views import ShownServers, shown_servers, view
from tests.fakes.screens import Stage, stage

VIEWS = (
    view("everything", ServerState.READY),
    view("slow", ServerState.STARTING),
    view("broken", ServerState.FAILED, "it cannot be started: exit 3"),
    view(
        "hosted",
        ServerState.NEEDS_LOGIN,
        "it needs a login",
        url="https://mcp.example.org",
        link="https://a.b/c",
    ),
    view("unused", ServerState.OFF, "switched off in the settings"),
)


async def opened(s: Stage) -> ShownServers:
    servers, pool = shown_servers(*VIEWS)
    s.session.mcp = servers
    await s.pilot.press(*"/mcp", "enter")
    await s.until(lambda: isinstance(s.app.screen, McpScreen))
    await s.pilot.pause()
    return pool


async def test_the_list_shows_the_state_of_each_server() -> None:
    async with stage() as s:
        pool = await opened(s)
        names = [each.name for each in VIEWS]
        lines = [line for line in s.drawn().splitlines() if "config.toml" in line]
        rows = {name: line for line in lines for name in names if f" {name} " in line}
        assert "ready, 2 tools" in rows["everything"]
        assert [
            rows[name].count(words)
            for name, words in zip(names[1:], ("starting", "failed", "needs login", "off"), strict=True)
        ] == [1] * 4
        pool.show(view("slow", ServerState.READY))
        await s.until(lambda: s.drawn().count("ready, 2 tools") == 2)


async def test_enter_shows_details_and_ignores_control_characters() -> None:
    async with stage() as s:
        await opened(s)
        await s.pilot.press("enter")
        await s.until(lambda: isinstance(s.app.screen, PagerScreen) and "[b]sum[/b]" in s.drawn())
        drawn = s.drawn()
        assert all(
            words in drawn for words in ("weather", "demo://notes/1.md", "bad was left out", "everything 2.0")
        )
        assert "\x1b" not in drawn


async def test_keys_restart_switch_and_log_in() -> None:
    async with stage() as s:
        pool = await opened(s)
        await s.pilot.press("r", "d", "l")
        await s.shows("has no login")
        await s.pilot.press("down", "down", "down", "l", "down", "d")
        await s.until(lambda: len(pool.asked) == 4)
        assert pool.asked == ["restart everything", "stop everything", "log in hosted", "restart unused"]
        await s.pilot.press("escape")
        await s.until(lambda: s.app.screen is s.screen)


async def test_prompts_are_in_the_menu_and_say_what_they_need() -> None:
    async with stage() as s:
        servers, _ = shown_servers(VIEWS[0])
        s.session.mcp = servers
        await s.pilot.press(*"/everything:w")
        await s.until(lambda: "/everything:weather city" in s.drawn() and "Asks for the weather" in s.drawn())
        await s.pilot.press("tab", "enter")
        await s.shows("needs city")


@pytest.mark.parametrize("typed", ["@notes", "@everything:"])
async def test_resources_are_offered_after_an_at_sign(typed: str) -> None:
    async with stage() as s:
        servers, _ = shown_servers(VIEWS[0])
        s.session.mcp = servers
        await s.pilot.press(*typed)
        await s.shows("everything:demo://notes/1.md")
        await s.pilot.press("tab")
        await s.until(lambda: s.screen.prompt.text.strip() == "@everything:demo://notes/1.md")


async def test_without_servers_the_list_says_how_to_get_one() -> None:
    async with stage() as s:
        await s.pilot.press(*"/mcp", "enter")
        await s.shows("coder-tui mcp add")
