"""Editing a proposal: in an external editor, or in the dialog if there is none."""

import asyncio
from dataclasses import replace

import pytest
from textual import events

from coder_tui.protocol.events import RequestOpened
from coder_tui.protocol.requests import ApprovalReply, Decision, Editable, Reply
from coder_tui.ui.external_editor import Edited, NotEdited, Outcome
from coder_tui.ui.glyphs import UNICODE
from coder_tui.ui.launch import AnswerKeys
from coder_tui.ui.requests.approval import ApprovalScreen
from coder_tui.ui.requests.guarded_screen import Closed, DialogContext
from tests.fakes.screens import Stage, clock, shell_request, stage

SHELL = replace(shell_request(), editable=Editable("command", "rm -rf build", ".sh"))


async def edit_here(s: Stage, text: str = "rm -rf build") -> None:
    """A test has no terminal for an external editor, so the dialog offers a field."""
    s.session.emit(RequestOpened(replace(SHELL, editable=Editable("command", text))))
    await s.ready_dialog()
    await s.pilot.press("e")
    await s.until(lambda: "dit it here" in s.drawn() or "hidden characters" in s.drawn())


async def test_without_an_editor_the_text_is_edited_in_the_dialog() -> None:
    async with stage() as s:
        await edit_here(s)
        await s.shows("^Y run this instead")
        await s.pilot.press(*" dist", "enter", *"make", "ctrl+y")
        reply = ApprovalReply(Decision.MODIFY, edited="rm -rf build dist\nmake")
        await s.until(lambda: s.session.answers == [("r1", reply)])
        assert s.draft == ""


async def test_escape_or_no_change_returns_to_the_answers() -> None:
    async with stage() as s:
        await edit_here(s)
        await s.pilot.press("x", "escape")
        await s.ready_dialog()
        await s.shows("run once")
        await s.pilot.press("e")
        await s.shows("run this instead")
        await s.pilot.press("ctrl+y")
        await s.shows("Nothing was changed.")
        await s.ready_dialog()
        await s.pilot.press("e")
        await s.shows("run this instead")
        await s.pilot.press("ctrl+u", "ctrl+y")
        await s.shows("This is empty.")
        assert (s.session.answers, s.draft) == ([], "")


async def test_hidden_characters_are_reported_first_and_never_reach_the_field() -> None:
    async with stage() as s:
        await edit_here(s, "ls \u202e\x1b[2J")
        await s.shows("Press e again to open it")
        await s.ready_dialog()
        await s.pilot.press("e")
        await s.shows("Set $EDITOR to use your editor")
        assert s.dialog is not None and s.dialog.focused is None
        assert not {"\x1b", "\u202e"} & set(s.drawn())


async def test_the_letter_is_typing_if_nothing_can_be_edited() -> None:
    async with stage() as s:
        s.session.emit(RequestOpened(shell_request()))
        await s.ready_dialog()
        assert "e edit" not in s.drawn()
        await s.pilot.press("e")
        await s.until(lambda: s.dialog is None)
        assert s.draft == "e"


class FakeEditing:
    """A dialog whose external editor is played by the test."""

    def __init__(self, s: Stage) -> None:
        self.asked: list[Editable] = []
        self.outcome: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self.closed: list[Closed[Reply] | None] = []
        spill = s.screen.prompt.type_text
        self.dialog = ApprovalScreen(
            SHELL, DialogContext(UNICODE, spill, clock, AnswerKeys.LETTERS), self._edit
        )
        s.app.push_screen(self.dialog, self.closed.append)

    async def _edit(self, editable: Editable) -> Outcome:
        self.asked.append(editable)
        return await self.outcome


async def editing(s: Stage) -> FakeEditing:
    editing_stub = FakeEditing(s)
    await s.ready_dialog()
    await s.pilot.press("e")
    await s.until(lambda: editing_stub.asked == [SHELL.editable])
    return editing_stub


@pytest.mark.parametrize(
    ("outcome", "closed"),
    [
        (Edited("make clean"), [Closed(ApprovalReply(Decision.MODIFY, edited="make clean"))]),
        (NotEdited("It came to nothing."), []),
    ],
)
async def test_the_edited_text_is_the_answer_and_no_earlier_key(
    outcome: Outcome, closed: list[Closed[Reply]]
) -> None:
    async with stage() as s:
        editing_stub = await editing(s)
        await s.pilot.press("ctrl+y", "n", "x", "escape")
        assert editing_stub.closed == []
        editing_stub.outcome.set_result(outcome)
        await s.until(lambda: bool(editing_stub.closed) or "It came to nothing." in s.drawn())
        assert (editing_stub.closed, s.draft) == (closed, "")


async def test_keys_right_after_the_editor_closed_answer_nothing() -> None:
    async with stage() as s:
        editing_stub = await editing(s)
        editing_stub.outcome.set_result(NotEdited("It came to nothing."))
        await s.until(lambda: not editing_stub.dialog.is_ready)
        s.app.post_message(events.Key("ctrl+y", None))
        await s.ready_dialog()
        assert editing_stub.closed == []


async def test_a_request_withdrawn_during_editing_closes_after_the_editor() -> None:
    async with stage() as s:
        editing_stub = await editing(s)
        editing_stub.dialog.withdraw()
        await s.pilot.pause()
        assert editing_stub.closed == []
        editing_stub.outcome.set_result(Edited("too late"))
        await s.until(lambda: editing_stub.closed == [Closed(None)])


async def test_a_long_paste_is_shown_in_full_before_it_is_approved() -> None:
    async with stage() as s:
        await edit_here(s)
        s.app.post_message(events.Paste("\nmake\nmake test\nmake dist\nrm -rf /srv/other"))
        await s.shows("rm -rf /srv/other")
