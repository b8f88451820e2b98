"""What the command line hands to the screen."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from coder_tui.ui.drawing.entries import ThinkingLevel

if TYPE_CHECKING:  # the first paint needs neither the agent nor pydantic
    from coder_tui.agent.session import Session


@dataclass(frozen=True, slots=True)
class Launch:
    """`open_session` is awaited after the first paint; `clean_up` is for an end that cannot come back.

    `edits` is a private folder for what is rewritten in an editor.
    """

    directory: Path
    theme: str
    use_ascii: bool
    open_session: "Callable[[], Awaitable[Session]]"
    theme_directory: Path | None = None
    clean_up: Callable[[], None] = lambda: None
    thinking: ThinkingLevel = ThinkingLevel.SUMMARY
    has_motion: bool = True
    edits: Path | None = None
