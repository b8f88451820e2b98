"""A line about tokens and cost."""

from coder_tui.protocol.messages import Usage


def test_usage_shows_cached_and_reasoning_tokens() -> None:
    whole = Usage(12_300, 210, 8_000, 0, 40, 0.0312)

    assert whole.describe() == "$0.0312, 12,300 tokens in (8,000 cached), 210 out (40 reasoned)"
    assert Usage(5, 1).describe() == "price unknown, 5 tokens in, 1 out"
