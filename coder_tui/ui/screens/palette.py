"""Everything that can be done now, found by typing a part of its name."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from textual.app import App

from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.keys import KeyAction, shown
from coder_tui.ui.screens.picker import Hint, PickerScreen
from coder_tui.ui.screens.session import SessionScreen
from coder_tui.ui.themes import own_themes
from coder_tui.ui.widgets.fuzzy_list import Item


@dataclass(frozen=True, slots=True)
class PaletteEntry:
    """`keys` as a person reads them; `run` is called after the palette has gone."""

    title: str
    keys: str
    run: Callable[[], object]


class PaletteScreen(PickerScreen):
    """Ends with the number of the entry."""

    heading = "Commands"
    hints: ClassVar[tuple[Hint, ...]] = (("Enter", "run"), ("Esc", "close"), ("Up Down", "move"))

    def __init__(self, chrome: Chrome, entries: Iterable[PaletteEntry]) -> None:
        super().__init__(chrome)
        self.entries = tuple(entries)

    def fill(self) -> None:
        self.list.show(
            [
                Item(key=str(at), label=entry.title, details=(entry.keys,), also=entry.keys)
                for at, entry in enumerate(self.entries)
            ]
        )

    def choose(self, item: Item) -> None:
        entry = self.entries[int(item.key)]
        self.dismiss(item.key)
        # Behind what closing leaves to do: the action is meant for the screen below.
        self.app.call_later(entry.run)


def palette_entries(
    app: App[Any], rows: Iterable[KeyAction], session: SessionScreen
) -> Iterator[PaletteEntry]:
    """Actions, then slash commands that no key stands for and that need no further word, then themes."""
    for row in rows:
        if row.in_palette and session.offers(row.action):
            yield PaletteEntry(row.title, shown(row.keys), partial(app.run_action, row.action))
    for command in session.composing.commands.offered():
        if command.opens is None and (not command.argument or command.argument.startswith("[")):
            line = f"/{command.name}"
            yield PaletteEntry(command.summary, line, partial(session.composing.commands.take, line))
    for name in own_themes(app):
        yield PaletteEntry(f"Theme {name}", "", partial(setattr, app, "theme", name))
