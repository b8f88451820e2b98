"""The agents that can lead a session, and what each is for."""

from collections.abc import Iterable
from typing import ClassVar

from coder_tui.text.safe_text import safe_line
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.screens.picker import PickerScreen
from coder_tui.ui.widgets.fuzzy_list import Item


class AgentsScreen(PickerScreen):
    """`agents` are names with descriptions; both may come from a stranger's file."""

    heading: ClassVar[str] = "Agent"

    def __init__(self, chrome: Chrome, agents: Iterable[tuple[str, str]], current: str) -> None:
        super().__init__(chrome)
        self._agents = tuple(agents)
        self._current = current

    def fill(self) -> None:
        items = [
            Item(
                key=name,
                label=safe_line(name),
                lead=self.chrome.ready if name == self._current else "",
                details=(safe_line(description),),
            )
            for name, description in self._agents
        ]
        self.list.show(items, self._current)

    def choose(self, item: Item) -> None:
        self.dismiss(item.key)
