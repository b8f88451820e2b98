"""Opens the list of sub-agents, and the page on which one's conversation is read."""

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from textual.screen import Screen

from coder_tui.protocol.errors import UserError
from coder_tui.protocol.subagents import ChildLine
from coder_tui.ui.glyphs import Chrome

if TYPE_CHECKING:  # the first paint needs neither the agent nor pydantic
    from coder_tui.agent.session import Session
    from coder_tui.ui.reading import BlockReader


class ChildReading:
    """Serves one session screen; `reader` copies and edits what is read."""

    def __init__(
        self, screen: Screen[None], chrome: Chrome, reader: "BlockReader", say: Callable[[str], None]
    ) -> None:
        self._screen = screen
        self._chrome = chrome
        self._reader = reader
        self._say = say

    def open_list(self, session: "Session", only: Collection[str] | None = None) -> None:
        """All of the session, or those of one call."""
        from coder_tui.ui.screens.subagents import SubagentsScreen

        def read(line: ChildLine) -> None:
            self._screen.run_worker(self._open(session, line), group="read")

        self._screen.app.push_screen(SubagentsScreen(self._chrome, session, read, only))

    async def _open(self, session: "Session", line: ChildLine) -> None:
        from coder_tui.ui.drawing.child_entries import child_entries
        from coder_tui.ui.screens.pager import PagerScreen

        try:
            events = await session.subagents.events(line.child_id)
        except UserError as error:
            self._say(str(error))
            return
        entries = list(child_entries(events))
        title = f"{line.agent}  {line.state}  {line.task}"
        pager = PagerScreen(title, self._chrome, self._reader.copy, self._reader.edit)
        pager.show(entries, "\n\n".join(entry.source for entry in entries))
        await self._screen.app.push_screen(pager)
