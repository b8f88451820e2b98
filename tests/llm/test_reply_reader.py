"""Chunks of many servers become one kind of stream."""

from types import SimpleNamespace
from typing import Any

from coder_tui.llm.client import StreamFinished, StreamItem, TextChunk, ThinkingChunk, ToolCallChunk
from coder_tui.llm.stream import ReplyReader, is_last
from coder_tui.protocol.messages import FinishReason, ThinkingBlock, Usage


def chunk(**delta: Any) -> SimpleNamespace:
    fields = {"content": None, "tool_calls": None, **delta}
    return SimpleNamespace(choices=[SimpleNamespace(delta=SimpleNamespace(**fields))])


def call(index: int, identity: str | None, name: str | None, arguments: str) -> SimpleNamespace:
    return SimpleNamespace(index=index, id=identity, function=SimpleNamespace(name=name, arguments=arguments))


def thought(text: str, signature: str | None = None) -> dict[str, str]:
    return {"type": "thinking", "thinking": text, **({"signature": signature} if signature else {})}


def read_all(reader: ReplyReader, *chunks: SimpleNamespace) -> list[StreamItem]:
    return [item for each in chunks for item in reader.read(each)]


def test_calls_that_share_one_index_are_distinguished_by_id() -> None:
    items = read_all(
        ReplyReader(),
        chunk(tool_calls=[call(0, "a", "read", "{}")]),
        chunk(tool_calls=[call(0, "b", "list", "{}")]),
        chunk(tool_calls=[call(0, "b", "list", " ")]),
    )
    assert items == [
        ToolCallChunk(0, "a", "read", "{}"),
        ToolCallChunk(1, "b", "list", "{}"),
        ToolCallChunk(1, "", "", " "),
    ]


def test_calls_with_the_same_id_or_none_get_ids_of_their_own() -> None:
    items = read_all(
        ReplyReader(),
        chunk(tool_calls=[call(0, "a", "read", ""), call(1, "a", "read", ""), call(2, None, "read", "")]),
    )
    ids = [item.id for item in items if isinstance(item, ToolCallChunk)]
    assert ids[0] == "a"
    assert len(set(ids)) == 3
    assert all(ids)


def test_calls_that_share_one_index_without_ids_are_distinguished_by_complete_arguments() -> None:
    items = read_all(
        ReplyReader(),
        chunk(tool_calls=[call(0, "a", "read", '{"path": "x"}')]),
        chunk(tool_calls=[call(0, None, "list", "{}")]),
        chunk(tool_calls=[call(0, None, "list", "{}")]),
        chunk(tool_calls=[call(0, None, "list", " ")]),
    )
    calls = [(item.index, item.name, item.arguments) for item in items if isinstance(item, ToolCallChunk)]
    assert calls == [(0, "read", '{"path": "x"}'), (1, "list", "{}"), (2, "list", "{}"), (2, "", " ")]


def test_thinking_blocks_are_closed_by_their_signatures() -> None:
    reader = ReplyReader()
    items = read_all(
        reader,
        chunk(thinking_blocks=[{"type": "redacted_thinking", "data": "zz"}]),
        chunk(reasoning_content="one", thinking_blocks=[thought("one")]),
        chunk(reasoning_content="", thinking_blocks=[thought("", "s1")]),
        chunk(reasoning_content="two", thinking_blocks=[thought("two")]),
        chunk(reasoning_content="", thinking_blocks=[thought("", "s2")]),
        chunk(content="hi"),
    )
    assert items == [ThinkingChunk("one"), ThinkingChunk("two"), TextChunk("hi")]
    assert reader.finish("stop", None) == StreamFinished(
        FinishReason.STOP,
        (ThinkingBlock(redacted_data="zz"), ThinkingBlock("one", "s1"), ThinkingBlock("two", "s2")),
    )


def test_plain_reasoning_is_kept_without_a_signature() -> None:
    reader = ReplyReader()
    read_all(reader, chunk(reasoning_content="h"), chunk(reasoning_content="m"))
    assert reader.finish("stop", None).thinking == (ThinkingBlock("hm"),)


def test_stop_after_a_call_means_tool_calls() -> None:
    reader = ReplyReader()
    read_all(reader, chunk(tool_calls=[call(0, "a", "read", "{}")]))
    assert reader.finish("stop", None).reason is FinishReason.TOOL_CALLS


def test_a_reply_cut_by_its_length_stays_so_even_with_calls() -> None:
    reader = ReplyReader()
    read_all(reader, chunk(tool_calls=[call(0, "a", "read", '{"pa')]))
    assert reader.finish("length", None).reason is FinishReason.LENGTH


def test_a_filtered_reply_is_a_refusal() -> None:
    assert ReplyReader().finish("content_filter", None).reason is FinishReason.REFUSAL


def test_counts_come_from_the_details() -> None:
    reader = ReplyReader()
    usage = SimpleNamespace(
        prompt_tokens=100,
        completion_tokens=20,
        prompt_tokens_details=SimpleNamespace(cached_tokens=30, cache_creation_tokens=5),
        completion_tokens_details=SimpleNamespace(reasoning_tokens=7),
    )
    reader.read(SimpleNamespace(choices=[], usage=usage))
    assert reader.finish("stop", 0.5).usage == Usage(100, 20, 30, 5, 7, 0.5)


def test_a_reply_is_empty_until_something_was_said() -> None:
    reader = ReplyReader()
    reader.read(chunk(content=""))
    before = reader.is_empty
    reader.read(chunk(content="x"))
    assert (before, reader.is_empty) == (True, False)


def test_a_reply_is_over_with_the_chunk_that_says_why() -> None:
    going, counts = chunk(content="a"), SimpleNamespace(choices=[])
    last = SimpleNamespace(choices=[SimpleNamespace(finish_reason="stop")])
    assert [is_last(each) for each in (going, last, counts)] == [False, True, False]
