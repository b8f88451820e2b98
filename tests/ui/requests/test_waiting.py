"""The list of pending requests: opened one at a time, or marked and answered together."""

from dataclasses import replace

import pytest

from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.display import DiffBlock, TextBlock
from coder_tui.protocol.events import RequestClosed, RequestOpened
from coder_tui.protocol.requests import (
    ApprovalReply,
    ApprovalRequest,
    Attendance,
    Decision,
    PlanDecision,
    PlanReply,
    QuestionReply,
    Request,
)
from coder_tui.ui.requests.approval import ApprovalScreen
from coder_tui.ui.requests.pending import MOST_TOGETHER, PendingScreen, objection, refuse_all
from tests.fakes.questions import plan, questions
from tests.fakes.screens import Stage, shell_request, stage

ONCE = ApprovalReply(Decision.ALLOW_ONCE)
DENY = ApprovalReply(Decision.DENY)
SHELLS = tuple(shell_request(f"r{number}", f"make {number}") for number in range(1, 4))


def edit(id: str) -> ApprovalRequest:
    preview = DiffBlock(f"{id}.py", "@@ -1 +1 @@\n-a\n+b\n", 1, 1)
    return ApprovalRequest(id, f"c-{id}", "edit", ToolKind.EDIT, f"edit {id}", preview, is_undoable=True)


async def listed(s: Stage, *requests: Request) -> PendingScreen:
    await s.pilot.press("x")
    s.session.emit(*map(RequestOpened, requests))
    await s.pilot.press("f8")
    return await ready(s)


async def ready(s: Stage) -> PendingScreen:
    await s.until(lambda: isinstance(s.app.screen, PendingScreen) and s.app.screen.is_ready)
    await s.pilot.pause()
    assert isinstance(s.app.screen, PendingScreen)
    return s.app.screen


async def test_the_list_names_agent_tool_and_summary_and_enter_opens_one() -> None:
    async with stage(size=(80, 24)) as s:
        other = replace(SHELLS[1], agent="explore")
        await listed(s, SHELLS[0], other, questions(), plan())
        drawn = s.drawn()
        assert "4 waiting" in drawn
        assert "explore  bash  make 2" in drawn
        assert "question  Storage, Tests, Release" in drawn
        assert "plan_exit  Make div safe" in drawn
        await s.pilot.press("j", "enter")
        await s.ready_dialog()
        assert s.dialog is not None
        assert s.dialog.request == other
        assert s.draft == "x"


async def test_marked_requests_of_one_rule_are_read_and_then_allowed_together() -> None:
    async with stage() as s:
        await listed(s, *SHELLS)
        await s.pilot.press("space", "space", "ctrl+y")
        await s.until(lambda: "Allow these 2 requests once?" in s.drawn() and "make 2" in s.drawn())
        assert s.session.answers == []
        await ready(s)
        await s.pilot.press("ctrl+y")
        await s.until(lambda: s.session.answers == [("r1", ONCE), ("r2", ONCE)])


async def test_the_chord_pressed_twice_at_once_does_not_allow() -> None:
    async with stage() as s:
        await listed(s, *SHELLS)
        await s.pilot.press("a", "ctrl+y", "ctrl+y")
        await ready(s)
        assert s.session.answers == []


async def test_a_long_command_among_them_must_be_scrolled_to_its_end() -> None:
    long = shell_request("r9", "\n".join(f"echo {number}" for number in range(80)))
    async with stage(size=(80, 24)) as s:
        await listed(s, SHELLS[0], long)
        await s.pilot.press("a", "ctrl+y")
        await ready(s)
        await s.pilot.press("ctrl+y")
        await s.shows("Scroll to the end first")
        assert s.session.answers == []
        await s.pilot.press("end")
        await s.shows("echo 79")
        await ready(s)
        await s.pilot.press("ctrl+y")
        await s.until(lambda: s.session.answers == [("r1", ONCE), ("r9", ONCE)])


async def test_what_cannot_be_undone_is_shown_in_full_before_it_is_allowed() -> None:
    arguments = '{"body": "first line\\nlast line"}'
    calls = [replace(shell_request(id, "create_issue"), preview=TextBlock(arguments)) for id in ("m1", "m2")]
    async with stage() as s:
        await listed(s, *calls)
        await s.pilot.press("a", "ctrl+y")
        await s.until(lambda: s.drawn().count(arguments) == 2 and "cannot be undone" in s.drawn())
        assert s.session.answers == []


async def test_all_can_be_refused_whatever_they_are() -> None:
    async with stage() as s:
        await listed(s, SHELLS[0], questions(), plan())
        await s.pilot.press("a", "n")
        await s.shows("Refuse these 3 requests?")
        await ready(s)
        await s.pilot.press("ctrl+y")
        replies = refuse_all((SHELLS[0], questions(), plan()))
        await s.until(lambda: s.session.answers == list(replies))
        assert [reply for _, reply in replies] == [
            DENY,
            QuestionReply(Attendance.CANCELLED),
            PlanReply(PlanDecision.REFUSE),
        ]


async def test_escape_goes_back_to_the_list_and_then_to_the_draft() -> None:
    async with stage() as s:
        await listed(s, *SHELLS)
        await s.pilot.press("n")
        await s.until(lambda: "Refuse this request?" in s.drawn() and "refuse it" in s.drawn())
        await s.pilot.press("escape")
        await s.shows("3 waiting")
        await s.pilot.press("escape")
        await s.until(lambda: s.app.screen is s.screen)
        assert (s.draft, s.session.answers) == ("x", [])
        assert s.screen.focused is s.screen.prompt


async def test_what_is_typed_into_the_list_goes_to_the_draft() -> None:
    async with stage() as s:
        await listed(s, *SHELLS)
        await s.pilot.press(*"yes")
        await s.until(lambda: s.draft == "xyes")
        assert s.session.answers == []


async def test_a_request_that_is_withdrawn_leaves_the_list() -> None:
    async with stage() as s:
        await listed(s, *SHELLS)
        s.session.emit(RequestClosed("r1", None))
        await s.shows("2 waiting")
        s.session.emit(RequestClosed("r2", None), RequestClosed("r3", None))
        await s.until(lambda: s.app.screen is s.screen)
        assert s.session.answers == []


async def test_a_dialog_leads_to_the_list() -> None:
    async with stage() as s:
        s.session.emit(*map(RequestOpened, SHELLS))
        await s.ready_dialog()
        await s.pilot.press("f8")
        await ready(s)
        await s.shows("3 waiting")


async def test_a_thousand_requests_are_listed_and_answered() -> None:
    many = tuple(edit(f"e{number}") for number in range(1000))
    async with stage() as s:
        await listed(s, *many)
        await s.pilot.press("a", "G")
        await s.until(lambda: "1000 waiting, 1000 marked" in s.drawn() and "edit e999" in s.drawn())
        await s.pilot.press("ctrl+y")
        await ready(s)
        await s.pilot.press("end")
        await s.shows("edit e999")
        await ready(s)
        await s.pilot.press("ctrl+y")
        await s.until(lambda: s.session.answers == [(request.id, ONCE) for request in many])


@pytest.mark.parametrize(
    ("requests", "is_fine"),
    [
        (SHELLS, True),
        ((edit("a"), edit("b")), True),
        ((edit("a"), SHELLS[0]), False),
        ((SHELLS[0], replace(SHELLS[1], rule="another")), False),
        ((SHELLS[0], questions()), False),
        ((SHELLS[0], shell_request("r8", "\u0441url x")), False),
        ((SHELLS[0], shell_request("r8", "make \u202e")), False),
        (tuple(replace(SHELLS[0], id=str(number)) for number in range(MOST_TOGETHER + 1)), False),
    ],
)
def test_what_may_be_allowed_together(requests: tuple[Request, ...], is_fine: bool) -> None:
    assert (objection(requests) == "") is is_fine


async def test_why_the_user_is_asked_is_shown_and_closed_with_escape() -> None:
    async with stage() as s:
        s.session.emit(RequestOpened(SHELLS[0]))
        await s.ready_dialog()
        await s.pilot.press("question_mark")
        await s.shows("Why you are being asked")
        await s.shows("because  deletes files")
        await s.pilot.press("escape")
        await s.until(lambda: "Why you are being asked" not in s.drawn())
        assert isinstance(s.app.screen, ApprovalScreen)
        assert s.session.answers == []
