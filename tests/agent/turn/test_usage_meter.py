"""Token counts follow the conversation as it is."""

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest

from coder_tui.agent.turn.model_request import ModelChoice
from coder_tui.agent.turn.usage import last_context
from coder_tui.commands.base import Say as Said
from coder_tui.commands.reports import cost
from coder_tui.protocol.access import Mode
from coder_tui.protocol.events import Notice
from coder_tui.protocol.messages import AssistantMessage, Usage
from coder_tui.protocol.outcomes import NoticeLevel
from tests.fakes.family import home, task
from tests.fakes.scripted_model import Say
from tests.fakes.world import World, world

LONG = " ".join(f"w{number}" for number in range(4_000))


async def test_after_an_undo_the_window_is_as_full_as_it_was(tmp_path: Path) -> None:
    replies = [Say("one", usage=Usage(100, 10)), Say("two", usage=Usage(5000, 10))]
    async with world(tmp_path, replies) as made:
        await made.session.submit("a")
        await made.session.submit("b")
        filled = [made.session.report.usage.context_tokens]
        for move in (made.session.turns.undo, made.session.turns.redo):
            await move()
            filled.append(made.session.report.usage.context_tokens)

        assert filled == [5010, 110, 5010]
        # What was paid for stays paid for.
        assert made.session.report.usage.session.total_tokens == 5120


def test_a_reply_that_was_stopped_tells_nothing_of_the_window() -> None:
    whole = AssistantMessage("a", "one", usage=Usage(100, 10))
    assert last_context((whole, AssistantMessage("b", "two"))) == 110


async def test_a_reply_that_was_stopped_is_counted_by_a_guess(tmp_path: Path) -> None:
    paid = Usage(100, 10, cost=0.25)
    async with world(tmp_path, [Say("one", usage=paid), Say("two three", hangs=True)]) as made:
        await made.session.submit("a")
        await stop_when_it_hangs(made, made.session.submit("b"))
        (_, stopped) = await made.session.report.paid_calls()

        assert (stopped.model, stopped.turn, stopped.usage.cost) == ("scripted", 2, 0.25)
        assert stopped.usage.input_tokens > 0 < stopped.usage.output_tokens
        assert made.session.report.usage.session.cost == 0.5


async def test_a_stopped_reply_of_unknown_price_is_reported_as_such(tmp_path: Path) -> None:
    async with world(tmp_path, [Say("one", hangs=True)]) as made:
        await stop_when_it_hangs(made, made.session.submit("a"))
        report = await cost(made.session, "")

        assert isinstance(report, Said)
        assert "price unknown for scripted (1 call)" in report.text


async def test_a_call_that_may_never_have_been_sent_is_not_counted(
    tmp_path: Path,
) -> None:
    async with world(tmp_path, [Say("", hangs=True)]) as made:
        await stop_when_it_hangs(made, made.session.submit("a"))

        assert await made.session.report.paid_calls() == ()


async def test_a_summary_that_was_stopped_is_counted_by_a_guess(tmp_path: Path) -> None:
    paid = Usage(100, 10, cost=0.25)
    replies = [Say(LONG, usage=paid), Say(LONG, usage=paid), Say("the st", hangs=True)]
    async with world(tmp_path, replies) as made:
        await made.session.submit("a")
        await made.session.submit("b")
        summary = asyncio.create_task(made.session.compaction.compact())
        await made.model.reached.wait()
        summary.cancel()
        await asyncio.wait({summary})

        assert made.session.report.usage.session.cost == 0.75
        assert made.session.report.context.conversation.compactions == ()


async def test_a_sub_agents_stopped_reply_is_paid_by_its_session(tmp_path: Path) -> None:
    script = {"go": [task("dig")], "dig": [Say("so far", hangs=True)]}
    async with home(tmp_path, script, mode=Mode.AUTO) as here:
        turn = asyncio.create_task(here.session.submit("go"))
        await here.model.reached["dig"].wait()
        here.session.interrupt()
        await turn

        assert [call.agent for call in await here.session.report.paid_calls()] == ["", "general"]


async def stop_when_it_hangs(made: World, turn: Coroutine[Any, Any, None]) -> None:
    running = asyncio.create_task(turn)
    await made.model.reached.wait()
    made.session.interrupt()
    await running


@pytest.mark.parametrize(
    ("model", "counted", "warnings"),
    [
        ("ollama/qwen3", 2_000, ["ollama/qwen3 read 2,000"]),
        ("ollama/qwen3", 5_200, []),
        ("anthropic/claude-sonnet-5-5", 2_000, []),
    ],
)
async def test_a_local_server_that_counts_far_less_than_was_sent_is_reported_once(
    tmp_path: Path, model: str, counted: int, warnings: list[str]
) -> None:
    usage = Usage(counted, 10)
    async with world(tmp_path, [Say("one", usage=usage), Say("two", usage=usage)]) as made:
        made.session.set_model(ModelChoice(model), None)
        await made.session.submit(LONG)
        await made.session.submit("go on")

        notices = [event for event in made.events if isinstance(event, Notice)]
        assert {notice.level for notice in notices} <= {NoticeLevel.WARNING}
        assert [notice.text.partition(" of about ")[0] for notice in notices] == warnings
