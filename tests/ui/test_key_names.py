"""Hints name the keys that the user set, not those of the table."""

from dataclasses import replace

import pytest

from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.diagnostics import Diagnostic, Severity
from coder_tui.protocol.display import TerminalBlock
from coder_tui.protocol.events import DiagnosticsChanged, RequestOpened, ToolFinished, ToolStarted
from coder_tui.protocol.outcomes import Outcome
from coder_tui.ui.key_settings import key_map
from coder_tui.ui.keymap import renamed
from coder_tui.ui.keys import Context
from tests.fakes.fake_session import FakeSession
from tests.fakes.screens import launch_for, shell_request, stage


@pytest.mark.parametrize(
    ("words", "changed", "expected"),
    [
        ("^P commands  F1 help", {}, "^P commands  F1 help"),
        ("^P commands  F1 help", {"app.help": "f12"}, "^P commands  F12 help"),
        ("^P commands  F1 help", {"app.palette": "ctrl+x"}, "^X commands  F1 help"),
        ("^P commands  F1 help", {"app.palette": "f6,alt+p"}, "F6 commands  F1 help"),
        ("Press Ctrl+C again to quit.", {"session.cancel": "ctrl+x"}, "Press Ctrl+X again to quit."),
        ("j k", {"list.next": "n"}, "j k"),
        ("F4 F5", {"session.todo": "f5", "session.problems": "f4"}, "F5 F4"),
    ],
)
def test_keys_in_words_follow_what_was_changed(words: str, changed: dict[str, str], expected: str) -> None:
    assert renamed(words, changed, (Context.GLOBAL, Context.SESSION)) == expected


async def test_the_screen_names_changed_keys_wherever_it_hints_at_them() -> None:
    wishes = {
        "app.help": "alt+h",
        "app.palette": "ctrl+t",
        "session.answer": "f12",
        "session.problems": "f9",
        "problems.fix": "F",
        "transcript.search": "ctrl+f",
        "transcript.fold": "z",
    }
    session = FakeSession()
    keys = key_map(wishes)
    assert keys.problems == ()
    async with stage(session, size=(80, 45), launch=replace(launch_for(session), keys=keys)) as s:
        await s.shows("^T commands  Alt+H help")
        s.session.emit(DiagnosticsChanged("a.py", (Diagnostic("a.py", 1, 1, Severity.ERROR, "broken"),)))
        await s.shows("F2 F3 F4 F9 switch")
        await s.pilot.press("f9")
        await s.until(lambda: "F fix" in s.drawn() and "F9 hide" in s.drawn())
        await s.pilot.press("f2", "tab")
        await s.shows("Ctrl+F search")
        await s.pilot.press("i", "x")
        s.session.emit(ToolStarted("call-r1", "bash", ToolKind.EXECUTE, "make"))
        s.session.emit(RequestOpened(shell_request("r1")))
        await s.until(lambda: s.drawn().count("F12 answer") == 2 and "F12 to answer" in s.drawn())
        assert "F8" not in s.drawn()
        failed = TerminalBlock("make", "line\n" * 40, 1)
        s.session.emit(ToolFinished("call-2", "bash", Outcome.FAILED, "make", failed, 9))
        await s.shows("more lines, z to expand")
