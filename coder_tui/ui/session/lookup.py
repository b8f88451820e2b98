"""Lists the names in a change: shows what each is, and goes to its definition on Enter."""

from collections.abc import Callable
from typing import Any, ClassVar

from textual.screen import Screen

from coder_tui.agent.diagnostics.lookup import CodeLookup, NamePlace
from coder_tui.ui.diff.view import DiffView
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.lists.picker import Hint, PickerScreen
from coder_tui.ui.lists.row_list import Item

_LONGEST = 500
"""Characters of a server's answer, which has three rows."""


class NamesScreen(PickerScreen):
    heading: ClassVar[str] = "Names in this change"
    hints: ClassVar[tuple[Hint, ...]] = (("Enter", "definition"), ("Esc", "close"), ("Up Down", "move"))

    def __init__(self, chrome: Chrome, lookup: CodeLookup, path: str, names: tuple[NamePlace, ...]) -> None:
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
            # The answer about an earlier name must not appear under an empty list.
            self.workers.cancel_group(self, "hover")
        else:
            self.show_note("Asking the language server.")
            self.run_worker(self._show_hover(item), group="hover", exclusive=True)

    async def _show_hover(self, item: Item) -> None:
        words = await self._lookup.hover(self._path, self._names[int(item.key)])
        self.show_note(_plain(words[:_LONGEST]))


def _plain(words: str) -> str:
    """Remove Markdown fences, which are useless in a few rows without colors."""
    lines = (line.strip() for line in words.splitlines())
    return "  ".join(line for line in lines if line and not line.startswith("```"))


NO_NAMES = "This hunk has no names to look up."


async def look_up(
    screen: Screen[Any],
    lookup: CodeLookup,
    chrome: Chrome,
    asked: DiffView.NamesAsked,
    open_place: Callable[[str, int, int], None],
    say: Callable[[str], None],
) -> None:
    """Let the user choose a name and open its definition, or show why that failed."""
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
