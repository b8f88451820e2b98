"""The approval dialog in terminals of every size: nothing is allowed that was not on the screen."""

import pytest

from coder_tui.protocol.display import TerminalBlock
from coder_tui.protocol.events import RequestOpened
from coder_tui.protocol.requests import ApprovalReply, Decision
from tests.fakes.screens import Stage, shell_request, stage

ALLOWED = ("r1", ApprovalReply(Decision.ALLOW_ONCE))
LAST_FACT = "(defaults)"
SIZES = [(30, 8), (31, 9), (40, 10), (60, 15), (60, 16), (80, 24)]


def command(lines: int) -> str:
    return "\n".join(f"echo {number}" for number in range(1, lines)) + "\nrm -rf precious"


async def ask(s: Stage, lines: int) -> None:
    s.session.emit(RequestOpened(shell_request(preview=TerminalBlock(command(lines), "", None))))
    await s.ready_dialog()


@pytest.mark.parametrize(
    ("size", "lines"),
    [((30, 8), 2), ((30, 8), 60), ((40, 10), 4), ((60, 15), 8), ((60, 15), 9), ((60, 16), 8), ((80, 24), 60)],
)
async def test_the_chord_allows_only_what_was_shown_to_its_end(size: tuple[int, int], lines: int) -> None:
    async with stage(size=size) as s:
        await ask(s, lines)
        was_shown = "rm -rf precious" in s.drawn() and LAST_FACT in s.drawn()
        await s.pilot.press("ctrl+y")
        await s.until(lambda: bool(s.session.answers) or "Scroll to the" in s.drawn())
        assert s.session.answers == ([ALLOWED] if was_shown else [])
        if not was_shown:
            await s.pilot.press("end")
            await s.until(lambda: LAST_FACT in s.drawn() and "Scroll to the" not in s.drawn())
            await s.pilot.press("ctrl+y")
            await s.until(lambda: s.session.answers == [ALLOWED])


@pytest.mark.parametrize("size", SIZES)
async def test_every_answer_key_is_on_the_screen(size: tuple[int, int]) -> None:
    async with stage(size=size) as s:
        await ask(s, 100)
        drawn = s.drawn()
        words = (
            "^Y run once",
            "a always",
            "n deny",
            "d deny, say why",
            "Esc stop the turn",
            "echo 1",
            "ready",
        )
        assert [word for word in words if word not in drawn] == []


@pytest.mark.parametrize("size", [(1, 1), (20, 5), (29, 8), (30, 7)])
async def test_a_request_waits_if_the_terminal_is_too_small_to_read_it(size: tuple[int, int]) -> None:
    async with stage(size=size) as s:
        s.session.emit(RequestOpened(shell_request()))
        await s.pilot.press("f8", "ctrl+y")
        await s.pilot.pause()
        assert (s.dialog, s.session.answers) == (None, [])
        if size[0] > 1:
            await s.shows("a request waits")
        await s.pilot.resize_terminal(80, 24)
        await s.ready_dialog()
        await s.pilot.press("ctrl+y")
        await s.until(lambda: s.session.answers == [ALLOWED])


async def test_an_open_request_docks_when_the_terminal_gets_too_small() -> None:
    async with stage() as s:
        await ask(s, 3)
        await s.pilot.resize_terminal(20, 5)
        await s.until(lambda: s.dialog is None and "a request waits" in s.drawn())
        await s.pilot.press("ctrl+y")
        assert s.session.answers == []
        await s.pilot.resize_terminal(100, 30)
        await s.ready_dialog()


async def test_what_was_painted_briefly_before_the_terminal_shrank_does_not_count() -> None:
    async with stage(size=(80, 40)) as s:
        s.session.emit(RequestOpened(shell_request(preview=TerminalBlock(command(20), "", None))))
        await s.until(lambda: s.dialog is not None and "precious" in s.drawn())
        await s.pilot.resize_terminal(60, 15)
        await s.ready_dialog()
        assert "precious" not in s.drawn()
        await s.pilot.press("ctrl+y")
        await s.shows("Scroll to the end first")
        assert s.session.answers == []


@pytest.mark.parametrize("size", [(60, 15), (80, 24), (140, 40)])
async def test_after_many_sizes_the_dialog_looks_as_if_opened_at_the_last(size: tuple[int, int]) -> None:
    async with stage(size=size) as fresh:
        await ask(fresh, 12)
        expected = fresh.drawn()
    async with stage(size=(200, 50)) as s:
        await ask(s, 12)
        for other in ((40, 10), (200, 12), (31, 40), (90, 9), (200, 50), (45, 15), size):
            await s.pilot.resize_terminal(*other)
        await s.ready_dialog()
        await s.until(lambda: s.drawn() == expected)
