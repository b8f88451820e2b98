"""Looks a name of a change up for a person: what it is, and where it is defined.

The names in a change: what each is stands below the list, and Enter goes to where it comes from.
"""

from collections.abc import Callable
from typing import Any, ClassVar

from textual.screen import Screen

from coder_tui.agent.diagnostics.lookup import Lookup, NamePlace
from coder_tui.ui.diff.view import DiffView
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.lists.fuzzy_list import Item
from coder_tui.ui.lists.picker import Hint, PickerScreen

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


NO_NAMES = "There is no name in this hunk."


async def look_up(
    screen: Screen[Any],
    lookup: Lookup,
    chrome: Chrome,
    asked: DiffView.NamesAsked,
    open_place: Callable[[str, int, int], None],
    say: Callable[[str], None],
) -> None:
    """To the end: nothing was chosen, the place is open, or it was said why not."""
    names = tuple(NamePlace(*named) for named in asked.names)
    if not names:
        say(NO_NAMES)
        return
    chosen = await screen.app.push_screen_wait(NamesScreen(chrome, lookup, asked.path, names))
    if chosen is None:
        return
    found = await lookup.definition(asked.path, names[int(chosen)])
    if isinstance(found, str):
        say(found)
    else:
        open_place(found.path, found.line, found.character)
