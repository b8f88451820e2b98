"""Tokens and money in words."""

from coder_tui.protocol.messages import Usage


def test_words_tell_apart_what_was_cached_and_reasoned() -> None:
    whole = Usage(12_300, 210, 8_000, 0, 40, 0.0312)

    assert whole.words() == "$0.0312, 12,300 tokens in (8,000 cached), 210 out (40 reasoned)"
    assert Usage(5, 1).words() == "price unknown, 5 tokens in, 1 out"
