"""When to try a failed model call again, and after how long."""

from dataclasses import dataclass

from coder_tui.protocol.errors import ModelError, ModelErrorKind

LONGEST_WAIT = 300.0
MOST_KNOCKS = 3
"""Where nobody listens, somebody seldom comes while one waits."""
_JITTER_SHARE = 0.25


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Doubles `base` up to `cap`, in seconds; a server's own wish goes before that, within `LONGEST_WAIT`."""

    max_attempts: int = 5
    base: float = 2.0
    cap: float = 30.0

    def delay(self, attempt: int, error: ModelError, jitter: float) -> float | None:
        """Seconds to wait after failed attempt number `attempt` (from 1), None to give up.

        `jitter` in 0…1 spreads clients that failed together; it lengthens the wait by at most a quarter.
        """
        if not error.is_retryable or attempt >= self.max_attempts:
            return None
        if error.kind is ModelErrorKind.REFUSED and attempt >= MOST_KNOCKS:
            return None
        if error.retry_after is not None:
            return min(max(error.retry_after, 0.0), LONGEST_WAIT)
        doubled: float = self.base * 2.0 ** (attempt - 1)
        return min(doubled, self.cap) * (1 + _JITTER_SHARE * jitter)
