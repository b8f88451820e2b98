"""Open questions as futures: asked by a tool, answered by id, withdrawn with their asker."""

import asyncio
from pathlib import Path

import pytest

from coder_tui.agent.event_bus import EventBus, RequestBroker
from coder_tui.protocol.events import Event, RequestClosed, RequestOpened
from coder_tui.protocol.requests import (
    ApprovalReply,
    Attendance,
    Decision,
    PlanDecision,
    PlanReply,
    QuestionAnswer,
    QuestionReply,
    Reply,
    unattended,
)
from coder_tui.tools.base import ToolContext
from tests.fakes.questions import AskParams, AskTool, plan, questions
from tests.fakes.screens import shell_request


@pytest.fixture
def events() -> list[Event]:
    return []


@pytest.fixture
def broker(events: list[Event]) -> RequestBroker:
    bus = EventBus()
    bus.subscribe(events.append)
    return RequestBroker(bus)


async def test_each_kind_of_request_gets_its_own_kind_of_reply(
    broker: RequestBroker, events: list[Event]
) -> None:
    asking = asyncio.gather(
        broker.ask(shell_request()), broker.ask(questions()), broker.ask(plan()), return_exceptions=True
    )
    await asyncio.sleep(0)
    replies: tuple[Reply, ...] = (
        ApprovalReply(Decision.DENY),
        QuestionReply(Attendance.CANCELLED),
        PlanReply(PlanDecision.CANCEL),
    )
    ids = [event.request.id for event in events if isinstance(event, RequestOpened)]
    assert [broker.answer(id, reply) for id, reply in zip(ids, replies, strict=True)] == [True] * 3
    assert tuple(await asking) == replies
    assert [event.reply for event in events if isinstance(event, RequestClosed)] == list(replies)


async def test_a_reply_of_another_kind_is_refused_and_the_question_stays_open(broker: RequestBroker) -> None:
    asking = asyncio.ensure_future(broker.ask(questions()))
    await asyncio.sleep(0)
    with pytest.raises(TypeError, match="ApprovalReply does not answer"):
        broker.answer("q1", ApprovalReply(Decision.ALLOW_ONCE))
    assert not asking.done()
    assert broker.answer("q1", QuestionReply(Attendance.CANCELLED))
    assert not broker.answer("q1", QuestionReply(Attendance.CANCELLED))
    assert await asking == QuestionReply(Attendance.CANCELLED)


async def test_questions_of_a_cancelled_asker_are_withdrawn(
    broker: RequestBroker, events: list[Event]
) -> None:
    asking = asyncio.ensure_future(broker.ask(plan()))
    await asyncio.sleep(0)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert events[-1] == RequestClosed("p1", None)


def test_where_nobody_is_there_each_request_is_reported_so() -> None:
    assert unattended(shell_request()) == ApprovalReply(Decision.NOBODY_THERE)
    assert unattended(questions()) == QuestionReply(Attendance.NOBODY_THERE)
    assert unattended(plan()) == PlanReply(PlanDecision.NOBODY_THERE)


async def test_a_tool_asks_and_gets_the_answers(broker: RequestBroker) -> None:
    context = ToolContext("s", "c", Path("/srv"))
    running = asyncio.ensure_future(AskTool(broker).run(AskParams(text="May I?"), context))
    await asyncio.sleep(0)
    broker.answer("asked", QuestionReply(Attendance.ANSWERED, (QuestionAnswer(("yes",)),)))
    result = await running
    assert result.for_model == {"ok": True, "attendance": "answered", "answers": [("yes",)]}
