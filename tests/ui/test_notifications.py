"""Title, bell and desktop notes: on changes only, once, and nothing that a terminal would print."""

import pytest

from coder_tui.protocol.events import RequestClosed, RequestOpened, TurnFailed, TurnStarted
from coder_tui.protocol.outcomes import TurnOutcome
from coder_tui.ui.notifications import PATIENCE, note_sequence, title_sequence
from tests.fakes.screens import Stage, shell_request, stage

NOTE_WAITING = "\a\x1b]9;coder-tui: project waits for you\a"
NOTE_DONE = "\a\x1b]9;coder-tui: project is done\a"


def title(text: str) -> str:
    return f"\x1b]2;{text}\a"


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    for name in ("TMUX", "TERM_PROGRAM", "VTE_VERSION"):
        monkeypatch.delenv(name, raising=False)


def listen(s: Stage, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    written: list[str] = []
    monkeypatch.setattr(s.screen.attention, "write", written.append)
    return written


async def test_the_title_follows_the_session_and_is_written_on_changes_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with stage() as s:
        written = listen(s, monkeypatch)
        await s.pilot.press(*"go", "enter")
        await s.until(lambda: bool(written))
        s.session.emit(TurnStarted(1))
        s.session.finish()
        assert written == [title("▶ project"), title("✓ project")]


async def test_who_looks_elsewhere_is_called_once_for_each_change(monkeypatch: pytest.MonkeyPatch) -> None:
    async with stage() as s:
        await s.pilot.press(*"go", "enter", *"draft")
        written = listen(s, monkeypatch)
        s.app.app_focus = False
        s.session.emit(RequestOpened(shell_request("r1")), RequestOpened(shell_request("r2")))
        s.session.emit(RequestClosed("r1", None), RequestClosed("r2", None))
        s.session.finish()
        assert written == [
            title("? project"),
            NOTE_WAITING,
            title("▶ project"),
            title("✓ project"),
            NOTE_DONE,
        ]


async def test_after_a_long_turn_also_who_has_the_focus_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    async with stage() as s:
        await s.pilot.press(*"go", "enter")
        written = listen(s, monkeypatch)
        now = s.screen.attention._clock()
        monkeypatch.setattr(s.screen.attention, "_clock", lambda: now + PATIENCE + 1)
        s.session.finish()
        assert written == [title("✓ project"), NOTE_DONE]


async def test_who_types_hears_the_bell_for_a_request_that_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    async with stage() as s:
        await s.pilot.press(*"go", "enter", *"draft")
        written = listen(s, monkeypatch)
        s.session.emit(RequestOpened(shell_request()))
        assert written == [title("? project"), "\a"]


async def test_who_stopped_the_turn_is_not_called(monkeypatch: pytest.MonkeyPatch) -> None:
    async with stage() as s:
        await s.pilot.press(*"go", "enter")
        written = listen(s, monkeypatch)
        s.app.app_focus = False
        s.session.finish(TurnOutcome.INTERRUPTED)
        assert written == [title("✓ project")]


async def test_a_terminal_that_knows_no_titles_gets_the_bell_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "linux")
    async with stage() as s:
        written = listen(s, monkeypatch)
        await s.pilot.press(*"go", "enter")
        s.app.app_focus = False
        s.session.emit(TurnFailed(1, "gone", ""))
        s.screen.attention.stop()
        assert written == ["\a"]


async def test_the_title_is_given_back_while_the_terminal_is_somebody_elses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with stage() as s:
        written = listen(s, monkeypatch)
        s.app.app_suspend_signal.publish(s.app)
        s.session.emit(TurnStarted(1))
        s.app.app_resume_signal.publish(s.app)
        s.screen.attention.stop()
        assert written == ["\x1b[23;2t", "\x1b[22;2t", title("▶ project"), "\x1b[23;2t"]


async def test_a_session_that_was_left_does_not_come_back_with_the_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with stage() as s:
        written = listen(s, monkeypatch)
        s.screen.attention.stop()
        s.app.app_suspend_signal.publish(s.app)
        s.app.app_resume_signal.publish(s.app)
        s.session.emit(TurnStarted(1))
        assert written == ["\x1b[23;2t"]


def test_a_name_cannot_steer_the_terminal() -> None:
    assert title_sequence("a\x1b]0;evil\ab") == "\x1b]2;a␛]0;evil␇b\a"
    assert note_sequence("a;b\x07", {"TERM": "foot"}) == "\x1b]777;notify;coder-tui;a,b␇\a"


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"TERM": "xterm-256color"}, "\x1b]9;coder-tui: x\a"),
        ({"TERM": "rxvt-unicode"}, "\x1b]777;notify;coder-tui;x\a"),
        ({"TERM": "xterm", "VTE_VERSION": "7600"}, "\x1b]777;notify;coder-tui;x\a"),
        ({"TERM": "screen", "TMUX": "t"}, "\x1bPtmux;\x1b\x1b]9;coder-tui: x\a\x1b\\"),
    ],
)
def test_a_note_is_sent_in_one_way_and_through_tmux(environ: dict[str, str], expected: str) -> None:
    assert note_sequence("x", environ) == expected


async def test_what_was_shown_for_a_moment_can_be_read_again() -> None:
    async with stage() as s:
        await s.pilot.press("f4")
        await s.app.run_action("screen.log")
        await s.until(lambda: "Messages of this session" in s.drawn())
        assert "There is no todo list yet." in s.drawn()
