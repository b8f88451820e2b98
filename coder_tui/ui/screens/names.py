"""The names in a change: what each is stands below the list, and Enter goes to where it comes from."""

from typing import ClassVar

from coder_tui.agent.code_lookup import Lookup, NamePlace
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.screens.picker import Hint, PickerScreen
from coder_tui.ui.widgets.fuzzy_list import Item

_LONGEST = 500
"""Characters of what a server tells, which has three rows."""


class NamesScreen(PickerScreen):
    heading: ClassVar[str] = "Names in this change"
    hints: ClassVar[tuple[Hint, ...]] = (("Enter", "definition"), ("Esc", "close"), ("Up Down", "move"))

    def __init__(self, chrome: Chrome, lookup: Lookup, path: str, names: tuple[NamePlace, ...]) -> None:
        super().__init__(chrome)
        self._lookup = lookup
        self._path = path
        self._names = names

    def fill(self) -> None:
        items = [
            Item(key=str(index), label=place.name, details=(f"{place.line + 1}", place.text))
            for index, place in enumerate(self._names)
        ]
        self.list.show(items, "0")

    def moved(self, item: Item | None) -> None:
        if item is None:
            # What was asked about the name before must not be told under an empty list.
            self.workers.cancel_group(self, "hover")
        else:
            self.say("Asking the language server.")
            self.run_worker(self._tell(item), group="hover", exclusive=True)

    async def _tell(self, item: Item) -> None:
        words = await self._lookup.hover(self._path, self._names[int(item.key)])
        self.say(_plain(words[:_LONGEST]))


def _plain(words: str) -> str:
    """Servers tell it as Markdown, of which a few rows without colours have no use."""
    lines = (line.strip() for line in words.splitlines())
    return "  ".join(line for line in lines if line and not line.startswith("```"))
