"""What a model is sent of a conversation."""

from coder_tui.agent.context_view import sent
from coder_tui.protocol.messages import AssistantMessage, ToolCall, ToolMessage, UserMessage


def test_results_are_sent_in_the_order_of_their_calls_whichever_came_first() -> None:
    calls = tuple(ToolCall(name, "read", "{}") for name in ("one", "two", "three"))
    results = {call.id: ToolMessage(f"of-{call.id}", call.id, "read", call.id) for call in calls}
    asked = AssistantMessage("asked", "", calls=calls)
    question, thanks = UserMessage("q", "Read them."), UserMessage("t", "Thanks.")
    came = (question, asked, results["three"], results["one"], results["two"], thanks)

    given = (question, asked, results["one"], results["two"], results["three"], thanks)
    assert sent(came, ()) == given
    assert sent(came[:-1], ()) == given[:-1]
