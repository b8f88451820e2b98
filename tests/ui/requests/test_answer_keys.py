"""Which keys answer: letters, or chords only if the user wants that."""

from dataclasses import replace

from coder_tui.protocol.events import RequestOpened
from coder_tui.protocol.requests import ApprovalReply, Decision
from coder_tui.ui.launch import AnswerKeys
from coder_tui.ui.requests.key_guard import ARM, ApprovalGuard, Choice, Chosen, Passed
from tests.fakes.fake_session import FakeSession
from tests.fakes.screens import launch_for, shell_request, stage


async def test_with_chords_only_a_letter_is_typing_and_alt_with_it_answers() -> None:
    session = FakeSession()
    launch = replace(launch_for(session), answer_keys=AnswerKeys.CHORD)
    async with stage(session, launch=launch) as s:
        s.session.emit(RequestOpened(shell_request()))
        await s.ready_dialog()
        await s.shows("Alt+N deny")
        await s.pilot.press("n")
        await s.until(lambda: s.dialog is None and s.draft == "n")
        assert s.session.answers == []
        await s.pilot.press("f8")
        await s.ready_dialog()
        await s.pilot.press("alt+n")
        await s.until(lambda: s.session.answers == [("r1", ApprovalReply(Decision.DENY))])
        assert s.draft == "n"


def test_a_chord_answers_at_once_but_never_before_a_pause() -> None:
    machine = ApprovalGuard({}, 0, 0.0, {"alt+n": Choice.DENY})
    assert machine.press("alt+n", "n", ARM - 0.1) == Passed("alt+n")
    assert machine.press("alt+n", "n", 2 * ARM) == Chosen(Choice.DENY)
    assert machine.release() == ""


async def test_always_shows_what_it_would_have_allowed() -> None:
    covered = (("rm -rf build",), tuple(f"make {number}" for number in range(5)))
    async with stage() as s:
        s.session.emit(RequestOpened(replace(shell_request(), covered=covered)))
        await s.ready_dialog()
        await s.pilot.press("a")
        await s.shows("would have allowed rm -rf build")
        await s.shows("would have allowed make 0, make 1, make 2 and 2 more")
