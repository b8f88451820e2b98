"""When a turn must stop or ask: steps, time, and calls that go in circles."""

from collections import deque
from dataclasses import dataclass

from coder_tui.protocol.messages import ToolCall


@dataclass(frozen=True, slots=True)
class Limits:
    max_steps: int = 200
    max_minutes: float | None = None
    repeated_calls: int = 3

    @property
    def seconds(self) -> float | None:
        return None if self.max_minutes is None else self.max_minutes * 60

    @property
    def out_of_time(self) -> str:
        return f"Stopped after {self.max_minutes:g} minutes, the limit of one turn (limits.max_minutes)."

    def exceeded(self, steps: int) -> str:
        """The sentence that says which limit was met; empty while none is."""
        if steps >= self.max_steps:
            calls = "1 model call" if steps == 1 else f"{steps} model calls"
            return f"Stopped after {calls}, the limit of one turn (limits.max_steps, --max-turns)."
        return ""


class RepeatDetector:
    """Notices the same call again and again, and two calls that take turns."""

    _LONGEST_CYCLE = 2

    def __init__(self, threshold: int) -> None:
        self._threshold = threshold
        self._recent: deque[tuple[str, str]] = deque(maxlen=threshold * self._LONGEST_CYCLE)

    def is_repeat(self, call: ToolCall) -> bool:
        """Note the call; True when it completes `threshold` rounds of the same one or two calls."""
        self._recent.append((call.name, call.arguments))
        recent = list(self._recent)
        return any(self._ends_in_cycle(recent, length) for length in range(1, self._LONGEST_CYCLE + 1))

    def _ends_in_cycle(self, recent: list[tuple[str, str]], length: int) -> bool:
        tail = recent[-length * self._threshold :]
        return len(tail) == length * self._threshold and tail == tail[:length] * self._threshold
