"""Every event reaches the screen."""

from pathlib import Path
from typing import get_args

import pytest

from coder_tui.protocol.access import Mode, ToolKind
from coder_tui.protocol.diagnostics import ChangeCounts, Diagnostic, ProposalCheck, ServerStatus, Severity
from coder_tui.protocol.display import TerminalBlock, TextBlock
from coder_tui.protocol.events import (
    CompactionFinished,
    CompactionStarted,
    DiagnosticsAwaited,
    DiagnosticsChanged,
    Event,
    FilesChanged,
    MessageFinished,
    ModeChanged,
    ModelChanged,
    Notice,
    ProfileChanged,
    ProposalChecked,
    QueueChanged,
    RequestClosed,
    RequestOpened,
    RetryScheduled,
    ServerStatusChanged,
    SessionRenamed,
    SessionStarted,
    SubagentEvent,
    SubagentStarted,
    TextDelta,
    ThinkingDelta,
    TodosChanged,
    ToolFinished,
    ToolProgressed,
    ToolProposed,
    ToolStarted,
    TurnFailed,
    TurnFinished,
    TurnStarted,
    UsageUpdated,
    UserMessageAdded,
)
from coder_tui.protocol.messages import Usage
from coder_tui.protocol.outcomes import NoticeLevel, Outcome, TurnOutcome
from coder_tui.protocol.todos import TodoItem, TodoPriority, TodoStatus
from coder_tui.workspace.undo.changed_files import ChangedFile
from tests.fakes.screens import shell_request, stage

TODO = TodoItem("1", "write it down", TodoStatus.PENDING, TodoPriority.LOW)
PROBLEM = Diagnostic("a.py", 3, 7, Severity.ERROR, "it is not defined")
CHECK = ProposalCheck(ServerStatus.FRESH, ChangeCounts(2, 1), (PROBLEM,), is_known=True)
STARTED = ToolStarted("call-r1", "bash", ToolKind.EXECUTE, "make all")

# What happens, and words that are then on the screen.
SHOWN: list[tuple[tuple[Event, ...], str]] = [
    ((SessionStarted("s", "t", "/d", "vendor/model-x", Mode.PLAN, False),), "PLAN"),
    ((SessionStarted("s", "t", "/d", "m", Mode.ASK, False, is_confined=False),), "no sandbox"),
    ((ModelChanged("vendor/model-y", 1000),), "model-y"),
    ((ModeChanged(Mode.EDITS),), "EDITS"),
    ((ProfileChanged("reviewer"),), "reviewer"),
    ((TurnStarted(1),), "working"),
    ((UserMessageAdded("u", "my words"),), "my words"),
    ((QueueChanged(("later words",)),), "queued  later words"),
    ((TextDelta("m", "streamed words"),), "streamed words"),
    ((ThinkingDelta("m", "deep thought"),), "deep thought"),
    ((MessageFinished("m", "whole answer", ""),), "whole answer"),
    ((TurnFinished(1, TurnOutcome.LIMIT, "The step limit is met.", 5),), "The step limit is met."),
    ((TurnFailed(1, "No route.", "Try later."),), "No route. Try later."),
    ((ToolProposed("c", "bash", 120),), "bash"),
    ((STARTED,), "make all"),
    ((STARTED, ToolProgressed("call-r1", "42 items\n")), "42 items"),
    ((ToolFinished("c", "bash", Outcome.FAILED, "make", TextBlock("it broke"), 5),), "it broke"),
    ((STARTED, RequestOpened(shell_request())), "Run this command?"),
    ((STARTED, RequestOpened(shell_request()), RequestClosed("r1", None)), "running"),
    ((UsageUpdated(Usage(), Usage(900, 100, cost=1.5), 500, 1000),), "50%"),
    ((TodosChanged((TODO,)),), "write it down"),
    ((DiagnosticsChanged("a.py", (PROBLEM,)),), "it is not defined"),
    ((DiagnosticsAwaited(("slow.py",)),), "problems ?"),
    (
        (RequestOpened(shell_request()), ProposalChecked("call-r1", CHECK)),
        "+2 errors -1: 3:7 it is not defined",
    ),
    ((ServerStatusChanged("pylsp", "py", ServerStatus.CRASHED, "it ended"),), "[LSP] pylsp: it ended"),
    ((RetryScheduled(2, 3.0, "Server error."),), "Server error. Attempt 2 failed, retrying in 3 s."),
    ((Notice(NoticeLevel.WARNING, "mind the gap"),), "mind the gap"),
    ((CompactionStarted(),), "Summarising the conversation"),
    ((CompactionFinished(9000, 1000, 12),), "Compacted 12 messages: about 9,000 tokens became 1,000."),
    ((STARTED, SubagentEvent("call-r1", "k", "explore", SubagentStarted("find it", "m"))), "explore queued"),
]


@pytest.mark.parametrize(("happened", "words"), SHOWN, ids=lambda value: type(value[-1]).__name__)
async def test_an_event_shows(happened: tuple[Event, ...], words: str) -> None:
    async with stage(size=(150, 30)) as s:
        s.session.emit(*happened)
        await s.until(lambda: words in s.drawn())


async def test_changed_files_are_asked_for_and_shown() -> None:
    async with stage(size=(150, 30)) as s:
        s.session.files = (ChangedFile(Path("/srv/project/new.py"), 1, None, b"x = 1\n"),)
        s.session.emit(FilesChanged(("new.py",)))
        await s.shows("A new.py")


async def test_what_the_program_tells_the_model_is_not_shown_as_a_user_message() -> None:
    async with stage() as s:
        s.session.emit(UserMessageAdded("v", "The check failed.", is_typed=False))
        await s.shows("The check failed.")
        assert s.screen.router is not None
        assert ("you  The check" in s.drawn(), s.screen.router.sent) == (False, [])


async def test_a_new_title_is_remembered_for_the_exit_summary() -> None:
    async with stage() as s:
        s.session.emit(SessionRenamed("better name"))
        assert s.screen.router is not None
        assert s.screen.router.title == "better name"


def test_every_event_is_covered_here() -> None:
    tried = {type(event) for happened, _ in SHOWN for event in happened} | {SessionRenamed, FilesChanged}
    assert set(get_args(Event)) - tried == set()


async def test_a_denied_call_keeps_what_it_would_have_done() -> None:
    request = shell_request(preview=TerminalBlock("echo first\necho second", "", None))
    async with stage() as s:
        denied = ToolFinished("call-r1", "bash", Outcome.DENIED, "echo first …", TextBlock("not now"), 0)
        s.session.emit(STARTED, RequestOpened(request), RequestClosed("r1", None), denied)
        await s.until(lambda: s.dialog is None and "not now" in s.drawn())
        assert "echo second" not in s.drawn()
        await s.pilot.press("ctrl+o")
        await s.shows("echo second")


@pytest.mark.parametrize(("is_again", "notice_first"), [(False, False), (True, True)])
async def test_a_notice_that_was_shown_before_goes_first(*, is_again: bool, notice_first: bool) -> None:
    earlier = (UserMessageAdded("u", "my words"), Notice(NoticeLevel.WARNING, "mind the gap"))
    async with stage() as s:
        assert s.screen.router is not None
        s.screen.router.route_earlier(earlier, is_again=is_again)
        await s.until(lambda: "mind the gap" in s.drawn() and "my words" in s.drawn())
        drawn = s.drawn()
    assert (drawn.index("mind the gap") < drawn.index("my words")) is notice_first
