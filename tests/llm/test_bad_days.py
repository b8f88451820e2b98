"""Failures of a server, over real HTTP: each ends in one clear sentence."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from coder_tui.llm.client import StreamFinished
from coder_tui.llm.host_client import HostClient
from coder_tui.protocol.errors import ModelError, ModelErrorKind
from tests.conftest import ENVIRONMENT
from tests.fakes.anthropic_server import AnthropicServer
from tests.fakes.openai_server import OpenAIServer
from tests.fakes.script import Call, Reply
from tests.llm.streaming import CLAUDE, ask, failure_of, reply_to, text_of

pytestmark = pytest.mark.asyncio(loop_scope="session")

Kind = ModelErrorKind
Server = type[OpenAIServer | AnthropicServer]
BOTH = pytest.mark.parametrize(("kind", "model"), [(OpenAIServer, "openai/x"), (AnthropicServer, CLAUDE)])
WRITE = Call("write", {"path": "a.py", "content": "something long enough to be cut in the middle"})


async def bad_day(host: HostClient, kind: Server, model: str, reply: Reply) -> tuple[ModelError, str]:
    """Return the error and the place that it names; no reply may count as finished."""
    async with kind([reply]) as server:
        items, error = await failure_of(host, ask(server.url, model))
    assert not any(isinstance(item, StreamFinished) for item in items)
    assert len(server.requests) == 1, "only the program itself may retry"
    return error, f"127.0.0.1:{server.port}"


@BOTH
@pytest.mark.parametrize("status", [401, 403])
async def test_a_key_that_is_not_accepted(
    shared_host: HostClient, kind: Server, model: str, status: int
) -> None:
    variable = "OPENAI_API_KEY" if kind is OpenAIServer else "ANTHROPIC_API_KEY"
    secret = ENVIRONMENT[variable]
    error, place = await bad_day(
        shared_host, kind, model, Reply(status=status, error=f"Incorrect API key: {secret}")
    )
    assert error == ModelError(
        Kind.BAD_KEY,
        f"{place} did not accept the API key ({status}).",
        f"Check {variable}, or choose another model with --model.",
    )


@BOTH
async def test_a_model_that_does_not_exist(shared_host: HostClient, kind: Server, model: str) -> None:
    error, place = await bad_day(
        shared_host, kind, model, Reply(status=404, error="The model does not exist")
    )
    assert error == ModelError(
        Kind.NO_MODEL,
        f"{place} has no model “{model}”.",
        "Run `coder-tui models` to list the models you can use.",
    )


async def requested_wait(host: HostClient, kind: Server, model: str, when: str) -> float:
    reply = Reply(status=429, headers={"Retry-After": when})
    error, place = await bad_day(host, kind, model, reply)
    assert (error.kind, error.message) == (Kind.RATE_LIMIT, f"{place} is limiting requests (429).")
    assert error.retry_after is not None
    return error.retry_after


@BOTH
@pytest.mark.parametrize(("header", "seconds"), [("7", 7.0), ("1000000000", 300.0)])
async def test_a_rate_limit_says_when_to_come_back(
    shared_host: HostClient, kind: Server, model: str, header: str, seconds: float
) -> None:
    assert await requested_wait(shared_host, kind, model, header) == seconds


@BOTH
async def test_a_rate_limit_may_name_a_date(shared_host: HostClient, kind: Server, model: str) -> None:
    when = format_datetime(datetime.now(UTC) + timedelta(seconds=200), usegmt=True)
    assert 1.0 <= await requested_wait(shared_host, kind, model, when) <= 200.0


@BOTH
async def test_a_rate_limit_without_a_time(shared_host: HostClient, kind: Server, model: str) -> None:
    error, place = await bad_day(shared_host, kind, model, Reply(status=429))
    assert error == ModelError(Kind.RATE_LIMIT, f"{place} is limiting requests (429).", "Try again later.")


async def test_an_account_without_credit_is_not_a_rate_limit(shared_host: HostClient) -> None:
    reply = Reply(status=429, error="You exceeded your current quota.", error_code="insufficient_quota")
    error, place = await bad_day(shared_host, OpenAIServer, "openai/x", reply)
    assert error == ModelError(
        Kind.BAD_REQUEST,
        f"{place} refused the request (429): You exceeded your current quota.",
        "Check the plan and balance of your account.",
    )


async def test_a_quota_per_minute_is_a_rate_limit(shared_host: HostClient) -> None:
    reply = Reply(status=429, error="You exceeded your current quota. Please retry in 31s.")
    error, _ = await bad_day(shared_host, OpenAIServer, "openai/x", reply)
    assert error.kind is Kind.RATE_LIMIT


@BOTH
@pytest.mark.parametrize("status", [500, 503])
async def test_an_internal_server_error(
    shared_host: HostClient, kind: Server, model: str, status: int
) -> None:
    error, place = await bad_day(shared_host, kind, model, Reply(status=status, error="Out of order."))
    assert error == ModelError(
        Kind.SERVER,
        f"{place} failed with an internal error ({status}): Out of order.",
        "Try again later.",
    )


@BOTH
@pytest.mark.parametrize(
    ("words", "window"),
    [
        (
            "This model's maximum context length is 128000 tokens. However, your messages had 300000.",
            128_000,
        ),
        ("prompt is too long: 210000 tokens > 200000 maximum", 200_000),
        ("the request (9000 tokens) exceeds the available context size (8192 tokens)", 8_192),
        ("Prompt contains 40000 tokens, too large for model with 32768 maximum context length", 32_768),
        ("the request exceeds the available context size, try increasing it", None),
    ],
)
async def test_a_conversation_too_long_for_the_model(
    shared_host: HostClient, kind: Server, model: str, words: str, window: int | None
) -> None:
    error, _ = await bad_day(shared_host, kind, model, Reply(status=400, error=words))
    assert error == ModelError(
        Kind.OVERFLOW,
        "The conversation no longer fits into the model's context window.",
        "Send a shorter message, or choose a model with a larger context window.",
        window=window,
    )


@BOTH
async def test_a_request_that_the_server_refuses(shared_host: HostClient, kind: Server, model: str) -> None:
    reply = Reply(status=400, error=f"bad tool, said {ENVIRONMENT['XAI_API_KEY']}")
    error, place = await bad_day(shared_host, kind, model, reply)
    assert error == ModelError(
        Kind.BAD_REQUEST, f"{place} refused the request (400): bad tool, said [redacted]."
    )


@BOTH
async def test_nobody_listens_at_the_address(shared_host: HostClient, kind: Server, model: str) -> None:
    async with kind([]) as server:
        url = server.url
    _, error = await failure_of(shared_host, ask(url, model))
    assert error == ModelError(
        Kind.REFUSED,
        f"Cannot connect to 127.0.0.1:{server.port}: it refused the connection.",
        "Is the server running? Check --api-base and the proxy variables.",
    )


async def test_an_address_that_does_not_exist(shared_host: HostClient) -> None:
    _, error = await failure_of(shared_host, ask("http://no-such-host.invalid/v1"))
    assert error.kind is Kind.REFUSED
    assert error.message.startswith("Cannot connect to no-such-host.invalid")


@BOTH
@pytest.mark.parametrize("cleanly", [False, True])
@pytest.mark.parametrize(
    "reply",
    [Reply(text="one two three", cut_after=4), Reply(calls=(WRITE,), cut_after=5)],
    ids=["text", "call"],
)
async def test_a_cut_stream_never_counts_as_finished(
    shared_host: HostClient, kind: Server, model: str, reply: Reply, cleanly: bool
) -> None:
    cut = Reply(text=reply.text, calls=reply.calls, cut_after=reply.cut_after, cut_cleanly=cleanly)
    error, place = await bad_day(shared_host, kind, model, cut)
    assert error == ModelError(
        Kind.CUT,
        f"{place} closed the connection in the middle of the reply.",
        "Nothing from that reply was run. Send the message again.",
    )


async def test_what_came_before_a_cut_is_still_shown(shared_host: HostClient) -> None:
    async with OpenAIServer([Reply(text="one two three", cut_after=3)]) as server:
        items, _ = await failure_of(shared_host, ask(server.url))
    assert text_of(items) == "one two"


@pytest.mark.parametrize(
    "garbage",
    [b'data: {"choices": [{\n\n', b"\xff\xfe\x00\x80\n\n", b"data: [1, 2]\n\n", b'data: "text"\n\n'],
)
async def test_garbage_in_the_stream(shared_host: HostClient, garbage: bytes) -> None:
    reply = Reply(text="one two three", garbage=garbage, garbage_after=2)
    error, place = await bad_day(shared_host, OpenAIServer, "openai/x", reply)
    assert error == ModelError(
        Kind.GARBAGE,
        f"{place} sent something that is not a model's reply.",
        "Check the server's address: --api-base usually ends in /v1.",
    )


async def test_garbage_in_a_claude_stream_is_not_a_reply(shared_host: HostClient) -> None:
    reply = Reply(
        text="one two three", garbage=b'data: {"type": "content_block_delta", \n\n', garbage_after=3
    )
    error, _ = await bad_day(shared_host, AnthropicServer, CLAUDE, reply)
    assert error.kind in {Kind.GARBAGE, Kind.CUT}


@BOTH
async def test_a_web_page_instead_of_a_reply(shared_host: HostClient, kind: Server, model: str) -> None:
    error, _ = await bad_day(shared_host, kind, model, Reply(body="<html><h1>Sign in</h1></html>"))
    assert error.kind is Kind.GARBAGE


async def test_an_error_in_the_middle_of_the_stream(shared_host: HostClient) -> None:
    said = b'data: {"error": {"message": "Overloaded", "code": 503}}\n\n'
    error, place = await bad_day(
        shared_host, OpenAIServer, "openai/x", Reply(text="one two", garbage=said, garbage_after=2)
    )
    assert (error.kind, error.message) == (
        Kind.SERVER,
        f"{place} failed with an internal error (500): Overloaded.",
    )


@pytest.mark.parametrize("reply", [Reply(text="one two", stall_after=2), Reply(keep_alive=True)])
async def test_a_silent_server_is_given_up(
    shared_host: HostClient, reply: Reply, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_host, "_idle_timeout", 0.4)
    async with OpenAIServer([reply]) as server:
        _, error = await failure_of(shared_host, ask(server.url))
        await server.disconnected()
    assert error == ModelError(
        Kind.IDLE,
        f"127.0.0.1:{server.port} has sent nothing for 0.4 seconds.",
        "Try again, or choose another model with --model.",
    )


async def test_a_missing_key_is_named_before_anything_is_sent(shared_host: HostClient) -> None:
    _, error = await failure_of(shared_host, ask("", "mistral/mistral-small-latest"))
    assert error == ModelError(
        Kind.NO_KEY,
        "There is no API key for Mistral.",
        "Set MISTRAL_API_KEY, or choose another model with --model.",
    )


async def test_an_unknown_provider_has_no_such_model(shared_host: HostClient) -> None:
    _, error = await failure_of(shared_host, ask("", "nobody/nothing"))
    assert error == ModelError(
        Kind.NO_MODEL,
        "nobody has no model “nobody/nothing”.",
        "Run `coder-tui models` to list the models you can use.",
    )


async def test_the_next_call_works_after_any_failure(shared_host: HostClient) -> None:
    script = [Reply(status=500), Reply(status=500), Reply(text="one", cut_after=1), Reply(text="fine")]
    async with OpenAIServer(script) as server:
        for _ in range(3):
            await failure_of(shared_host, ask(server.url))
        assert text_of(await reply_to(shared_host, ask(server.url))) == "fine"
