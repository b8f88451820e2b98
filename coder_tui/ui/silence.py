"""The least guard there is: nothing is taken before a moment without keys."""

from dataclasses import dataclass, field

from coder_tui.ui.approval_guard import ARM


@dataclass(slots=True)
class Silence:
    """All times are of one clock."""

    opened_at: float
    _armed_at: float = field(init=False)

    def __post_init__(self) -> None:
        self._armed_at = self.opened_at + ARM

    def is_ready(self, at: float) -> bool:
        return at >= self._armed_at

    @property
    def wakes_at(self) -> float:
        return self._armed_at

    def rearm(self, at: float) -> None:
        self._armed_at = max(self._armed_at, at + ARM)
