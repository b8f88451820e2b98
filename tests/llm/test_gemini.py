"""Gemini over real HTTP: a reply is complete only if the server sent its finish reason."""

import pytest

from coder_tui.llm.client import ModelRequest, StreamFinished
from coder_tui.llm.host_client import HostClient
from coder_tui.protocol.errors import ModelError, ModelErrorKind
from coder_tui.protocol.messages import AssistantMessage, FinishReason, ToolMessage, Usage
from tests.fakes.gemini_server import GeminiServer
from tests.fakes.script import Call, Reply, Tokens
from tests.llm.streaming import (
    HELLO,
    READ,
    ask,
    calls_of,
    failure_of,
    finish_of,
    reply_to,
    text_of,
    thinking_of,
)

pytestmark = pytest.mark.asyncio(loop_scope="session")

GEMINI = "gemini/gemini-2.5-pro"
TWO_READS = (Call("read", {"path": "a.py"}), Call("read", {"path": "b.py"}))
BLOCKED = b'data: {"promptFeedback": {"blockReason": "SAFETY"}}\n\n'
COUNTS = b'data: {"usageMetadata": {"promptTokenCount": 7, "candidatesTokenCount": 2}}\n\n'


async def test_text_and_thinking_stream_through(shared_host: HostClient) -> None:
    said = Reply(thinking="let me see", text="one two three", usage=Tokens(100, 20, 30, 0, 7))
    async with GeminiServer([said]) as server:
        items = await reply_to(shared_host, ask(server.url, GEMINI))
    assert (thinking_of(items), text_of(items)) == ("let me see", "one two three")
    finish = finish_of(items)
    assert finish.reason is FinishReason.STOP
    assert (finish.usage.input_tokens, finish.usage.output_tokens) == (100, 20)


async def test_calls_are_run_and_their_results_go_back(shared_host: HostClient) -> None:
    async with GeminiServer([Reply(text="I read both.", calls=TWO_READS), Reply(text="done")]) as server:
        items = await reply_to(shared_host, ask(server.url, GEMINI))
        calls = calls_of(items)
        assert [(call.name, call.arguments) for call in calls] == [
            ("read", '{"path": "a.py"}'),
            ("read", '{"path": "b.py"}'),
        ]
        assert finish_of(items).reason is FinishReason.TOOL_CALLS
        said = AssistantMessage("2", text_of(items), (), tuple(calls), model=GEMINI)
        results = [ToolMessage(call.id, call.id, "read", '{"content": "A"}') for call in calls]
        request = ModelRequest(GEMINI, "", (HELLO, said, *results), (READ,), server.url)
        assert text_of(await reply_to(shared_host, request)) == "done"
    contents = server.requests[1]["contents"]
    assert isinstance(contents, list)
    assert [list(part) for content in contents for part in content["parts"]] == [
        ["text"],
        ["text"],
        ["function_call"],
        ["function_call"],
        ["function_response"],
        ["function_response"],
    ]


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        ("STOP", FinishReason.STOP),
        ("MAX_TOKENS", FinishReason.LENGTH),
        ("SAFETY", FinishReason.REFUSAL),
    ],
)
async def test_the_finish_reason_is_the_servers(
    shared_host: HostClient, sent: str, reason: FinishReason
) -> None:
    async with GeminiServer([Reply(text="one two", finish=sent)]) as server:
        items = await reply_to(shared_host, ask(server.url, GEMINI))
    assert (text_of(items), finish_of(items).reason) == ("one two", reason)


async def test_a_blocked_prompt_is_a_refusal(shared_host: HostClient) -> None:
    reply = Reply(garbage=BLOCKED, garbage_after=0, cut_after=0, cut_cleanly=True)
    async with GeminiServer([reply]) as server:
        items = await reply_to(shared_host, ask(server.url, GEMINI))
    assert [finish_of(items).reason] == [FinishReason.REFUSAL]


async def test_counts_before_the_end_do_not_end_a_reply(shared_host: HostClient) -> None:
    async with GeminiServer([Reply(text="one two", garbage=COUNTS, garbage_after=1)]) as server:
        items = await reply_to(shared_host, ask(server.url, GEMINI))
    assert (text_of(items), finish_of(items).usage) == (
        "one two",
        Usage(10, 5, cost=finish_of(items).usage.cost),
    )


@pytest.mark.parametrize("cleanly", [False, True])
@pytest.mark.parametrize(
    "reply",
    [
        Reply(text="one two three", cut_after=2),
        Reply(calls=TWO_READS, cut_after=1),
        Reply(calls=TWO_READS, cut_after=2),
    ],
    ids=["text", "call", "calls"],
)
async def test_a_cut_stream_never_counts_as_finished(
    shared_host: HostClient, reply: Reply, cleanly: bool
) -> None:
    cut = Reply(text=reply.text, calls=reply.calls, cut_after=reply.cut_after, cut_cleanly=cleanly)
    async with GeminiServer([cut]) as server:
        items, error = await failure_of(shared_host, ask(server.url, GEMINI))
    assert not any(isinstance(item, StreamFinished) for item in items)
    assert error == ModelError(
        ModelErrorKind.CUT,
        f"127.0.0.1:{server.port} closed the connection in the middle of the reply.",
        "Nothing from that reply was run. Send the message again.",
    )
