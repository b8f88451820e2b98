"""A stored session becomes steps that can be shown again."""

from pathlib import Path

from coder_tui.agent.undo.replay import READING, Frame, playback_steps
from coder_tui.protocol.events import (
    MessageFinished,
    ModelChanged,
    SessionStarted,
    TextDelta,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    UsageUpdated,
    UserMessageAdded,
)
from coder_tui.protocol.messages import Usage
from tests.fakes.scripted_model import Say
from tests.fakes.world import world

LONG = "-".join(f"word{number}" for number in range(100))


async def test_each_message_and_call_is_a_step(tmp_path: Path) -> None:
    replies = [
        Say("I look.", (("look", {"text": "a"}),), usage=Usage(10, 5, cost=0.01)),
        Say(LONG, usage=Usage(20, 5, cost=0.02)),
    ]
    async with world(tmp_path, replies) as made:
        await made.session.submit("one")
        steps = playback_steps(await made.store.load(made.session.id))

    kinds = [
        tuple(type(moment.event) for moment in step if not isinstance(moment.event, TextDelta))
        for step in steps
    ]
    assert kinds == [
        (SessionStarted, ModelChanged),
        (UserMessageAdded,),
        (MessageFinished, UsageUpdated),
        (ToolStarted, ToolFinished),
        (MessageFinished, UsageUpdated),
        (TurnFinished, UsageUpdated),
    ]
    (said,) = steps[1]
    assert isinstance(said.event, UserMessageAdded)
    assert said == Frame(UserMessageAdded(said.event.message_id, "one"), READING)
    streamed = [moment.event.text for moment in steps[4] if isinstance(moment.event, TextDelta)]
    assert (len(streamed) > 10, "".join(streamed)) == (True, LONG)
    assert steps[4][-1].event == UsageUpdated(Usage(), Usage(30, 10, cost=0.03), 0, None)


async def test_an_empty_session_has_only_its_beginning(tmp_path: Path) -> None:
    async with world(tmp_path, []) as made:
        (only,) = playback_steps(await made.store.load(made.session.id))

    assert isinstance(only[0].event, SessionStarted)
