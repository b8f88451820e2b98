"""The plain front end: text, numbers, and menus that typing ahead cannot answer."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import cast

import pytest

from coder_tui.agent.session import Session
from coder_tui.plain.session import ARMING, HELP, InputLines, PlainSession
from coder_tui.protocol.access import Mode, ToolKind
from coder_tui.protocol.diagnostics import ChangeCounts, Diagnostic, ProposalCheck, ServerStatus, Severity
from coder_tui.protocol.display import DiffBlock, TerminalBlock, TextBlock
from coder_tui.protocol.events import (
    Event,
    MessageFinished,
    ProposalChecked,
    RequestClosed,
    RequestOpened,
    SubagentEvent,
    SubagentFinished,
    SubagentStarted,
    TextDelta,
    ToolFinished,
    ToolStarted,
    TurnFinished,
)
from coder_tui.protocol.messages import UserMessage
from coder_tui.protocol.outcomes import Outcome, TurnOutcome
from coder_tui.protocol.requests import ApprovalReply, ApprovalRequest, Decision, Grant, Reply
from coder_tui.protocol.subagents import ChildState
from tests.fakes.fake_session import FakeSession
from tests.fakes.program import Program
from tests.fakes.scripted_model import Say
from tests.fakes.world import world


def command_request(id: str = "r1") -> ApprovalRequest:
    return ApprovalRequest(
        id=id,
        call_id=f"call-{id}",
        tool="bash",
        kind=ToolKind.EXECUTE,
        title="Run this command?",
        preview=TerminalBlock("rm -rf build", "", None),
        facts=("deletes files",),
        grants=(Grant("bash", ("rm -rf build",), "this command"), Grant("bash", ("*",), "every command")),
        rule="* = ask (defaults)",
    )


class TypedLines:
    """Lines as the test types them."""

    def __init__(self) -> None:
        self.queue: asyncio.Queue[str | None] = asyncio.Queue()

    async def next(self) -> str | None:
        return await self.queue.get()


class Talk:
    """A running plain session; time stands still but for `pass_time`."""

    def __init__(self, fake: FakeSession, *, is_typed: bool = True) -> None:
        self.session = fake
        self.printed = ""
        self.now = 100.0
        self.lines = TypedLines()
        self.plain = PlainSession(
            cast(Session, fake),
            cast(InputLines, self.lines),
            self._write,
            lambda: self.now,
            is_typed=is_typed,
        )
        self.task = asyncio.create_task(self.plain.run())

    def _write(self, text: str) -> None:
        self.printed += text

    async def type(self, *lines: str | None) -> None:
        for line in lines:
            self.lines.queue.put_nowait(line)
        await self.settled()

    async def settled(self) -> None:
        for _ in range(20):
            await asyncio.sleep(0)

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(10):
            while not condition():
                await self.settled()

    def emit(self, *events: Event) -> None:
        self.session.emit(*events)

    def answered(self) -> list[Reply]:
        return [reply for _, reply in self.session.answers]


async def started(fake: FakeSession | None = None, *, is_typed: bool = True) -> Talk:
    talk = Talk(fake or FakeSession(), is_typed=is_typed)
    await talk.settled()
    talk.printed = ""
    return talk


async def test_text_streams_and_calls_are_described() -> None:
    talk = await started()
    await talk.type("go")
    diff = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
    talk.emit(
        TextDelta("m", "I will \x1b[31m"),
        TextDelta("m", "look."),
        MessageFinished("m", "I will \x1b[31mlook.", ""),
        ToolStarted("c", "edit", ToolKind.EDIT, "x"),
        ToolFinished("c", "edit", Outcome.OK, "x +1 -1", DiffBlock("x", diff, 1, 1), 1500),
        ToolFinished("d", "read", Outcome.OK, "y", TextBlock("1\n2\n3\n4\n5"), 0),
        ToolFinished("e", "bash", Outcome.FAILED, "make", TerminalBlock("make", "no rule", 2), 0),
    )
    assert talk.printed.splitlines() == [
        "I will ␛[31mlook.",
        "[edit] x",
        "[edit] x +1 -1: done, 1.5 seconds",
        "    --- a/x",
        "    +++ b/x",
        "    @@ -1 +1 @@",
        "    -a",
        "    +b",
        "[read] y: done",
        "    (5 lines; /show prints them)",
        "[bash] make: failed",
        "    $ make",
        "    no rule",
        "    exit code 2",
    ]


async def test_sub_agents_are_named_and_their_text_is_left_out() -> None:
    talk = await started()
    await talk.type("go")
    talk.session.emit(
        SubagentEvent("c", "k", "explore", SubagentStarted("find it\nsomewhere", "m")),
        SubagentEvent("c", "k", "explore", TextDelta("m", "I think")),
        SubagentEvent("c", "k", "explore", ToolFinished("t", "grep", Outcome.OK, "it", TextBlock(""), 5)),
        SubagentEvent("c", "k", "explore", SubagentFinished(ChildState.OK, "found\nhere", 5)),
    )
    await talk.settled()
    assert [line for line in talk.printed.split("\n") if "explore" in line] == [
        "[explore] started: find it",
        "[explore] [grep] it: done",
        "[explore] ok: found",
    ]
    assert "I think" not in talk.printed
    await talk.type(None)


async def test_a_command_of_the_screen_is_not_sent_to_the_model() -> None:
    talk = await started()
    await talk.type("/theme dark")
    await talk.settled()
    expected = "/theme needs the full screen. Nothing was sent. Try /help."
    assert expected in talk.printed.splitlines()
    assert talk.session.submitted == []
    await talk.type(None)


async def test_a_command_says_what_undo_can_restore() -> None:
    talk = await started()
    talk.emit(RequestOpened(replace(command_request(), sandbox="bubblewrap: no network")))
    assert (
        "  - /undo restores files in this folder, except ignored or very large ones, and nothing else"
        in talk.printed.splitlines()
    )


async def test_a_request_is_a_numbered_menu_and_only_a_number_answers() -> None:
    talk = await started()
    await talk.type("go")
    talk.emit(RequestOpened(command_request()))
    assert talk.printed.splitlines() == [
        "Run this command?",
        "    $ rm -rf build",
        "  - deletes files",
        "  - this cannot be undone",
        "  - rule: * = ask (defaults)",
        "  1  allow once",
        "  2  deny",
        "  3  deny and say why",
        "  4  stop the turn",
        "  5  allow always: this command",
        "  6  allow always: every command",
        "Type a number from 1 to 6, then press Enter:",
    ]
    talk.now += ARMING
    await talk.type("", "yes", "0", "7", "1 please")
    assert talk.answered() == []
    await talk.type("1")
    assert talk.answered() == [ApprovalReply(Decision.ALLOW_ONCE)]


async def test_a_line_typed_before_the_menu_could_be_read_is_no_answer() -> None:
    talk = await started()
    await talk.type("go")
    talk.emit(RequestOpened(command_request()))
    talk.now += ARMING / 2
    await talk.type("1")
    assert talk.answered() == []
    assert "not used as an answer" in talk.printed
    talk.now += ARMING
    await talk.type("2")
    assert talk.answered() == [ApprovalReply(Decision.DENY)]


async def test_a_refusal_may_have_a_reason_and_a_grant_a_scope() -> None:
    talk = await started()
    await talk.type("go")
    request = command_request()
    talk.emit(RequestOpened(request), RequestOpened(command_request("r2")))
    talk.now += ARMING
    await talk.type("3", "use make clean")
    talk.emit(RequestClosed("r1", None))
    talk.now += ARMING
    await talk.type("5")
    assert talk.session.answers == [
        ("r1", ApprovalReply(Decision.DENY, "use make clean")),
        ("r2", ApprovalReply(Decision.ALLOW_ALWAYS, grant=request.grants[0])),
    ]


async def test_a_withdrawn_request_closes_its_menu() -> None:
    talk = await started()
    await talk.type("go")
    talk.emit(RequestOpened(command_request()), RequestClosed("r1", None))
    talk.now += ARMING
    await talk.type("1")
    assert talk.answered() == []
    assert talk.session.withdraw_queued() == ("1",)


async def test_lines_while_the_agent_works_are_queued() -> None:
    talk = await started()
    await talk.type("one", "two")
    assert (talk.session.submitted, talk.session.withdraw_queued()) == (["one"], ("two",))
    assert "Queued: two" in talk.printed


@pytest.mark.parametrize(("is_typed", "offers"), [(True, 1), (False, 0)], ids=["user", "pipe"])
async def test_a_check_is_offered_if_somebody_can_answer(*, is_typed: bool, offers: int) -> None:
    talk = await started(is_typed=is_typed)
    await talk.type("go")
    talk.session.finish()
    await talk.until(lambda: talk.printed.endswith("> ") or not is_typed)
    assert talk.session.verifier.offers == offers


@pytest.mark.parametrize("outcome", [TurnOutcome.INTERRUPTED, TurnOutcome.LIMIT])
async def test_a_queued_line_that_was_not_sent_is_shown(outcome: TurnOutcome) -> None:
    talk = await started()
    await talk.type("one", "two")
    talk.session.finish(outcome)
    assert "Not sent: two" in talk.printed
    assert talk.session.withdraw_queued() == ()


async def test_the_end_of_input_stops_an_interactive_turn() -> None:
    talk = await started()
    await talk.type("go", None)
    await talk.until(talk.task.done)
    assert talk.session.interrupts == 1


async def test_a_pipe_is_read_a_line_at_a_time_and_nobody_answers_at_its_end() -> None:
    talk = await started(is_typed=False)
    await talk.type("go", "1", None)
    assert talk.session.submitted == ["go"]
    talk.emit(RequestOpened(command_request("r1")))
    await talk.until(lambda: talk.answered() == [ApprovalReply(Decision.ALLOW_ONCE)])
    talk.emit(RequestClosed("r1", None), RequestOpened(command_request("r2")))
    await talk.until(lambda: len(talk.answered()) > 1)
    assert talk.answered()[1] == ApprovalReply(Decision.NOBODY_THERE)
    talk.session.finish()
    await talk.until(talk.task.done)
    assert ">" not in talk.printed.replace("->", "")


async def test_an_agent_is_chosen_by_its_name() -> None:
    talk = await started()
    await talk.type("/agent", "/agent explor", "/agent plan")
    assert talk.printed.splitlines() == [
        "build: Reads, edits and runs; asks if your rules say so",
        "plan: Reads, asks and makes a plan; changes nothing",
        "> there is no agent 'explor'; did you mean explore?",
        "> Switched to plan.",
        "> ",
    ]
    assert talk.session.profiles.current.name == "plan"
    await talk.type(None)


async def test_commands_show_change_the_mode_and_leave() -> None:
    talk = await started()
    await talk.type("/show", "/help", "/mode plan")
    assert talk.session.mode is Mode.PLAN
    assert talk.printed.splitlines() == [
        "There is nothing to show yet.",
        f"> {HELP}",
        "> Mode: plan.",
        "> ",
    ]
    talk.printed = ""
    talk.emit(ToolFinished("d", "read", Outcome.OK, "y", TextBlock("1\n2\n3\n4\n5"), 0))
    await talk.type("/show")
    assert "1\n2\n3\n4\n5\n" in talk.printed
    await talk.type("/quit")
    await talk.until(talk.task.done)


async def test_a_turn_says_how_it_ended() -> None:
    talk = await started()
    await talk.type("go")
    talk.emit(TurnFinished(1, TurnOutcome.LIMIT, "The limit of 5 steps is reached.", 1))
    talk.emit(TurnFinished(1, TurnOutcome.INTERRUPTED, "", 1))
    assert talk.printed == "The limit of 5 steps is reached.\nStopped.\n"


async def test_lines_are_read_in_a_thread_and_end_with_none() -> None:
    lines = InputLines(StringIO("one\ntwo"))
    assert [await lines.next() for _ in range(3)] == ["one", "two", None]


@pytest.mark.parametrize("term", ["dumb", "xterm"])
def test_the_demo_runs_through_a_pipe_without_a_screen(tmp_path: Path, term: str) -> None:
    program = Program.in_folder(tmp_path)
    done = program.run("demo", "--plain", stdin="hello\n1\n1\n2\n/quit\n", TERM=term)
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    assert "[edit] cart.py +1 -1: done" in done.stdout
    assert "[bash] python3 -m unittest -q: denied" in done.stdout


async def test_commands_that_need_no_screen_work_here(tmp_path: Path) -> None:
    lines, printed = TypedLines(), list[str]()
    for line in (
        "hello there",
        "/cost",
        "/undo conversation",
        "/redo",
        "/mode auto confirm",
        "/nothing",
        None,
    ):
        lines.queue.put_nowait(line)
    async with world(tmp_path, [Say("hi"), Say("what?")]) as made:
        plain = PlainSession(
            made.session, cast(InputLines, lines), printed.append, lambda: 0.0, is_typed=False
        )
        async with asyncio.timeout(20):
            await plain.run()
        output, sent = "".join(printed).splitlines(), made.model.requests

    assert "Your message was: hello there" in output
    assert "Redone: turn 1, messages; no file was changed." in output
    assert "This session" in "".join(printed)
    assert "Mode: auto." in output
    # What is no command of ours may be a skill's name, or the beginning of a path.
    asked = [request.messages[-1] for request in sent]
    assert [each.text for each in asked if isinstance(each, UserMessage)] == ["hello there", "/nothing"]


async def test_problems_of_a_proposed_change_are_shown_once_they_are_known() -> None:
    talk = await started()
    await talk.type("go")
    talk.emit(RequestOpened(command_request()))
    talk.printed = ""
    wrong = Diagnostic("a.py", 2, 20, Severity.ERROR, "undefined \x1b[31mname\nmore", "F821", "Ruff")
    check = ProposalCheck(ServerStatus.FRESH, ChangeCounts(2, 1), (wrong,), is_known=True)
    talk.emit(
        ProposalChecked("call-r1", ProposalCheck(ServerStatus.PENDING)),
        ProposalChecked("call-other", check),
        ProposalChecked("call-r1", check),
    )
    assert talk.printed.splitlines() == [
        "Language server: +2 errors -1.",
        "    a.py:2:20 undefined ␛[31mname (Ruff F821)",
    ]
