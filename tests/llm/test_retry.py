"""Retries double, obey the server, and end."""

import pytest

from coder_tui.llm.client import RetryPolicy
from coder_tui.protocol.errors import ModelError, ModelErrorKind

POLICY = RetryPolicy()
SERVER = ModelError(ModelErrorKind.SERVER, "500")


def test_waits_double_up_to_the_cap_and_then_end() -> None:
    policy = RetryPolicy(max_attempts=7)
    delays = [policy.delay(attempt, SERVER, 0.0) for attempt in range(1, 8)]
    assert delays == [2.0, 4.0, 8.0, 16.0, 30.0, 30.0, None]


def test_jitter_lengthens_a_wait_by_a_quarter_at_most() -> None:
    assert POLICY.delay(1, SERVER, 1.0) == 2.5


@pytest.mark.parametrize(("wish", "delay"), [(7.0, 7.0), (0.0, 0.0), (1e9, 300.0), (-1.0, 0.0)])
def test_retry_after_is_obeyed_within_limits(wish: float, delay: float) -> None:
    error = ModelError(ModelErrorKind.RATE_LIMIT, "429", retry_after=wish)
    assert POLICY.delay(1, error, 1.0) == delay


@pytest.mark.parametrize("kind", [kind for kind in ModelErrorKind if not ModelError(kind, "").is_retryable])
def test_errors_that_waiting_cannot_fix_are_not_retried(kind: ModelErrorKind) -> None:
    assert POLICY.delay(1, ModelError(kind, "x"), 0.0) is None
