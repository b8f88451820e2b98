"""Single hunks of a change can be refused in its approval; typing still answers nothing."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coder_tui.diffs.unified import unified_diff
from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.display import DiffBlock
from coder_tui.protocol.events import RequestOpened
from coder_tui.protocol.requests import ApprovalReply, ApprovalRequest, Decision, Grant
from coder_tui.ui.requests.approval import ApprovalScreen
from coder_tui.ui.requests.key_guard import ARM, ApprovalGuard, Choice, Chosen, Demoted, Passed, Stay
from tests.fakes.screens import Stage, stage

OLD = "".join(f"line {n}\n" for n in range(1, 61))
NEW = OLD.replace("line 3\n", "third\n").replace("line 30\n", "").replace("line 55\n", "line 55\nmore\n")
DIFF = unified_diff("calc.py", OLD, NEW)
ONE = unified_diff("a", "a\n", "b\n")
GRANT = Grant("edit", ("calc.py",), "this file")
EDIT = ApprovalRequest(
    id="e1",
    call_id="c",
    tool="edit",
    kind=ToolKind.EDIT,
    title="Allow edit?  calc.py",
    preview=DiffBlock("calc.py", DIFF.text, DIFF.additions, DIFF.deletions),
    grants=(GRANT,),
    is_undoable=True,
    files=(DIFF.file,),
)


async def open_dialog(s: Stage, request: ApprovalRequest = EDIT) -> ApprovalScreen:
    s.session.emit(RequestOpened(request))
    return await s.ready_dialog()


async def press(s: Stage, *keys: str) -> None:
    """Press each key after a pause, as a user who reads does."""
    for key in keys:
        await s.pilot.press(key)
        await s.ready_dialog()


async def answered(s: Stage) -> ApprovalReply:
    await s.until(lambda: len(s.session.answers) == 1)
    reply = s.session.answers[0][1]
    assert isinstance(reply, ApprovalReply)
    return reply


async def test_the_marked_hunk_is_refused_and_the_rest_allowed() -> None:
    async with stage(size=(100, 40)) as s:
        await open_dialog(s)
        await s.shows("] [ x refuse a hunk")
        await press(s, "right_square_bracket", "x")
        await s.shows("1 of 3 hunks refused  ready")
        await s.shows("▌✗")
        await s.pilot.press("ctrl+y")
        assert await answered(s) == ApprovalReply(Decision.ALLOW_ONCE, refused=EDIT.hunk_ids[1:2])


@pytest.mark.parametrize(
    "keys", [("x", "right_square_bracket", "right_square_bracket", "x"), ("alt+x", "alt+j", "alt+j", "alt+x")]
)
async def test_letters_and_chords_move_and_refuse_in_a_row(keys: tuple[str, ...]) -> None:
    async with stage(size=(100, 40)) as s:
        await open_dialog(s)
        await s.pilot.press(*keys)
        await s.ready_dialog()
        await s.pilot.press("y")
        assert await answered(s) == ApprovalReply(Decision.ALLOW_ONCE, refused=EDIT.hunk_ids[::2])


async def test_a_refusal_can_be_undone_and_refusing_all_hunks_denies_the_call() -> None:
    async with stage(size=(100, 40)) as s:
        await open_dialog(s)
        await press(s, "x", "x")
        assert "hunks refused" not in s.drawn()
        await press(s, "x", "right_square_bracket", "x", "right_square_bracket", "right_square_bracket", "x")
        await s.shows("all hunks refused: ^Y denies")
        await s.pilot.press("ctrl+y")
        assert await answered(s) == ApprovalReply(Decision.DENY)


async def test_a_scope_is_granted_without_the_refused_hunk() -> None:
    async with stage(size=(100, 40)) as s:
        await open_dialog(s)
        await press(s, "x")
        await s.pilot.press("alt+a", "1", "ctrl+y")
        assert await answered(s) == ApprovalReply(
            Decision.ALLOW_ALWAYS, grant=GRANT, refused=EDIT.hunk_ids[:1]
        )


async def test_moving_to_a_hunk_scrolls_to_it_in_a_small_terminal() -> None:
    async with stage(size=(80, 24)) as s:
        await open_dialog(s)
        await press(s, "right_square_bracket", "right_square_bracket")
        assert "▌" in next(row for row in s.drawn().splitlines() if "+ more" in row)


async def test_every_character_of_a_long_line_is_shown() -> None:
    new = NEW.replace("third", "third" + "x" * 5000 + "THE END")
    diff = unified_diff("calc.py", OLD, new)
    request = replace(EDIT, preview=DiffBlock("calc.py", diff.text, 2, 2), files=(diff.file,))
    async with stage(size=(100, 120)) as s:
        await open_dialog(s, request)
        await s.shows("THE END")


@pytest.mark.parametrize(
    "request_",
    [
        replace(EDIT, files=()),
        replace(EDIT, preview=DiffBlock("a", ONE.text, 1, 1), files=(ONE.file,)),
    ],
)
async def test_hunk_keys_are_typing_if_there_is_one_hunk(request_: ApprovalRequest) -> None:
    async with stage() as s:
        await open_dialog(s, request_)
        assert "refuse a hunk" not in s.drawn()
        await s.pilot.press("x")
        await s.until(lambda: s.dialog is None)
        assert (s.draft, s.session.answers) == ("x", [])


async def test_a_sentence_that_begins_with_a_hunk_key_reaches_the_draft() -> None:
    async with stage() as s:
        await open_dialog(s)
        await s.pilot.press("left_square_bracket", "x", "right_square_bracket", *"do")
        await s.until(lambda: s.dialog is None)
        assert (s.draft, s.session.answers) == ("[x]do", [])


def guard() -> ApprovalGuard:
    return ApprovalGuard({"y": Choice.ALLOW, "n": Choice.DENY}, 0, 0.0, moves="][x")


def test_an_answer_right_after_a_move_does_not_count() -> None:
    made = guard()
    assert made.press("x", "x", 1.0) == Passed("x")
    assert made.press("y", "y", 1.1) == Stay()
    assert made.wake(9.0) == Stay()
    assert made.press("e", "e", 1.2) == Demoted()
    assert made.release() == "xye"


def test_an_earlier_move_is_not_typing() -> None:
    made = guard()
    assert made.press("x", "x", 1.0) == Passed("x")
    assert made.press("y", "y", 2.0) == Stay()
    assert made.wake(2.0 + ARM) == Chosen(Choice.ALLOW)
    assert made.release() == ""


def test_nothing_moves_before_the_dialog_is_ready() -> None:
    made = guard()
    assert made.press("x", "x", ARM / 2) == Demoted()
    assert made.release() == "x"


@given(st.lists(st.tuples(st.sampled_from("][xynabc "), st.floats(0.0, 0.3)), min_size=2, max_size=12))
@settings(max_examples=300, deadline=None)
def test_fast_typing_neither_answers_nor_gets_lost(keys: list[tuple[str, float]]) -> None:
    """A burst with a letter that is no answer always ends in the draft, in full."""
    made, at, typed = guard(), 1.0, ""
    for character, gap in [*keys, ("q", 0.1)]:
        at += gap
        typed += character
        verdict = made.press("space" if character == " " else character, character, at)
        assert not isinstance(verdict, Chosen)
        if isinstance(verdict, Demoted):
            break
    assert (isinstance(verdict, Demoted), made.release()) == (True, typed)
