"""Replies over real HTTP, through real litellm, in the shared model process."""

import asyncio
import json
from dataclasses import replace

import pytest

from coder_tui.llm.client import ModelInfo, ModelRequest, estimate_request, estimate_tokens
from coder_tui.llm.host_client import HostClient
from coder_tui.protocol.messages import (
    AssistantMessage,
    FinishReason,
    ThinkingBlock,
    ToolCall,
    ToolMessage,
    Usage,
    UserMessage,
)
from coder_tui.shell.hosts.link import Channel, JsonObject
from tests.fakes.anthropic_server import AnthropicServer
from tests.fakes.openai_server import OpenAIServer
from tests.fakes.script import Call, Reply, Tokens
from tests.llm.streaming import (
    CLAUDE,
    HELLO,
    READ,
    ask,
    calls_of,
    finish_of,
    reply_to,
    text_of,
    thinking_of,
)

pytestmark = pytest.mark.asyncio(loop_scope="session")

TWO_READS = (Call("read", {"path": "a.py"}, "call_a"), Call("read", {"path": "b.py"}, "call_b"))
TWO_CALLS = [
    ToolCall("call_a", "read", '{"path": "a.py"}'),
    ToolCall("call_b", "read", '{"path": "b.py"}'),
]


async def test_text_thinking_and_parallel_calls_stream_through(shared_host: HostClient) -> None:
    said = Reply(thinking="let me see", text="I read both.", calls=TWO_READS, usage=Tokens(100, 20, 30, 0, 7))
    async with OpenAIServer([said]) as server:
        items = await reply_to(shared_host, ask(server.url))
    assert thinking_of(items) == "let me see"
    assert text_of(items) == "I read both."
    assert calls_of(items) == TWO_CALLS
    finish = finish_of(items)
    assert finish.reason is FinishReason.TOOL_CALLS
    assert finish.usage == Usage(100, 20, 30, 0, 7, cost=None)


async def test_the_server_gets_the_request_as_meant(shared_host: HostClient) -> None:
    request = ModelRequest("openai/x", "be good", (HELLO,), (READ,), effort="high", max_tokens=77)
    async with OpenAIServer([Reply(text="hi")]) as server:
        await reply_to(shared_host, replace(request, api_base=server.url))
    assert server.requests == [
        {
            "model": "x",
            "messages": [{"role": "system", "content": "be good"}, {"role": "user", "content": "hello"}],
            "tools": [READ],
            "tool_choice": "auto",
            "reasoning_effort": "high",
            "max_tokens": 77,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
    ]


async def test_a_known_model_has_a_price(shared_host: HostClient) -> None:
    async with OpenAIServer([Reply(text="hi", usage=Tokens(1000, 100, 400))]) as server:
        items = await reply_to(shared_host, ask(server.url, "openai/gpt-4.1"))
    # 2 dollars per million tokens in, a quarter of that from the cache, 8 out.
    assert finish_of(items).usage.cost == pytest.approx((600 * 2 + 400 * 0.5 + 100 * 8) / 1e6)


async def test_claude_thinking_goes_back_byte_for_byte(shared_host: HostClient) -> None:
    signature = "RXJyb3I+/w==" * 40
    text = 'first é 漢 "quoted" \\ done'
    first = Reply(redacted="cmVkYWN0ZWQ=", thinking=text, signature=signature, text="ok", calls=TWO_READS)
    async with AnthropicServer([first, Reply(text="done")]) as server:
        items = await reply_to(shared_host, ask(server.url, CLAUDE))
        finish = finish_of(items)
        assert finish.thinking == (
            ThinkingBlock(redacted_data="cmVkYWN0ZWQ="),
            ThinkingBlock(text, signature),
        )
        conversation = (
            HELLO,
            AssistantMessage("2", "ok", finish.thinking, tuple(TWO_CALLS), model=CLAUDE),
            ToolMessage("3", "call_a", "read", '{"content": "A"}'),
            ToolMessage("4", "call_b", "read", '{"content": "B"}'),
        )
        request = ModelRequest(CLAUDE, "be good", conversation, (READ,), server.url, effort="low")
        await reply_to(shared_host, request)
    messages = server.requests[1]["messages"]
    assert isinstance(messages, list)
    assert messages[1]["content"] == [
        {"type": "redacted_thinking", "data": "cmVkYWN0ZWQ="},
        {"type": "thinking", "thinking": text, "signature": signature},
        {"type": "text", "text": "ok"},
        {"type": "tool_use", "id": "call_a", "name": "read", "input": {"path": "a.py"}},
        {"type": "tool_use", "id": "call_b", "name": "read", "input": {"path": "b.py"}},
    ]


async def test_claude_requests_are_marked_for_the_cache(shared_host: HostClient) -> None:
    async with AnthropicServer([Reply(text="hi", usage=Tokens(100, 20, 30, 5))]) as server:
        items = await reply_to(shared_host, ask(server.url, CLAUDE))
    body, mark = server.requests[0], {"type": "ephemeral"}
    assert body["system"] == [{"type": "text", "text": "be good", "cache_control": mark}]
    assert body["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "hello", "cache_control": mark}]}
    ]
    usage = finish_of(items).usage
    assert usage.cost == pytest.approx((65 * 3 + 30 * 0.3 + 5 * 3.75 + 20 * 15) / 1e6)
    assert replace(usage, cost=None) == Usage(100, 20, 30, 5, 0)


async def test_effort_reaches_claude_in_its_own_form_only(shared_host: HostClient) -> None:
    async with AnthropicServer([Reply(text="hi")]) as server:
        await reply_to(shared_host, replace(ask(server.url, CLAUDE), effort="high"))
    body = server.requests[0]
    assert (body["max_tokens"], "reasoning_effort" in body) == (32_000, False)
    assert body["thinking"] == {"type": "enabled", "budget_tokens": 4096}


async def test_streams_run_side_by_side(shared_host: HostClient) -> None:
    slow = Reply(text="slow", stall_after=1)
    async with OpenAIServer([slow]) as stalled, OpenAIServer([Reply(text="quick")]) as server:
        waiting = asyncio.ensure_future(reply_to(shared_host, ask(stalled.url)))
        await stalled.requested()
        items = await reply_to(shared_host, ask(server.url))
        assert (text_of(items), waiting.done()) == ("quick", False)
        waiting.cancel()
        await stalled.disconnected()


async def test_cancelling_the_task_hangs_up_on_the_server(shared_host: HostClient) -> None:
    async with OpenAIServer([Reply(text="a b c", stall_after=3), Reply(text="again")]) as server:
        waiting = asyncio.ensure_future(reply_to(shared_host, ask(server.url)))
        await server.requested()
        waiting.cancel()
        await server.disconnected()
        assert text_of(await reply_to(shared_host, ask(server.url))) == "again"


@pytest.mark.parametrize("steps", range(5))
async def test_a_cancellation_that_meets_an_answer_is_not_lost(
    shared_host: HostClient, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    arrived = asyncio.Event()
    put = Channel.put

    def put_and_tell(channel: Channel, answer: JsonObject | None) -> None:
        put(channel, answer)
        arrived.set()

    async with OpenAIServer([Reply(text="a b c", stall_after=3)]) as server:
        waiting = asyncio.ensure_future(reply_to(shared_host, ask(server.url)))
        monkeypatch.setattr(Channel, "put", put_and_tell)
        await arrived.wait()
        for _ in range(steps):
            await asyncio.sleep(0)
        waiting.cancel()
        # Where it was lost, nothing else ends the wait.
        await asyncio.wait({waiting}, timeout=10)
        assert waiting.cancelled()


@pytest.mark.parametrize(("kind", "model"), [(OpenAIServer, "openai/x"), (AnthropicServer, CLAUDE)])
async def test_closing_the_stream_hangs_up_on_the_server(
    shared_host: HostClient, kind: type[OpenAIServer | AnthropicServer], model: str
) -> None:
    async with kind([Reply(text="word " * 500, chunk_delay=0.02)]) as server:
        stream = shared_host.stream(ask(server.url, model))
        first = await anext(stream)
        await stream.aclose()  # type: ignore[attr-defined]  # the protocol promises an iterator; this one is a generator
        await server.disconnected()
    assert text_of([first])


async def test_a_cancelled_stream_leaves_the_same_host_running(shared_host: HostClient) -> None:
    before = shared_host.pid
    async with OpenAIServer([Reply(text="a", stall_after=1), Reply(text="b")]) as server:
        waiting = asyncio.ensure_future(reply_to(shared_host, ask(server.url)))
        await server.requested()
        waiting.cancel()
        await server.disconnected()
        await reply_to(shared_host, ask(server.url))
    assert shared_host.pid == before


async def test_text_that_cannot_be_encoded_is_sent_anyway(shared_host: HostClient) -> None:
    request = ModelRequest("openai/x", "", (UserMessage("1", "a\udcff\n\u2028é"),))
    async with OpenAIServer([Reply(text="漢\u2028\n字")]) as server:
        items = await reply_to(shared_host, replace(request, api_base=server.url))
    assert text_of(items) == "漢\u2028\n字"
    assert server.requests[0]["messages"] == [{"role": "user", "content": "a?\n\u2028é"}]


async def test_a_long_conversation_is_sent_completely(shared_host: HostClient) -> None:
    text = "0123456789abcdef" * 200_000
    async with OpenAIServer([Reply(text="read")]) as server:
        items = await reply_to(
            shared_host, ModelRequest("openai/x", "", (UserMessage("1", text),), api_base=server.url)
        )
    assert text_of(items) == "read"
    assert server.requests[0]["messages"] == [{"role": "user", "content": text}]


async def test_a_call_with_large_arguments_arrives_completely(shared_host: HostClient) -> None:
    content = "line\n" * 20_000
    async with OpenAIServer(
        [Reply(calls=(Call("write", {"content": content}),), argument_piece=50_000)]
    ) as server:
        (call,) = calls_of(await reply_to(shared_host, ask(server.url)))
    assert json.loads(call.arguments) == {"content": content}


async def test_a_server_without_token_counts_gets_estimates(shared_host: HostClient) -> None:
    async with OpenAIServer([Reply(text="hello there", usage=None)]) as server:
        items = await reply_to(shared_host, ask(server.url))
    assert finish_of(items).usage == Usage(estimate_request(ask(server.url)), estimate_tokens("hello there"))


async def test_a_local_short_name_never_carries_a_providers_key(shared_host: HostClient) -> None:
    async with OpenAIServer([Reply(text="hi")]) as server:
        items = await reply_to(shared_host, ask(server.url, "lm_studio/qwen3"))
    assert text_of(items) == "hi"
    assert (server.requests[0]["model"], server.headers[0]["authorization"]) == ("qwen3", "Bearer none")


async def test_facts_of_a_known_model(shared_host: HostClient) -> None:
    info = await shared_host.model_info("openai/gpt-4.1", "")
    assert info == ModelInfo(1_047_576, 32_768, 2.0, 8.0, True, True, info.supports_reasoning)


async def test_nothing_is_known_of_an_unknown_model(shared_host: HostClient) -> None:
    assert await shared_host.model_info("openai/no-such-model", "") == ModelInfo()
