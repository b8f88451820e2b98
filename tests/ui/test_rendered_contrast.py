"""What is really drawn can be read: every screen at four sizes in every theme, and without colours."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.color import Color as RichColor
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.geometry import Region
from textual.widgets import Static

from coder_tui.protocol.events import RequestOpened
from coder_tui.ui.themes import own_themes
from tests.fakes.fake_session import FakeSession
from tests.fakes.screens import Stage, launch_for, stage
from tests.fakes.shelf import FakeShelf, stored
from tests.ui.test_snapshots import EARLIER, EDIT
from tests.ui.test_themes import contrast

SIZES = ((80, 24), (100, 30), (140, 40), (200, 50))
TEXT, MARK = 4.5, 3.0
SHELF = FakeShelf(stored("a1", "make div() safe", 2), stored("b2", "CSV importer", 30))


@dataclass(frozen=True, slots=True)
class Cell:
    text: str
    ink: Color
    ground: Color


async def browse(s: Stage) -> None:
    await s.pilot.press("tab", "k")


async def ask(s: Stage) -> None:
    s.session.emit(RequestOpened(EDIT))
    await s.ready_dialog()


def action(name: str) -> Callable[[Stage], Awaitable[None]]:
    async def run(s: Stage) -> None:
        await s.app.run_action(name)
        await s.until(lambda: s.app.screen is not s.screen)

    return run


async def nothing(s: Stage) -> None:
    """The session as it stands."""


SCREENS: dict[str, Callable[[Stage], Awaitable[None]]] = {
    "session": nothing,
    "browsing": browse,
    "sessions": action("screen.sessions"),
    "models": action("screen.models"),
    "themes": action("screen.themes"),
    "modes": action("screen.modes"),
    "palette": action("app.command_palette"),
    "help": action("app.help"),
    "approval": ask,
}


@asynccontextmanager
async def prepared(size: tuple[int, int]) -> AsyncIterator[Stage]:
    session = FakeSession(Path("/srv/project"), EARLIER)
    launch = replace(launch_for(session), shelf=lambda: SHELF)
    async with stage(session, size, launch) as s:
        await s.until(lambda: "denied" in s.drawn())
        yield s


def cells(s: Stage) -> Iterator[Cell]:
    """Pieces of text on the top screen; what lies dimmed below a dialog is not meant to be read."""
    top = s.app.screen
    frame = top.size.region if top is s.screen else Region.from_union([w.region for w in top.children])
    for y, strip in enumerate(top._compositor.render_strips()):
        if frame.y <= y < frame.bottom:
            for segment in strip.crop(frame.x, frame.right):
                yield from _cell(segment)


def _cell(segment: Segment) -> Iterator[Cell]:
    style = segment.style or Style()
    if segment.text.strip() and style.color is not None and style.bgcolor is not None:
        ink, ground = _seen(style.color, is_ink=True), _seen(style.bgcolor, is_ink=False)
        yield Cell(segment.text, *((ground, ink) if style.reverse else (ink, ground)))


def _seen(color: RichColor, *, is_ink: bool) -> Color:
    """As a dark terminal shows it."""
    if color.is_default:
        return Color(255, 255, 255) if is_ink else Color(0, 0, 0)
    return Color(*color.get_truecolor())


def weak(s: Stage) -> set[tuple[str, float]]:
    disabled = Color.parse(s.app.theme_variables["text-disabled"])
    found = set()
    for cell in cells(s):
        least = TEXT if any(character.isalnum() for character in cell.text) else MARK
        value = contrast(cell.ink, cell.ground)
        if value < least and (cell.ink.r, cell.ink.g, cell.ink.b) != disabled.rgb:
            found.add((cell.text.strip()[:30], round(value, 2)))
    return found


def clipped(s: Stage) -> list[str]:
    """Labels of one row that have more to say than there is room."""
    return [
        str(widget.visual)
        for widget in s.app.screen.query(Static)
        if widget.is_on_screen
        and widget.size.height == 1
        and widget.styles.text_overflow != "ellipsis"
        and cell_len(str(widget.visual)) > widget.content_size.width
    ]


@pytest.mark.parametrize("name", SCREENS)
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_everything_drawn_can_be_read_in_every_theme(name: str, size: tuple[int, int]) -> None:
    async with prepared(size) as s:
        await SCREENS[name](s)
        await s.pilot.pause()
        assert (clipped(s), s.screen.status.size.height) == ([], 1)
        found = {}
        for theme in own_themes(s.app):
            s.app.theme = theme
            await s.pilot.pause()
            found[theme] = weak(s)
        assert {theme: what for theme, what in found.items() if what} == {}


async def test_the_sixteen_colours_are_the_terminals_own() -> None:
    async with prepared((100, 30)) as s:
        for name in ("session", "themes"):
            await SCREENS[name](s)
            s.app.theme = "ansi-16"
            await s.pilot.pause()
            strips = s.app.screen._compositor.render_strips()
            styles = [segment.style for strip in strips for segment in strip if segment.style]
            used = {color for style in styles for color in (style.color, style.bgcolor) if color}
            assert {color.name for color in used if color.number is None} == set()


async def test_without_colours_there_is_no_hue_and_all_can_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with prepared((100, 30)) as s:
        await SCREENS["browsing"](s)
        await s.pilot.pause()
        shown = list(cells(s))
        hues = {cell for cell in shown for color in (cell.ink, cell.ground) if len(set(color.rgb)) > 1}
        assert (hues, weak(s)) == (set(), set())
