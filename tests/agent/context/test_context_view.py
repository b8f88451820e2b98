"""What a model is sent of a conversation."""

from coder_tui.agent.context.conversation import SentView, sent
from coder_tui.protocol.messages import AssistantMessage, Compaction, ToolCall, ToolMessage, UserMessage
from coder_tui.text.packed import PackedList


def test_results_are_sent_in_the_order_of_their_calls_whichever_came_first() -> None:
    calls = tuple(ToolCall(name, "read", "{}") for name in ("one", "two", "three"))
    results = {call.id: ToolMessage(f"of-{call.id}", call.id, "read", call.id) for call in calls}
    asked = AssistantMessage("asked", "", calls=calls)
    question, thanks = UserMessage("q", "Read them."), UserMessage("t", "Thanks.")
    came = (question, asked, results["three"], results["one"], results["two"], thanks)

    given = (question, asked, results["one"], results["two"], results["three"], thanks)
    assert sent(came, ()) == given
    assert sent(came[:-1], ()) == given[:-1]


def test_a_view_that_grew_message_by_message_gives_what_a_fresh_one_gives() -> None:
    calls = tuple(ToolCall(name, "read", "{}") for name in ("one", "two", "three"))
    results = tuple(ToolMessage(f"of-{call.id}", call.id, "read", "{}") for call in calls)
    reported = (
        UserMessage("q", "Read them."),
        AssistantMessage("asked", "", calls=calls),
        *(results[2], results[0], results[1]),
        AssistantMessage("done", "Read."),
        UserMessage("t", "Thanks."),
    )
    compactions = ((), (Compaction(1, "q", "a summary", frozenset({"two"})),))
    for each in compactions:
        view = SentView()
        for count in range(1, len(reported) + 1):
            assert view.of(PackedList(reported[:count]), each) == sent(reported[:count], each)
    grown = SentView()
    grown.of(PackedList(reported), compactions[0])
    assert grown.of(PackedList(reported), compactions[1]) == sent(reported, compactions[1])
