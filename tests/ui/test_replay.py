"""A recorded session on the real screen: steps, halting, leaving; and pictures of it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from textual.pilot import Pilot

from coder_tui.agent.session import Session
from coder_tui.agent.undo.replay import Frame, Step
from coder_tui.protocol.access import Mode, ToolKind
from coder_tui.protocol.display import TextBlock
from coder_tui.protocol.errors import UserError
from coder_tui.protocol.events import (
    MessageFinished,
    SessionStarted,
    ToolFinished,
    ToolStarted,
    UserMessageAdded,
)
from coder_tui.protocol.outcomes import Outcome
from coder_tui.ui.launch import Launch
from coder_tui.ui.replay import Playback, ReplayApp, pictures

LONG = 3600.0


def steps(folder: Path, replies: int = 3) -> tuple[Step, ...]:
    started = SessionStarted("s1", "old work", str(folder), "gpt-9", Mode.ASK, resumed=True)
    done = ToolFinished("c1", "read", Outcome.OK, "a.py", TextBlock("x = 1"), 5)
    return (
        (Frame(started),),
        (Frame(UserMessageAdded("u1", "what is [b]this[/b]?"), LONG),),
        (
            Frame(ToolStarted("c1", "read", ToolKind.READ, "a.py"), LONG, is_passing=True),
            Frame(done),
        ),
        *((Frame(MessageFinished(f"m{n}", f"reply number {n}", ""), LONG),) for n in range(replies)),
    )


def screen_text(app: ReplayApp) -> str:
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips())


def launch(folder: Path) -> Launch:
    async def no_session() -> Session:
        raise UserError("none")

    return Launch(folder, "coder-dark", False, no_session, has_motion=False)


@asynccontextmanager
async def playing(folder: Path) -> AsyncIterator[tuple[ReplayApp, Pilot[int]]]:
    app = ReplayApp(launch(folder), steps(folder))
    async with app.run_test(size=(80, 24)) as pilot:
        await shows(app, pilot, "what is [b]this[/b]?")
        yield app, pilot


async def shows(app: ReplayApp, pilot: Pilot[int], text: str) -> None:
    async with asyncio.timeout(20):
        while text not in screen_text(app):
            await pilot.pause()


async def test_the_next_step_comes_at_once_and_the_last_one_is_the_end(tmp_path: Path) -> None:
    async with playing(tmp_path) as (app, pilot):
        await pilot.press("space", "right")
        await shows(app, pilot, "a.py")
        await shows(app, pilot, "Paused 3/6")
        assert "reply number" not in screen_text(app)
        await pilot.press("right")
        await shows(app, pilot, "reply number 0")
        assert "reply number 1" not in screen_text(app)
        await pilot.press("end")
        await shows(app, pilot, "reply number 2")
        await shows(app, pilot, "The end 6/6")


async def test_a_replay_accepts_no_message(tmp_path: Path) -> None:
    async with playing(tmp_path) as (app, pilot):
        await pilot.press("h", "i", "enter", "slash", "exclamation_mark", "ctrl+p", "shift+tab")
        await pilot.press("space")
        await shows(app, pilot, "Paused 1/6")
        assert (app.replay_screen.prompt.text, app.replay_screen.widgets.sender.session) == ("", None)
        assert app.screen is app.replay_screen


async def test_q_leaves(tmp_path: Path) -> None:
    async with playing(tmp_path) as (app, pilot):
        await pilot.press("q")
        async with asyncio.timeout(20):
            while app.is_running:
                await pilot.pause()
    assert app.return_code == 0


async def test_a_paused_replay_waits_until_it_continues() -> None:
    def hear(moments: Step) -> None:
        shown.append(len(moments))
        if playback.number == 2:
            halted.set()

    shown, halted = list[int](), asyncio.Event()
    step = (Frame(MessageFinished("m", "x", ""), 0.01),)
    playback = Playback((step,) * 4, 1.0, hear)
    playback.toggle_pause()
    task = asyncio.create_task(playback.play())
    playback.skip_to(2)
    async with asyncio.timeout(20):
        await halted.wait()
        before = sum(shown)
        playback.toggle_pause()
        await task

    assert (before, playback.number, sum(shown)) == (2, 4, 4)


async def test_pictures_show_the_whole_transcript_page_by_page(tmp_path: Path) -> None:
    pages = await pictures(launch(tmp_path), steps(tmp_path, replies=40), columns=80, rows=24)

    found = [[n for n in range(40) if f"number&#160;{n}<" in page] for page in pages]
    assert len(pages) > 2
    assert "what&#160;is&#160;[b]this[/b]?" in pages[0]
    assert (found[0][0], found[-1][-1]) == (0, 39)
    assert sorted({n for page in found for n in page}) == list(range(40))
    # Who looks at a picture asks no other host for anything.
    assert not any("url(&quot;http" in page or 'url("http' in page for page in pages)
