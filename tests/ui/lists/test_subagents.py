"""Sub-agents on the screen: rows under their call, a list of them, and their conversations."""

from dataclasses import replace

from coder_tui.protocol import errors
from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.display import SubagentsBlock, TextBlock
from coder_tui.protocol.events import (
    ChildEvent,
    Event,
    MessageFinished,
    RequestClosed,
    RequestOpened,
    SubagentEvent,
    SubagentFinished,
    SubagentStarted,
    TextDelta,
    ToolFinished,
    ToolStarted,
    TurnStarted,
    UsageUpdated,
    UserMessageAdded,
)
from coder_tui.protocol.messages import Usage
from coder_tui.protocol.outcomes import Outcome
from coder_tui.protocol.subagents import ChildLine, ChildState
from coder_tui.ui.lists.background import IS_OVER, STOPPED, SubagentsScreen
from coder_tui.ui.session.screen import SessionScreen
from coder_tui.ui.transcript.pager import PagerScreen
from tests.fakes.fake_session import FakeSession
from tests.fakes.screens import Stage, shell_request, stage

FORK = ToolStarted("f", "fork", ToolKind.OTHER, "2 tasks: explore, general")
RUNNING = ChildLine("k1", "explore", "find it", ChildState.RUNNING, "grep  needle", cost=0.25)
DONE = ChildLine("k2", "general", "fix it", ChildState.OK, summary="fixed\nin a.py", seconds=9)


def of_child(child_id: str, agent: str, *events: ChildEvent) -> list[Event]:
    return [SubagentEvent("f", child_id, agent, event) for event in events]


def begun(*more: Event) -> list[Event]:
    return [
        FORK,
        *of_child("k1", "explore", SubagentStarted("find it", "m"), TurnStarted(1)),
        *of_child("k2", "general", SubagentStarted("fix it", "m")),
        *more,
    ]


async def test_each_has_a_row_that_says_what_it_does_and_costs() -> None:
    async with stage(size=(100, 30)) as s:
        s.session.emit(
            *begun(
                *of_child(
                    "k1",
                    "explore",
                    ToolStarted("c", "grep", ToolKind.SEARCH, "needle"),
                    UsageUpdated(Usage(cost=0.25), Usage(), 5, None),
                )
            )
        )
        await s.until(lambda: "▶ explore running  grep  needle" in s.drawn() and "$0.25" in s.drawn())
        await s.shows("○ general queued   fix it")


async def test_one_that_waits_for_the_user_says_so_in_its_row() -> None:
    request = replace(shell_request(), call_id="c", agent="explore", child_id="k1")
    async with stage(size=(100, 30)) as s:
        s.session.emit(*begun(RequestOpened(request)))
        await s.ready_dialog()
        await s.shows("explore")
        s.session.emit(RequestClosed("r1", None))
        await s.until(lambda: s.dialog is None and "▶ explore running  bash  rm -rf build" in s.drawn())
        s.session.emit(RequestOpened(replace(request, id="r2")), RequestOpened(replace(request, id="r3")))
        s.session.emit(RequestClosed("r2", None))
        await s.until(lambda: s.dialog is not None)
        s.session.emit(RequestClosed("r3", None))
        await s.shows("▶ explore running")


async def test_streamed_text_of_a_sub_agent_draws_nothing() -> None:
    async with stage() as s:
        s.session.emit(*begun())
        calls = s.screen.transcript.calls
        await s.until(lambda: not calls.is_drawing and "explore running" in s.drawn())
        s.session.emit(*of_child("k1", "explore", *[TextDelta("m", "word ")] * 500))
        assert not calls.is_drawing


async def test_rows_stay_when_the_call_ends_and_expand_to_the_reports() -> None:
    block = SubagentsBlock((replace(RUNNING, state=ChildState.FAILED, summary="not there"), DONE))
    async with stage(size=(100, 30)) as s:
        s.session.emit(*begun(ToolFinished("f", "fork", Outcome.FAILED, "2 tasks", block, 9000)))
        await s.shows("✗ explore failed  not there")
        await s.shows("✓ general ok      fixed")
        assert "in a.py" not in s.drawn()
        await s.pilot.press("tab", "o")
        await s.shows("fixed in a.py")
        await s.pilot.press("o")
        await s.until(lambda: "in a.py" not in s.drawn())
        await s.shows("✓ general ok      fixed")


async def test_a_stopped_call_keeps_its_rows() -> None:
    ended = SubagentFinished(ChildState.STOPPED, "Stopped together with the call.", 900)
    async with stage(size=(100, 30)) as s:
        s.session.emit(
            *begun(*of_child("k1", "explore", ended), *of_child("k2", "general", ended)),
            ToolFinished("f", "fork", Outcome.CANCELLED, "", TextBlock(errors.STOPPED), 900),
        )
        await s.shows("■ general stopped")
        await s.shows("■ explore stopped  Stopped together")


def with_children() -> FakeSession:
    session = FakeSession()
    session.subagents.rows = (DONE, RUNNING)
    session.subagents.said["k1"] = (
        UserMessageAdded("u", "find it"),
        MessageFinished("m", "I will look.", "hm"),
        ToolFinished("c", "grep", Outcome.OK, "needle", TextBlock("a.py:3"), 5),
    )
    return session


async def opened(s: Stage, key: str = "alt+s") -> SubagentsScreen:
    await s.pilot.press(key)
    await s.until(lambda: isinstance(s.app.screen, SubagentsScreen))
    top = s.app.screen
    assert isinstance(top, SubagentsScreen)
    await s.until(lambda: top.list.marked is not None)
    return top


async def test_the_list_marks_one_that_works_and_enter_reads_it() -> None:
    async with stage(with_children(), size=(100, 30)) as s:
        top = await opened(s)
        assert top.list.marked is not None
        assert top.list.marked.key == "k1"
        await s.pilot.press("enter")
        await s.until(lambda: isinstance(s.app.screen, PagerScreen) and "a.py:3" in s.drawn())
        shown = s.drawn()
        assert all(words in shown for words in ("asked to: find it", "hm", "I will look.", "grep  needle"))
        await s.pilot.press("escape")
        await s.until(lambda: s.app.screen is top)
        await s.pilot.press("escape")
        await s.until(lambda: isinstance(s.app.screen, SessionScreen))


async def test_the_page_grows_while_the_agent_works() -> None:
    async with stage(with_children(), size=(100, 30)) as s:
        said = s.session.subagents.said
        running = ToolStarted("d", "read", ToolKind.READ, "a.py")
        said["k1"] = (*said["k1"], running)
        await opened(s)
        await s.pilot.press("enter")
        await s.shows("▶ read  a.py")
        ended = ToolFinished("d", "read", Outcome.OK, "a.py 1-9", TextBlock("nine lines"), 5)
        said["k1"] = (*said["k1"][:-1], ended, MessageFinished("m2", "There it is.", ""))
        s.session.emit(*of_child("k1", "explore", ended))
        await s.until(lambda: "There it is." in s.drawn() and "✓ read  a.py 1-9" in s.drawn())
        assert "▶ read" not in s.drawn()


async def test_x_stops_only_the_marked_one() -> None:
    async with stage(with_children(), size=(100, 30)) as s:
        await opened(s)
        await s.pilot.press("x")
        await s.until(lambda: STOPPED in s.drawn())
        assert s.session.subagents.stopped == ["k1"]
        await s.pilot.press("k", "x")
        await s.until(lambda: IS_OVER in s.drawn())


async def test_the_list_follows_what_happens() -> None:
    async with stage(with_children(), size=(100, 30)) as s:
        await opened(s)
        s.session.subagents.rows = (DONE, replace(RUNNING, state=ChildState.OK, summary="found"))
        s.session.emit(*of_child("k1", "explore", SubagentFinished(ChildState.OK, "found", 5)))
        await s.until(lambda: "running" not in s.drawn())


async def test_enter_on_the_call_lists_its_own_sub_agents() -> None:
    block = SubagentsBlock((DONE,))
    async with stage(with_children(), size=(100, 30)) as s:
        s.session.emit(ToolFinished("f", "task", Outcome.OK, "general", block, 9000))
        await s.shows("fixed")
        await s.pilot.press("tab")
        top = await opened(s, "enter")
        assert (top.list.counted, top.list.marked and top.list.marked.key) == ("1", "k2")
