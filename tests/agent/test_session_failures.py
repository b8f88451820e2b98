"""What goes wrong in the middle leaves a conversation that can go on."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from coder_tui.protocol.errors import ModelError, ModelErrorKind, StorageError
from coder_tui.protocol.events import (
    QueueChanged,
    RetryScheduled,
    ToolFinished,
    TurnFailed,
    TurnFinished,
    UserMessageAdded,
)
from coder_tui.protocol.messages import AssistantMessage, ToolMessage
from coder_tui.protocol.outcomes import Outcome, TurnOutcome
from tests.fakes.scripted_model import Say
from tests.fakes.world import ALLOW, World, world

FULL = StorageError("the disk is full")


def roles(made: World) -> list[str]:
    return [message.role for message in made.model.requests[-1].messages]


def unanswered(made: World) -> set[str]:
    messages = made.model.requests[-1].messages
    asked = {
        call.id for message in messages if isinstance(message, AssistantMessage) for call in message.calls
    }
    return asked - {message.call_id for message in messages if isinstance(message, ToolMessage)}


def refuse(monkeypatch: pytest.MonkeyPatch, made: World, method: str, times: int = 1) -> None:
    """The store's method fails so many times, then works again."""
    part_name, name = method.split(".")
    part = getattr(made.store, part_name)
    real, left = getattr(part, name), [times]

    async def sometimes(*arguments: Any, **options: Any) -> Any:
        if left[0]:
            left[0] -= 1
            raise FULL
        return await real(*arguments, **options)

    monkeypatch.setattr(part, name, sometimes)


@pytest.mark.parametrize("method", ["calls.begin", "calls.finish", "decisions.add"])
async def test_a_store_that_refuses_in_a_call_leaves_no_call_without_a_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    calls = (("act", {"text": "1"}), ("act", {"text": "2"}))
    async with world(tmp_path, [Say(calls=calls), Say("ok")], answers=[ALLOW] * 2) as made:
        refuse(monkeypatch, made, method)
        await made.session.submit("go")
        await made.session.submit("again")
    assert len(made.of(TurnFailed)) == 1
    assert unanswered(made) == set()
    ended = [event.outcome for event in made.of(ToolFinished) if isinstance(event, ToolFinished)]
    assert Outcome.FAILED in ended


async def test_words_of_a_failed_attempt_never_become_a_message(tmp_path: Path) -> None:
    down = ModelError(ModelErrorKind.BAD_REQUEST, "No.")
    async with world(tmp_path, [Say("half words", error=down), Say("", hangs=True), Say("ok")]) as made:
        await made.session.submit("one")
        turn = asyncio.create_task(made.session.submit("two"))
        await made.model.reached.wait()
        made.session.interrupt()
        await turn
        await made.session.submit("three")
    assert roles(made) == ["user", "user", "user"]


async def test_an_interruption_in_a_retry_pause_keeps_nothing_of_the_attempt(tmp_path: Path) -> None:
    cut = ModelError(ModelErrorKind.RATE_LIMIT, "Slow down.", retry_after=300)
    async with world(tmp_path, [Say("failed words", error=cut), Say("ok")]) as made:

        def stop(event: object) -> None:
            if isinstance(event, RetryScheduled):
                made.session.interrupt()

        made.session.subscribe(stop)
        await made.session.submit("one")
        await made.session.submit("two")
    assert roles(made) == ["user", "user"]


async def test_a_turn_stopped_before_its_first_step_says_so_and_stores_nothing(tmp_path: Path) -> None:
    async with world(tmp_path, [Say("ok")]) as made:
        turn = asyncio.create_task(made.session.submit("one"))
        await asyncio.sleep(0)
        assert made.session.interrupt()
        await turn
    assert [type(event) for event in made.events] == [TurnFinished]
    assert made.model.requests == []


async def test_what_an_interruption_leaves_in_the_queue_stays_there(tmp_path: Path) -> None:
    async with world(tmp_path, [Say("one"), Say("ok")]) as made:

        def interject(event: object) -> None:
            if isinstance(event, UserMessageAdded) and event.text == "go":
                for text in ("q1", "q2"):
                    asyncio.get_running_loop().create_task(made.session.submit(text))
            if event == QueueChanged(("q2",)):
                made.session.interrupt()

        made.session.subscribe(interject)
        await made.session.submit("go")
        assert made.session.withdraw_queued() == ("q2",)
    said = [event.text for event in made.of(UserMessageAdded) if isinstance(event, UserMessageAdded)]
    assert said == ["go", "q1"]


async def test_a_turn_that_runs_out_of_time_is_settled(tmp_path: Path) -> None:
    replies = [Say(calls=(("act", {"text": "hang"}),)), Say("ok")]
    async with world(tmp_path, replies, answers=[ALLOW], max_minutes=0.005) as made:
        await made.session.submit("go")
        assert made.act.reached.is_set()
        await made.session.submit("again")
    first = made.of(TurnFinished)[0]
    assert isinstance(first, TurnFinished)
    assert (first.outcome, first.message) == (
        TurnOutcome.LIMIT,
        "Stopped after 0.005 minutes, the limit of one turn (limits.max_minutes).",
    )
    assert unanswered(made) == set()
