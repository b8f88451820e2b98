"""Estimates are close enough for planning."""

from coder_tui.llm.client import ModelRequest, estimate_request, estimate_tokens
from coder_tui.protocol.messages import AssistantMessage, ToolCall, ToolMessage, UserMessage


def test_a_guess_grows_with_the_text() -> None:
    assert [estimate_tokens(text) for text in ("", "abcd", "word " * 720)] == [0, 1, 1000]


def test_a_request_counts_all_its_parts() -> None:
    text = "x" * 36
    empty = estimate_request(ModelRequest("m", "", ()))
    messages = (
        UserMessage("1", text),
        AssistantMessage("2", text, calls=(ToolCall("a", "x" * 18, "x" * 18),)),
        ToolMessage("3", "a", "read", text),
    )
    full = estimate_request(ModelRequest("m", text, messages))
    assert (empty, full) == (0, 5 * 10 + 3 * 4)
