"""Approvals on the real screen: typing never answers, a deliberate key does, nothing is lost."""

from dataclasses import replace

import pytest
from textual import events

from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.display import DiffBlock, TerminalBlock
from coder_tui.protocol.events import RequestClosed, RequestOpened
from coder_tui.protocol.requests import ApprovalReply, ApprovalRequest, Decision
from coder_tui.ui.requests.presenter import QUIET_BEFORE_OPENING
from tests.fakes.screens import Stage, clock, shell_request, stage

SHELL = shell_request()
EDIT = ApprovalRequest(
    id="e1",
    call_id="c",
    tool="edit",
    kind=ToolKind.EDIT,
    title="edit calc.py",
    preview=DiffBlock("calc.py", "@@ -1 +1 @@\n-a\n+b\n", 1, 1),
    is_undoable=True,
)


async def open_dialog(s: Stage, request: ApprovalRequest) -> None:
    s.session.emit(RequestOpened(request))
    await s.ready_dialog()


@pytest.mark.parametrize(
    ("request_", "key", "reply"),
    [
        (SHELL, "ctrl+y", ApprovalReply(Decision.ALLOW_ONCE)),
        (EDIT, "y", ApprovalReply(Decision.ALLOW_ONCE)),
        (SHELL, "n", ApprovalReply(Decision.DENY)),
        (SHELL, "escape", ApprovalReply(Decision.CANCEL_TURN)),
        (SHELL, "ctrl+c", ApprovalReply(Decision.CANCEL_TURN)),
    ],
)
async def test_one_key_answers(request_: ApprovalRequest, key: str, reply: ApprovalReply) -> None:
    async with stage() as s:
        await open_dialog(s, request_)
        await s.pilot.press(key)
        await s.until(lambda: s.session.answers == [(request_.id, reply)])
        await s.until(lambda: s.dialog is None)
        assert s.screen.focused is s.screen.prompt
        assert s.draft == ""


async def test_the_letter_y_names_the_chord_if_nothing_can_be_undone() -> None:
    async with stage() as s:
        await open_dialog(s, SHELL)
        await s.pilot.press("y")
        await s.shows("This cannot be undone. Press Ctrl+Y to allow it.")
        assert (s.session.answers, s.draft) == ([], "")
        await s.pilot.press(*"es")
        await s.until(lambda: s.dialog is None)
        assert (s.session.answers, s.draft) == ([], "es")


async def test_a_burst_of_typing_over_a_ready_dialog_goes_to_the_draft_in_order() -> None:
    async with stage() as s:
        await open_dialog(s, EDIT)
        for character in "yes, and no":
            s.app.post_message(events.Key("x" if character != " " else "space", character))
        await s.until(lambda: s.draft == "yes, and no")
        assert s.session.answers == []


async def test_keys_pressed_as_the_dialog_opens_do_nothing() -> None:
    async with stage() as s:
        s.session.emit(RequestOpened(EDIT))
        await s.until(lambda: s.dialog is not None)
        for key, character in (("ctrl+y", None), ("enter", "\r"), ("y", "y"), ("e", "e")):
            s.app.post_message(events.Key(key, character))
        await s.until(lambda: s.dialog is None)
        assert (s.session.answers, s.draft) == ([], "ye")


async def test_a_request_waits_while_there_is_a_draft_and_f8_opens_it() -> None:
    async with stage() as s:
        await s.pilot.press(*"draft")
        s.session.emit(RequestOpened(SHELL))
        await s.shows("? bash rm -rf build — waiting for you  F8 answer")
        assert s.dialog is None
        await s.pilot.press("f8")
        await s.ready_dialog()
        await s.pilot.press("n")
        await s.until(lambda: s.session.answers == [("r1", ApprovalReply(Decision.DENY))])
        assert s.draft == "draft"


async def test_a_request_waits_for_another_dialog_and_opens_after_it() -> None:
    async with stage() as s:
        await s.pilot.press("f1")
        s.session.emit(RequestOpened(SHELL))
        await s.pilot.pause()
        assert s.dialog is None
        await s.pilot.press("escape")
        await s.until(lambda: s.dialog is not None)


async def test_a_request_opens_automatically_once_the_draft_is_sent() -> None:
    async with stage() as s:
        await s.pilot.press(*"go")
        s.session.emit(RequestOpened(SHELL))
        before = clock()
        await s.pilot.press("enter")
        await s.until(lambda: s.dialog is not None)
        assert s.dialog is not None
        assert s.dialog.guard.opened_at >= before + QUIET_BEFORE_OPENING


async def test_always_names_the_rule_and_needs_a_digit_and_the_chord() -> None:
    async with stage() as s:
        await open_dialog(s, SHELL)
        await s.pilot.press("a")
        await s.until(lambda: 'bash exactly "rm -rf build" · until this session ends' in s.drawn())
        await s.pilot.press("ctrl+y")
        await s.pilot.pause()
        assert s.session.answers == []
        await s.pilot.press("2", "ctrl+y")
        reply = ApprovalReply(Decision.ALLOW_ALWAYS, grant=SHELL.grants[1])
        await s.until(lambda: s.session.answers == [("r1", reply)])


async def test_deny_with_a_reason_sends_the_reason() -> None:
    async with stage() as s:
        await open_dialog(s, SHELL)
        await s.pilot.press("d")
        await s.until(lambda: s.dialog is not None and s.dialog.focused is not None)
        await s.pilot.press(*"use make", "enter")
        await s.until(lambda: s.session.answers == [("r1", ApprovalReply(Decision.DENY, "use make"))])
        assert s.draft == ""


async def test_escape_leaves_the_message_and_then_cancels() -> None:
    async with stage() as s:
        await open_dialog(s, SHELL)
        await s.pilot.press("d")
        await s.until(lambda: s.dialog is not None and s.dialog.focused is not None)
        await s.pilot.press(*"hm", "escape")
        assert s.dialog is not None and s.dialog.focused is None
        await s.pilot.press("escape")
        await s.until(lambda: s.session.answers == [("r1", ApprovalReply(Decision.CANCEL_TURN))])
        assert s.draft == "hm"


async def test_allow_waits_until_the_end_of_a_long_command_was_shown() -> None:
    command = "\n".join(f"echo {number}" for number in range(200))
    async with stage() as s:
        await open_dialog(s, replace(SHELL, preview=TerminalBlock(command, "", None)))
        await s.pilot.press("ctrl+y")
        await s.shows("Scroll to the end first")
        assert s.session.answers == []
        await s.shows("PgDn for more  ready")
        await s.pilot.press("end")
        await s.until(lambda: "echo 199" in s.drawn() and "PgDn for more" not in s.drawn())
        await s.pilot.press("ctrl+y")
        await s.until(lambda: s.session.answers == [("r1", ApprovalReply(Decision.ALLOW_ONCE))])


async def test_enter_and_space_answer_only_what_tab_has_marked() -> None:
    async with stage() as s:
        await open_dialog(s, SHELL)
        await s.pilot.press("enter")
        await s.ready_dialog()
        assert s.session.answers == []
        await s.pilot.press("tab", "tab", "tab", "enter")
        await s.until(lambda: s.session.answers == [("r1", ApprovalReply(Decision.DENY))])


async def test_a_paste_docks_the_dialog_and_lands_in_the_draft() -> None:
    async with stage() as s:
        await open_dialog(s, EDIT)
        s.app.post_message(events.Paste("y\n"))
        await s.until(lambda: s.dialog is None)
        assert (s.session.answers, s.draft) == ([], "y\n")


async def test_regaining_the_focus_guards_the_dialog_again() -> None:
    async with stage() as s:
        await open_dialog(s, EDIT)
        s.app.post_message(events.AppBlur())
        s.app.post_message(events.AppFocus())
        await s.until(lambda: s.dialog is not None and not s.dialog.guard.is_ready(clock()))


async def test_a_click_answers_a_ready_dialog() -> None:
    async with stage() as s:
        await open_dialog(s, SHELL)
        await s.pilot.click("AnswerLabel")
        await s.until(lambda: s.session.answers == [("r1", ApprovalReply(Decision.ALLOW_ONCE))])


async def test_a_withdrawn_request_closes_its_dialog() -> None:
    async with stage() as s:
        await open_dialog(s, SHELL)
        s.session.emit(RequestClosed("r1", None))
        await s.until(lambda: s.dialog is None)
        assert s.session.answers == []
        assert s.app.screen is s.screen


async def test_a_request_withdrawn_under_another_screen_closes_when_that_does() -> None:
    async with stage() as s:
        await open_dialog(s, SHELL)
        await s.pilot.press("f1")
        s.session.emit(RequestClosed("r1", None))
        await s.pilot.press("escape")
        await s.until(lambda: s.app.screen is s.screen)


async def test_requests_open_one_at_a_time_and_each_is_guarded_again() -> None:
    async with stage() as s:
        s.session.emit(RequestOpened(SHELL), RequestOpened(EDIT))
        await s.ready_dialog()
        await s.pilot.press("ctrl+y", "ctrl+y")
        await s.until(lambda: s.dialog is not None and s.dialog.request is EDIT)
        await s.ready_dialog()
        assert s.session.answers == [("r1", ApprovalReply(Decision.ALLOW_ONCE))]


async def test_a_repeated_escape_does_not_reach_the_screen_below_the_dialog() -> None:
    async with stage() as s:
        await s.pilot.press(*"go", "enter")
        s.session.emit(RequestOpened(SHELL))
        await s.pilot.press("f8")
        await s.ready_dialog()
        await s.pilot.press("n")
        await s.until(lambda: s.dialog is None and s.screen.widgets.presenter.has_just_closed)
        await s.pilot.press("escape")
        assert s.session.interrupts == 0


async def test_hostile_text_in_a_request_is_shown_and_never_obeyed() -> None:
    evil = "[@click=app.quit]x[/] \u202e\x1b[2J"
    async with stage() as s:
        hostile = replace(shell_request(command=evil), facts=(evil,), rule=evil)
        await open_dialog(s, hostile)
        drawn = s.drawn()
        assert "[@click=app.quit]x[/] <U+202E>␛[2J" in drawn
        assert "contains hidden characters" in drawn
        assert not {"\x1b", "\u202e"} & set(drawn)
