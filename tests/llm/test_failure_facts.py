"""Facts come from the depth of an exception, not from its class."""

import json
import socket
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from coder_tui.llm.failure_facts import Cause, FailureFacts, parse_retry_after, read_failure_facts

NOW = datetime(2026, 10, 21, 7, 28, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "1000000000"}, 300.0),
        ({"retry-after": "1e9"}, 300.0),
        ({"retry-after": "inf"}, 300.0),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "-5"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:42 GMT"}, 42.0),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:42 -0000"}, 42.0),
        ({"retry-after": "Wed, 21 Oct 2020 07:28:00 GMT"}, 0.0),
        ({"retry-after": "Wed, 21 Oct 2099 07:28:00 GMT"}, 300.0),
    ],
)
def test_retry_after_is_read_and_capped(headers: dict[str, str], seconds: float | None) -> None:
    assert parse_retry_after(headers, NOW) == seconds


class WrappedError(Exception):
    """Wraps as litellm does: a made-up status on top, the real error below."""

    status_code = 500


def wrapped(
    inner: BaseException, text: str = "litellm.InternalServerError: OpenAIException - odd"
) -> WrappedError:
    outer = WrappedError(text)
    outer.__context__ = inner
    return outer


@pytest.mark.parametrize(
    ("inner", "cause"),
    [
        (ConnectionRefusedError(), Cause.REFUSED),
        (socket.gaierror(), Cause.NO_ADDRESS),
        (ConnectionResetError(), Cause.CUT),
        (json.JSONDecodeError("no", "", 0), Cause.GARBAGE),
        (RuntimeError(), Cause.NONE),
    ],
)
def test_the_deepest_exception_names_the_cause(inner: BaseException, cause: Cause) -> None:
    assert read_failure_facts(wrapped(inner)).cause is cause


def test_the_status_of_a_real_response_goes_before_a_made_up_one() -> None:
    inner = RuntimeError()
    inner.response = SimpleNamespace(status_code=401, headers={"Retry-After": "3"})  # type: ignore[attr-defined]  # as HTTP libraries do
    assert read_failure_facts(
        wrapped(inner, 'AnthropicException - b\'{"message": "no \\"way\\""}\'')
    ) == FailureFacts(Cause.NONE, 401, 'no \\"way\\"', frozenset(), 3.0)


def test_an_exception_that_is_its_own_cause_ends() -> None:
    error = WrappedError("x")
    error.__context__ = error
    assert read_failure_facts(error) == FailureFacts(Cause.NONE, 500, "x", frozenset(), None)
