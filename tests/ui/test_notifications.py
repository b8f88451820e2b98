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
    monkeypatch.setattr(s.screen.widgets.attention, "write", written.append)
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


async def test_a_user_who_looks_elsewhere_is_notified_once_a_change(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
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


async def test_after_a_long_turn_a_user_who_is_there_is_notified_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with stage() as s:
        await s.pilot.press(*"go", "enter")
        written = listen(s, monkeypatch)
        now = s.screen.widgets.attention._clock()
        monkeypatch.setattr(s.screen.widgets.attention, "_clock", lambda: now + PATIENCE + 1)
        s.session.finish()
        assert written == [title("✓ project"), NOTE_DONE]


async def test_a_waiting_request_rings_the_bell_while_the_user_types(monkeypatch: pytest.MonkeyPatch) -> None:
    async with stage() as s:
        await s.pilot.press(*"go", "enter", *"draft")
        written = listen(s, monkeypatch)
        s.session.emit(RequestOpened(shell_request()))
        assert written == [title("? project"), "\a"]


async def test_a_user_who_stopped_the_turn_is_not_notified(monkeypatch: pytest.MonkeyPatch) -> None:
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
        s.screen.widgets.attention.stop()
        assert written == ["\a"]


async def test_the_title_is_restored_while_another_program_has_the_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with stage() as s:
        written = listen(s, monkeypatch)
        s.app.app_suspend_signal.publish(s.app)
        s.session.emit(TurnStarted(1))
        s.app.app_resume_signal.publish(s.app)
        s.screen.widgets.attention.stop()
        assert written == ["\x1b[23;2t", "\x1b[22;2t", title("▶ project"), "\x1b[23;2t"]


async def test_a_session_that_was_left_does_not_come_back_with_the_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with stage() as s:
        written = listen(s, monkeypatch)
        s.screen.widgets.attention.stop()
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


async def test_brief_messages_can_be_read_again() -> None:
    async with stage() as s:
        await s.pilot.press("f4")
        await s.app.run_action("screen.run('log')")
        await s.shows("Messages of this session")
        await s.shows("There is no todo list yet.")
