"""Opens the list of sub-agents, and the page on which one's conversation is read."""

from collections.abc import Collection
from typing import TYPE_CHECKING

from textual.screen import Screen

from coder_tui.protocol.subagents import ChildLine
from coder_tui.ui.glyphs import Chrome

if TYPE_CHECKING:  # the first paint needs neither the agent nor pydantic
    from coder_tui.agent.session import Session
    from coder_tui.ui.reading import BlockReader


class ChildReading:
    """Serves one session screen; `reader` copies and edits what is read."""

    def __init__(self, screen: Screen[None], chrome: Chrome, reader: "BlockReader") -> None:
        self._screen = screen
        self._chrome = chrome
        self._reader = reader

    def open_list(self, session: "Session", only: Collection[str] | None = None) -> None:
        """All of the session, or those of one call."""
        from coder_tui.ui.screens.subagents import SubagentsScreen

        def read(line: ChildLine) -> None:
            from coder_tui.ui.screens.child_page import ChildPage

            page = ChildPage(line, session, self._chrome, self._reader.copy, self._reader.edit)
            self._screen.app.push_screen(page)

        self._screen.app.push_screen(SubagentsScreen(self._chrome, session, read, only))
