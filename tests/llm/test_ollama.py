"""Ollama over real HTTP: it cuts off what does not fit its window, so each request sets one."""

from dataclasses import replace

import pytest

from coder_tui.llm.client import ModelRequest, StreamFinished, estimate_request
from coder_tui.llm.host_client import HostClient
from coder_tui.llm.providers import OLLAMA_WINDOW, may_cut_prompts
from coder_tui.protocol.errors import ModelError, ModelErrorKind
from coder_tui.protocol.messages import FinishReason, Usage, UserMessage
from tests.fakes.ollama_server import OllamaServer
from tests.fakes.script import Call, Reply, Tokens
from tests.llm.streaming import READ, ask, calls_of, failure_of, finish_of, reply_to, text_of, thinking_of

pytestmark = pytest.mark.asyncio(loop_scope="session")

NAMES = pytest.mark.parametrize("model", ["ollama/qwen3", "ollama_chat/qwen3"])
THREE_CALLS = (Call("read", {"path": "a.py"}), Call("list"), Call("list"))


def windows_asked_for(server: OllamaServer) -> list[object]:
    options = [request["options"] for request in server.requests]
    return [each["num_ctx"] for each in options if isinstance(each, dict)]


@NAMES
async def test_text_thinking_and_calls_stream_through(shared_host: HostClient, model: str) -> None:
    said = Reply(thinking="let me see", text="I read it.", calls=THREE_CALLS, usage=Tokens(100, 20))
    async with OllamaServer([said]) as server:
        items = await reply_to(shared_host, ask(server.url, model))
    assert (thinking_of(items), text_of(items)) == ("let me see", "I read it.")
    assert [(call.name, call.arguments) for call in calls_of(items)] == [
        ("read", '{"path": "a.py"}'),
        ("list", "{}"),
        ("list", "{}"),
    ]
    finish = finish_of(items)
    assert (finish.reason, finish.usage) == (FinishReason.TOOL_CALLS, Usage(100, 20))


@NAMES
async def test_the_window_fits_the_request(shared_host: HostClient, model: str) -> None:
    request = ModelRequest(model, "be good " * 3_000, (UserMessage("1", "hello"),), (READ,))
    async with OllamaServer([Reply(text="hi")], window=262_144) as server:
        await reply_to(shared_host, replace(request, api_base=server.url))
    assert windows_asked_for(server) == [OLLAMA_WINDOW]
    assert OLLAMA_WINDOW > estimate_request(request) > 4_096
    messages = server.requests[0]["messages"]
    assert isinstance(messages, list)
    assert messages[0]["content"] == request.system


async def test_the_window_is_no_larger_than_the_models_own_which_is_asked_for_once(
    shared_host: HostClient,
) -> None:
    async with OllamaServer([Reply(text="a"), Reply(text="b")], window=8_192) as server:
        for _ in range(2):
            await reply_to(shared_host, ask(server.url, "ollama/qwen3"))
        info = await shared_host.model_info("ollama/qwen3", server.url)
    assert (windows_asked_for(server), info.context_window) == ([8_192, 8_192], 8_192)
    assert server.shown == 1


async def test_the_window_can_be_set(shared_host: HostClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_host, "_context_window", 65_536)
    async with OllamaServer([Reply(text="a")], window=262_144) as server:
        await reply_to(shared_host, ask(server.url, "ollama/qwen3"))
        info = await shared_host.model_info("ollama/qwen3", server.url)
        other = await shared_host.model_info("openai/gpt-4.1", "")
    assert (windows_asked_for(server), info.context_window) == ([65_536], 65_536)
    assert other.context_window == 65_536


async def test_a_request_that_cannot_fit_is_refused_instead_of_cut(shared_host: HostClient) -> None:
    request = ModelRequest("ollama/qwen3", "be good " * 3_000, (UserMessage("1", "hello"),))
    async with OllamaServer([Reply(text="hi")], window=4_096) as server:
        _, error = await failure_of(shared_host, replace(request, api_base=server.url))
    assert (error.kind, error.window, server.requests) == (ModelErrorKind.OVERFLOW, 4_096, [])


@pytest.mark.parametrize("cleanly", [False, True])
@pytest.mark.parametrize(
    "reply", [Reply(text="one two three", cut_after=2), Reply(calls=THREE_CALLS, cut_after=1)]
)
async def test_a_cut_stream_never_counts_as_finished(
    shared_host: HostClient, reply: Reply, cleanly: bool
) -> None:
    async with OllamaServer([replace(reply, cut_cleanly=cleanly)]) as server:
        items, error = await failure_of(shared_host, ask(server.url, "ollama/qwen3"))
    assert not any(isinstance(item, StreamFinished) for item in items)
    assert error.kind is ModelErrorKind.CUT


async def test_a_missing_model(shared_host: HostClient) -> None:
    reply = Reply(status=404, error="model 'qwen3' not found")
    async with OllamaServer([reply]) as server:
        _, error = await failure_of(shared_host, ask(server.url, "ollama/qwen3"))
    assert error == ModelError(
        ModelErrorKind.NO_MODEL,
        f"127.0.0.1:{server.port} has no model “ollama_chat/qwen3”.",
        "Run `coder-tui models` to list the models you can use.",
    )


async def test_a_local_short_name_carries_no_key_of_a_provider(shared_host: HostClient) -> None:
    async with OllamaServer([Reply(text="hi")]) as server:
        await reply_to(shared_host, ask(server.url, "ollama/qwen3"))
    assert server.headers[0]["authorization"] == "Bearer none"


@pytest.mark.parametrize(
    ("model", "api_base", "cuts"),
    [
        ("ollama/x", "", True),
        ("ollama_chat/x", "http://box:7", True),
        ("lm_studio/x", "", True),
        ("openai/x", "http://127.0.0.1:11434/v1", True),
        ("openai/x", "http://127.0.0.1:9/v1", False),
        ("openai/x", "http://box:none", False),
        ("anthropic/x", "", False),
    ],
)
async def test_which_servers_may_cut_a_prompt(model: str, api_base: str, cuts: bool) -> None:
    assert may_cut_prompts(model, api_base) is cuts
