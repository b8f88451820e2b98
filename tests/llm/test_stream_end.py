"""The end of a long reply: litellm must not put all of it together again before the turn goes on."""

from types import SimpleNamespace
from typing import Any

from coder_tui.llm.host import only_counted


def chunk(text: str, usage: str | None = None) -> SimpleNamespace:
    return SimpleNamespace(text=text, usage=usage)


def given(chunks: list[Any]) -> list[Any]:
    """What the builder behind it gets to see."""
    build = only_counted(lambda chunks, *, messages: [chunks, messages])
    seen, messages = build(chunks, messages=["hello"])
    assert messages == ["hello"]
    return list(seen)


def test_only_the_first_chunk_and_those_with_counts_are_put_together() -> None:
    first, last = chunk("a"), chunk("", "5 tokens")
    assert given([first, *(chunk("b") for _ in range(1000)), last]) == [first, last]


def test_counts_at_the_beginning_are_not_lost() -> None:
    first, last = chunk("", "3 tokens in"), chunk("", "5 tokens out")
    assert given([first, chunk("b"), last]) == [first, last]


def test_where_the_server_did_not_count_all_chunks_are_there() -> None:
    chunks = [chunk("a"), chunk("b")]
    assert given(chunks) == chunks
