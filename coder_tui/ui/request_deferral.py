"""Rule 1 of the approval guard: a request does not open over typing, a draft or another dialog."""

import math

QUIET_BEFORE_OPENING = 1.0


class Deferral:
    """Remembers the last key; all times are of one clock."""

    def __init__(self) -> None:
        self._last_key = -math.inf

    def pressed(self, at: float) -> None:
        self._last_key = max(self._last_key, at)

    def wait(self, at: float, *, has_draft: bool, is_covered: bool) -> float | None:
        """Seconds until a request may open; None when something has to change first."""
        if has_draft or is_covered:
            return None
        return max(0.0, self._last_key + QUIET_BEFORE_OPENING - at)
