"""How a change is shown in its approval: in one column or two, with long lines wrapped or cut off."""

from dataclasses import replace

from coder_tui.diffs.unified import unified_diff
from coder_tui.protocol.display import DiffBlock
from coder_tui.protocol.events import RequestOpened
from coder_tui.protocol.requests import ApprovalRequest, Decision
from coder_tui.ui.launch import AnswerKeys
from coder_tui.ui.requests.approval import CUT, ApprovalScreen
from tests.fakes.fake_session import FakeSession
from tests.fakes.screens import Stage, launch_for, stage
from tests.ui.requests.test_approval_hunks import EDIT, answered, press

LONG = "x" * 150 + " the end"
DIFF = unified_diff("calc.py", "one\nold words\nthree\n", f"one\nnew words\n{LONG}\nthree\n")
PLAIN = replace(
    EDIT,
    preview=DiffBlock("calc.py", DIFF.text, DIFF.additions, DIFF.deletions),
    files=(),
)


async def opened(s: Stage, request: ApprovalRequest = PLAIN) -> ApprovalScreen:
    s.session.emit(RequestOpened(request))
    return await s.ready_dialog()


def has_two_columns(s: Stage) -> bool:
    return any("old words" in line and "new words" in line for line in s.drawn().splitlines())


async def test_there_are_two_columns_if_there_is_room_and_a_key_changes_that() -> None:
    async with stage(size=(160, 40)) as s:
        await opened(s)
        assert has_two_columns(s)
        await press(s, "vertical_line")
        assert not has_two_columns(s)
        await press(s, "vertical_line")
        assert has_two_columns(s)
        assert s.session.answers == []


async def test_a_narrow_dialog_has_one_column_until_two_are_wanted() -> None:
    async with stage(size=(100, 40)) as s:
        await opened(s)
        assert not has_two_columns(s)
        await press(s, "vertical_line")
        assert has_two_columns(s)


async def test_hunks_can_be_visited_in_two_columns() -> None:
    async with stage(size=(160, 50)) as s:
        await opened(s, EDIT)
        await press(s, "right_square_bracket", "x")
        assert any("▌✗" in line and "│" in line for line in s.drawn().splitlines())
        await s.pilot.press("ctrl+y")
        assert (await answered(s)).refused == EDIT.hunk_ids[1:2]


async def test_a_change_with_cut_off_lines_cannot_be_allowed() -> None:
    async with stage(size=(80, 40)) as s:
        s.session.emit(RequestOpened(PLAIN))
        await s.until(lambda: s.dialog is not None)
        dialog = s.dialog
        assert dialog is not None
        diff = dialog._dialog.preview.diff
        assert diff is not None
        diff.turn_wrap()  # before anything counts as seen
        await s.ready_dialog()
        assert "the end" not in s.drawn()
        await s.pilot.press("ctrl+y")
        await s.until(lambda: CUT[:30] in s.drawn())
        assert s.session.answers == []
        await press(s, "w")
        await s.shows("the end")
        await s.pilot.press("ctrl+y")
        assert (await answered(s)).decision is Decision.ALLOW_ONCE


async def test_layout_letters_are_text_if_a_sentence_follows() -> None:
    async with stage(size=(100, 40)) as s:
        await opened(s)
        for key in "why":
            await s.pilot.press(key)
        await s.until(lambda: s.draft == "why")
        assert s.session.answers == []


async def test_chords_work_if_letters_are_off() -> None:
    session = FakeSession()
    launch = replace(launch_for(session), answer_keys=AnswerKeys.CHORD)
    async with stage(session, (100, 40), launch) as s:
        await opened(s)
        await press(s, "alt+l")
        assert has_two_columns(s)
        await press(s, "alt+z")
        assert "the end" not in s.drawn()
