"""The type of the fixture that compares an app of one's own with a stored picture."""

from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from textual.app import App
from textual.pilot import Pilot


class SnapCompare(Protocol):
    def __call__(
        self,
        app: App[Any],
        *,
        terminal_size: tuple[int, int],
        run_before: Callable[[Pilot[int]], Awaitable[None]],
    ) -> bool: ...
