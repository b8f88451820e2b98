import asyncio
import json
from pathlib import Path
from typing import Any

from coder_tui.agent.turn.limits import Limits
from coder_tui.protocol.errors import ModelError, ModelErrorKind
from coder_tui.protocol.events import (
    MessageFinished,
    Notice,
    QueueChanged,
    RequestClosed,
    RequestOpened,
    RetryScheduled,
    SessionRenamed,
    TextDelta,
    ToolFinished,
    ToolProgressed,
    TurnFailed,
    TurnFinished,
    UserMessageAdded,
)
from coder_tui.protocol.messages import AssistantMessage, FinishReason, ToolMessage, Usage, UserMessage
from coder_tui.protocol.outcomes import NoticeLevel, Outcome, TurnOutcome
from coder_tui.protocol.requests import ApprovalReply, ApprovalRequest, Decision
from tests.fakes.scripted_model import Say
from tests.fakes.world import ALLOW, DENY, World, world


def results(made: World) -> list[dict[str, Any]]:
    """The results that the model got for its calls, in order."""
    return [
        json.loads(message.content)
        for message in made.model.requests[-1].messages
        if isinstance(message, ToolMessage)
    ]


def ended(made: World) -> TurnOutcome:
    last = made.of(TurnFinished)[-1]
    assert isinstance(last, TurnFinished)
    return last.outcome


async def test_a_turn_streams_runs_a_tool_and_ends(tmp_path: Path) -> None:
    replies = [Say("let me look", calls=(("look", {"text": "x"}),)), Say("all done")]
    async with world(tmp_path, replies) as made:
        await made.session.submit("fix the bug\nplease")
    assert made.names() == [
        "TurnStarted", "SessionRenamed", "UserMessageAdded",
        "TextDelta", "TextDelta", "TextDelta", "ToolProposed", "MessageFinished", "UsageUpdated",
        "ToolStarted", "ToolFinished",
        "TextDelta", "TextDelta", "MessageFinished", "UsageUpdated", "TurnFinished",
    ]  # fmt: skip
    assert made.of(SessionRenamed) == [SessionRenamed("fix the bug")]
    assert results(made) == [{"ok": True, "text": "x"}]


async def test_reading_calls_run_side_by_side_and_acting_ones_in_order(tmp_path: Path) -> None:
    calls = (
        ("look", {"text": "meet 1"}),
        ("look", {"text": "meet 2"}),
        ("act", {"text": "3"}),
        ("act", {"text": "4"}),
        ("look", {"text": "5"}),
    )
    async with world(tmp_path, [Say(calls=calls), Say("ok")], answers=[ALLOW, ALLOW]) as made:
        await made.session.submit("go")
    assert sorted(made.look.seen) == ["5", "meet 1", "meet 2"]
    assert made.look.seen[-1] == "5"
    assert made.act.done == ["3", "4"]


async def test_a_refusal_reaches_the_model_with_the_users_words(tmp_path: Path) -> None:
    async with world(tmp_path, [Say(calls=(("act", {"text": "x"}),)), Say("ok")], answers=[DENY]) as made:
        await made.session.submit("go")
        decisions = await made.store.decisions.list(made.session.id)
    assert made.act.done == []
    assert results(made)[0]["error"] == {
        "type": "denied_by_user",
        "message": "the user refused this call: use make clean",
        "hint": "Nothing was done. Take the refusal into account before you go on.",
    }
    assert [(decision.effect, decision.answer) for decision in decisions] == [("ask", "deny")]


async def test_always_covers_the_same_call_later(tmp_path: Path) -> None:
    replies = [Say(calls=(("act", {"text": "x"}),)), Say(calls=(("act", {"text": "x"}),)), Say("ok")]
    async with world(tmp_path, replies) as made:

        def always(event: object) -> None:
            if isinstance(event, RequestOpened) and isinstance(event.request, ApprovalRequest):
                reply = ApprovalReply(Decision.ALLOW_ALWAYS, grant=event.request.grants[0])
                made.session.answer(event.request.id, reply)

        made.session.subscribe(always)
        await made.session.submit("go")
    assert made.act.done == ["x", "x"]
    assert len(made.of(RequestOpened)) == 1


async def test_an_interruption_while_streaming_keeps_the_words_and_stops_the_request(tmp_path: Path) -> None:
    async with world(tmp_path, [Say("half a", hangs=True), Say("again")]) as made:
        turn = asyncio.create_task(made.session.submit("go"))
        await made.model.reached.wait()
        assert made.session.interrupt()
        await turn
        assert made.model.was_closed_early
        assert ended(made) is TurnOutcome.INTERRUPTED
        await made.session.submit("go on")
    texts = [getattr(message, "text", "") for message in made.model.requests[-1].messages]
    assert texts == ["go", "half a", "go on"]


async def test_an_interruption_in_a_tool_gives_every_call_a_result(tmp_path: Path) -> None:
    calls = (("act", {"text": "hang"}), ("act", {"text": "never"}))
    async with world(tmp_path, [Say(calls=calls), Say("ok")], answers=[ALLOW, ALLOW]) as made:
        turn = asyncio.create_task(made.session.submit("go"))
        await made.act.reached.wait()
        made.session.interrupt()
        made.session.interrupt()
        await turn
        await made.session.submit("go on")
    messages = made.model.requests[-1].messages
    asked = [
        call.id for message in messages if isinstance(message, AssistantMessage) for call in message.calls
    ]
    answered = [message.call_id for message in messages if isinstance(message, ToolMessage)]
    assert answered == asked
    assert made.act.done == []
    assert [result["error"]["type"] for result in results(made)] == ["cancelled", "cancelled"]
    assert [event.outcome for event in made.of(ToolFinished) if isinstance(event, ToolFinished)] == [
        Outcome.CANCELLED
    ]


async def test_cancelling_the_turn_from_a_request_withdraws_it(tmp_path: Path) -> None:
    cancel = ApprovalReply(Decision.CANCEL_TURN)
    async with world(tmp_path, [Say(calls=(("act", {"text": "x"}),))], answers=[cancel]) as made:
        await made.session.submit("go")
    assert ended(made) is TurnOutcome.INTERRUPTED
    assert [event.reply for event in made.of(RequestClosed) if isinstance(event, RequestClosed)] == [None]
    assert made.act.done == []


async def test_a_message_typed_meanwhile_goes_out_at_the_next_step(tmp_path: Path) -> None:
    replies = [Say(calls=(("act", {"text": "hang"}),)), Say("ok")]
    async with world(tmp_path, replies) as made:
        turn = asyncio.create_task(made.session.submit("go"))
        request = await made.asked()
        await made.session.submit("also this")
        made.session.answer(request.id, DENY)
        await turn
    queued = [event.texts for event in made.of(QueueChanged) if isinstance(event, QueueChanged)]
    assert queued == [("also this",), ()]
    said = [event.text for event in made.of(UserMessageAdded) if isinstance(event, UserMessageAdded)]
    assert said == ["go", "also this"]
    last = made.model.requests[-1].messages[-1]
    assert isinstance(last, UserMessage)
    assert last.text == "also this"


async def test_a_message_queued_during_the_last_reply_still_goes_out(tmp_path: Path) -> None:
    async with world(tmp_path, [Say("one"), Say("two")]) as made:

        def interject(event: object) -> None:
            if isinstance(event, TextDelta) and event.text == "one":
                asyncio.get_running_loop().create_task(made.session.submit("more"))

        made.session.subscribe(interject)
        await made.session.submit("go")
    assert [getattr(message, "text", "") for message in made.model.requests[-1].messages] == [
        "go",
        "one",
        "more",
    ]


async def test_a_failed_attempt_is_tried_again_and_leaves_no_trace(tmp_path: Path) -> None:
    cut = ModelError(ModelErrorKind.CUT, "The stream was cut.")
    replies = [Say("half", calls=(("act", {"text": "x"}),), error=cut), Say("whole")]
    async with world(tmp_path, replies) as made:
        await made.session.submit("go")
        stored = await made.store.load(made.session.id)
    assert [event.reason for event in made.of(RetryScheduled) if isinstance(event, RetryScheduled)] == [
        "The stream was cut."
    ]
    assert [getattr(message, "text", "") for message in stored.messages] == ["go", "whole"]
    assert made.act.done == []


async def test_an_error_that_trying_again_cannot_fix_ends_the_turn_and_the_session_goes_on(
    tmp_path: Path,
) -> None:
    wrong = ModelError(ModelErrorKind.BAD_KEY, "The key was refused.", "Check OPENAI_API_KEY.")
    async with world(tmp_path, [Say(error=wrong), Say("fine")]) as made:
        await made.session.submit("go")
        await made.session.submit("again")
    assert made.of(TurnFailed) == [TurnFailed(1, "The key was refused.", "Check OPENAI_API_KEY.")]
    assert ended(made) is TurnOutcome.DONE


async def test_it_gives_up_after_the_last_attempt(tmp_path: Path) -> None:
    down = ModelError(ModelErrorKind.SERVER, "The server failed.")
    async with world(tmp_path, [Say(error=down)] * 3) as made:
        await made.session.submit("go")
    assert len(made.of(RetryScheduled)) == 2
    assert len(made.of(TurnFailed)) == 1


async def test_the_third_identical_call_asks(tmp_path: Path) -> None:
    same = Say(calls=(("look", {"text": "x"}),))
    async with world(tmp_path, [same, same, same, Say("ok")], answers=[DENY]) as made:
        await made.session.submit("go")
    assert made.look.seen == ["x", "x"]
    (request,) = made.asked_before
    assert request.facts == ("the same call again and again",)


async def test_calls_that_take_turns_ask_too(tmp_path: Path) -> None:
    a, b = Say(calls=(("look", {"text": "a"}),)), Say(calls=(("look", {"text": "b"}),))
    async with world(tmp_path, [a, b, a, b, a, b, Say("ok")], answers=[DENY]) as made:
        await made.session.submit("go")
    assert made.look.seen == ["a", "b", "a", "b", "a"]


async def test_limits_end_the_turn(tmp_path: Path) -> None:
    calls = [Say(calls=(("look", {"text": str(number)}),)) for number in range(9)]
    async with world(tmp_path, calls, max_steps=3) as made:
        await made.session.submit("go")
    assert ended(made) is TurnOutcome.LIMIT
    assert len(made.model.requests) == 3
    async with world(tmp_path, calls, max_cost=0.02) as made:
        await made.session.submit("go")
    assert len(made.model.requests) == 2


def test_the_limit_of_steps_is_reported_in_words() -> None:
    said = [Limits(max_steps=most).exceeded(most)[:28] for most in (1, 2)]
    assert said == ["Stopped after 1 model call, ", "Stopped after 2 model calls,"]


async def test_repeated_call_ids_of_a_server_are_made_unique(tmp_path: Path) -> None:
    reply = Say(calls=(("look", {"text": "1"}), ("look", {"text": "2"})), ids=("call_0", "call_0"))
    async with world(tmp_path, [reply, reply, Say("ok")]) as made:
        await made.session.submit("go")
    ids = [
        message.call_id for message in made.model.requests[-1].messages if isinstance(message, ToolMessage)
    ]
    assert len(ids) == len(set(ids)) == 4


async def test_calls_that_make_no_sense_come_back_as_errors_and_the_turn_goes_on(tmp_path: Path) -> None:
    calls: tuple[tuple[str, dict[str, Any] | str], ...] = (
        ("look", '{"text": "cut'),
        ("nope", {}),
        ("look", {"text": 7}),
        ("look", {"text": "a", "more": 1}),
        ("", {}),
        ("look", f'{{"text": {"9" * 5_000}}}'),
        ("git_cmd", f'{{"command": {"9" * 5_000}}}'),
    )
    async with world(tmp_path, [Say(calls=calls), Say("ok")]) as made:
        await made.session.submit("go")
    errors = [result["error"] for result in results(made)]
    assert [error["type"] for error in errors] == [
        "invalid_tool_params",
        "unknown_tool",
        "invalid_tool_params",
        "invalid_tool_params",
        "unknown_tool",
        "invalid_tool_params",
        "invalid_tool_params",
    ]
    assert errors[3]["message"] == "invalid args: more: Extra inputs are not permitted"
    assert ended(made) is TurnOutcome.DONE


async def test_a_failing_tool_and_a_buggy_tool_are_results_not_crashes(tmp_path: Path) -> None:
    calls = (("act", {"text": "fail"}), ("act", {"text": "bug"}))
    async with world(tmp_path, [Say(calls=calls), Say("ok")], answers=[ALLOW, ALLOW]) as made:
        await made.session.submit("go")
    failed, bug = results(made)
    assert failed == {
        "ok": False,
        "error": {"type": "execution_failed", "message": "it failed", "hint": "try something else"},
        "code": 7,
    }
    assert bug["error"]["type"] == "internal"
    progress = [event.text for event in made.of(ToolProgressed) if isinstance(event, ToolProgressed)]
    assert progress == ["doing fail", "doing bug"]


async def test_a_resumed_session_shows_and_sends_what_was_said(tmp_path: Path) -> None:
    replies = [Say("look", thinking="hm", calls=(("look", {"text": "x"}),)), Say("done")]
    async with world(tmp_path, replies) as made:
        await made.session.submit("go")
        session_id = made.session.id
    async with world(tmp_path, [Say("welcome back")], resume=session_id) as again:
        shown = again.session.history()
        await again.session.submit("more")
    finished = [event.text for event in shown if isinstance(event, MessageFinished)]
    assert finished == ["look", "done"]
    assert [event.summary for event in shown if isinstance(event, ToolFinished)] == ["x"]
    assert [type(message).__name__ for message in again.model.requests[0].messages] == [
        "UserMessage", "AssistantMessage", "ToolMessage", "AssistantMessage", "UserMessage",
    ]  # fmt: skip


async def test_the_last_call_of_a_reply_that_met_the_output_limit_does_not_run(tmp_path: Path) -> None:
    calls = (("look", {"text": "whole"}), ("act", {"text": "half"}))
    async with world(tmp_path, [Say(calls=calls, finish=FinishReason.LENGTH), Say("ok")]) as made:
        await made.session.submit("go")
    assert (made.look.seen, made.act.done) == (["whole"], [])
    assert results(made)[1]["error"]["type"] == "invalid_tool_params"


async def test_a_small_model_names_the_session_during_the_first_turn(tmp_path: Path) -> None:
    async with world(tmp_path, [Say("Fix the cart"), Say("ok")], small="tiny") as made:
        named = asyncio.Event()

        def watch(event: object) -> None:
            if event == SessionRenamed("Fix the cart"):
                named.set()

        made.session.subscribe(watch)
        await made.session.submit("please fix the cart, it has a bug")
        await asyncio.wait_for(named.wait(), 10)
        info = await made.store.sessions.get(made.session.id)
        paid = [(call.model, call.usage) for call in await made.session.report.paid_calls()]
        steps = made.session.report.context.meter.steps
    assert info.title == "Fix the cart"
    # A name costs as anything else does, but is no step of the turn.
    assert (sorted(model for model, _ in paid), steps) == (["scripted", "tiny"], 1)
    assert {request.model for request in made.model.requests} == {"tiny", "scripted"}


async def test_without_a_name_from_the_small_model_the_first_words_stay(tmp_path: Path) -> None:
    down = ModelError(ModelErrorKind.SERVER, "The server failed.")
    async with world(tmp_path, [Say(error=down), Say("ok")], small="tiny") as made:
        await made.session.submit("fix the cart")
        info = await made.store.sessions.get(made.session.id)
    assert info.title == "fix the cart"


async def test_a_spend_limit_without_a_known_price_is_said_once_a_turn(tmp_path: Path) -> None:
    free = Usage(10, 5, cost=None)
    replies = [Say(calls=(("look", {"text": "x"}),), usage=free), Say("ok", usage=free)]
    async with world(tmp_path, replies, max_cost=1.0) as made:
        await made.session.submit("go")
    assert made.of(Notice) == [
        Notice(NoticeLevel.WARNING, "limits.max_cost cannot be enforced: no price is known for scripted.")
    ]
