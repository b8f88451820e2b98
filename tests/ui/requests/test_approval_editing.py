"""Editing a proposal: elsewhere in an editor, or in the dialog where there is none."""

import asyncio
from dataclasses import replace

import pytest
from textual import events

from coder_tui.protocol.events import RequestOpened
from coder_tui.protocol.requests import ApprovalReply, Decision, Editable
from coder_tui.ui.external_editor import Edited, NotEdited, Outcome
from coder_tui.ui.glyphs import UNICODE
from coder_tui.ui.launch import AnswerKeys
from coder_tui.ui.requests.approval import ApprovalScreen
from coder_tui.ui.requests.dialog_frame import Closed
from tests.fakes.screens import Stage, clock, shell_request, stage

SHELL = replace(shell_request(), editable=Editable("command", "rm -rf build", ".sh"))


async def edit_here(s: Stage, text: str = "rm -rf build") -> None:
    """There is no terminal to give away in a test, so the dialog offers a field."""
    s.session.emit(RequestOpened(replace(SHELL, editable=Editable("command", text))))
    await s.ready_dialog()
    await s.pilot.press("e")
    await s.until(lambda: "hange it here" in s.drawn() or "hidden characters" in s.drawn())


async def test_without_an_editor_the_text_is_changed_in_the_dialog() -> None:
    async with stage() as s:
        await edit_here(s)
        await s.until(lambda: "^Y run this instead" in s.drawn())
        await s.pilot.press(*" dist", "enter", *"make", "ctrl+y")
        reply = ApprovalReply(Decision.MODIFY, edited="rm -rf build dist\nmake")
        await s.until(lambda: s.session.answers == [("r1", reply)])
        assert s.draft == ""


async def test_escape_and_no_change_lead_back_to_the_question() -> None:
    async with stage() as s:
        await edit_here(s)
        await s.pilot.press("x", "escape")
        await s.ready_dialog()
        assert "run once" in s.drawn()
        await s.pilot.press("e")
        await s.until(lambda: "run this instead" in s.drawn())
        await s.pilot.press("ctrl+y")
        await s.until(lambda: "Nothing was changed." in s.drawn())
        await s.ready_dialog()
        await s.pilot.press("e")
        await s.until(lambda: "run this instead" in s.drawn())
        await s.pilot.press("ctrl+u", "ctrl+y")
        await s.until(lambda: "It is empty." in s.drawn())
        assert (s.session.answers, s.draft) == ([], "")


async def test_hidden_characters_are_told_first_and_never_come_into_the_field() -> None:
    async with stage() as s:
        await edit_here(s, "ls \u202e\x1b[2J")
        assert "e again opens it" in s.drawn()
        await s.ready_dialog()
        await s.pilot.press("e")
        await s.until(lambda: "to use yours" in s.drawn())
        assert s.dialog is not None and s.dialog.focused is None
        assert not {"\x1b", "\u202e"} & set(s.drawn())


async def test_the_letter_is_typing_where_nothing_can_be_edited() -> None:
    async with stage() as s:
        s.session.emit(RequestOpened(shell_request()))
        await s.ready_dialog()
        assert "e edit" not in s.drawn()
        await s.pilot.press("e")
        await s.until(lambda: s.dialog is None)
        assert s.draft == "e"


class Desk:
    """A dialog over the session; the editor is the test."""

    def __init__(self, s: Stage) -> None:
        self.asked: list[Editable] = []
        self.outcome: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self.closed: list[Closed | None] = []
        spill = s.screen.prompt.type_text
        self.dialog = ApprovalScreen(SHELL, UNICODE, spill, clock, self._edit, AnswerKeys.LETTERS)
        s.app.push_screen(self.dialog, self.closed.append)

    async def _edit(self, editable: Editable) -> Outcome:
        self.asked.append(editable)
        return await self.outcome


async def editing(s: Stage) -> Desk:
    desk = Desk(s)
    await s.ready_dialog()
    await s.pilot.press("e")
    await s.until(lambda: desk.asked == [SHELL.editable])
    return desk


@pytest.mark.parametrize(
    ("outcome", "closed"),
    [
        (Edited("make clean"), [Closed(ApprovalReply(Decision.MODIFY, edited="make clean"))]),
        (NotEdited("It came to nothing."), []),
    ],
)
async def test_what_the_editor_gave_is_the_answer_and_no_key_before(
    outcome: Outcome, closed: list[Closed]
) -> None:
    async with stage() as s:
        desk = await editing(s)
        await s.pilot.press("ctrl+y", "n", "x", "escape")
        assert desk.closed == []
        desk.outcome.set_result(outcome)
        await s.until(lambda: bool(desk.closed) or "It came to nothing." in s.drawn())
        assert (desk.closed, s.draft) == (closed, "")


async def test_keys_right_after_the_editor_closed_answer_nothing() -> None:
    async with stage() as s:
        desk = await editing(s)
        desk.outcome.set_result(NotEdited("It came to nothing."))
        await s.until(lambda: not desk.dialog.is_ready)
        s.app.post_message(events.Key("ctrl+y", None))
        await s.ready_dialog()
        assert desk.closed == []


async def test_a_request_withdrawn_meanwhile_closes_after_the_editor() -> None:
    async with stage() as s:
        desk = await editing(s)
        desk.dialog.withdraw()
        await s.pilot.pause()
        assert desk.closed == []
        desk.outcome.set_result(Edited("too late"))
        await s.until(lambda: desk.closed == [Closed(None)])


async def test_a_long_paste_shows_in_full_where_it_would_be_approved() -> None:
    async with stage() as s:
        await edit_here(s)
        s.app.post_message(events.Paste("\nmake\nmake test\nmake dist\nrm -rf /srv/other"))
        await s.until(lambda: "rm -rf /srv/other" in s.drawn())
