"""The help, which finds keys, and the command palette, which finds actions by a part of their name."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from textual.app import App

from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.keys import Context, KeyAction, bindings, shown
from coder_tui.ui.lists.picker import PickerScreen
from coder_tui.ui.lists.row_list import Item
from coder_tui.ui.session.screen import SessionScreen
from coder_tui.ui.themes import own_themes


def help_items(rows: Iterable[KeyAction], first: Context) -> list[Item]:
    """Return the keys by context, the current one first, without those of replays."""
    others = (context for context in Context if context not in (first, Context.REPLAY))
    order = [first, *others]
    listed = [row for row in rows if row.keys and row.in_help]
    return [_item(row) for context in order for row in listed if row.context is context]


def _item(row: KeyAction) -> Item:
    return Item(
        key=row.id,
        label=row.title,
        details=(shown(row.keys),),
        note=f"{shown(row.keys)}  {row.title}" + (f"  [ui.keys] {row.id}" if row.action else ""),
        group=row.context.value,
        also=f"{shown(row.keys)} {row.context.value}",
    )


class HelpScreen(PickerScreen):
    """All keys, above the current screen."""

    BINDINGS = bindings(Context.HELP)
    help_context = Context.HELP
    heading = "Keys"
    hints = (("type", "to search"), ("Up Down", "move"), ("Esc", "close"))

    def __init__(self, chrome: Chrome, rows: Sequence[KeyAction], first: Context) -> None:
        super().__init__(chrome)
        self._rows = rows
        self._first = first

    def fill(self) -> None:
        self.list.show(help_items(self._rows, self._first))

    def choose(self, item: Item) -> None:
        self.dismiss(None)

    def action_leave(self) -> None:
        self.dismiss(None)


@dataclass(frozen=True, slots=True)
class PaletteEntry:
    """`keys` are formatted for the user; `run` is called after the palette has closed."""

    title: str
    keys: str
    run: Callable[[], object]


class PaletteScreen(PickerScreen):
    """Runs the chosen entry."""

    heading = "Commands"
    hints = (("Enter", "run"), ("Esc", "close"), ("Up Down", "move"))

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
        # After the palette has closed: the action is meant for the screen below.
        self.app.call_later(entry.run)


def palette_entries(
    app: App[Any], rows: Iterable[KeyAction], session: SessionScreen
) -> Iterator[PaletteEntry]:
    """Return actions, then slash commands without a key or a required argument, then themes."""
    for row in rows:
        if row.in_palette and session.offers(row.id):
            yield PaletteEntry(row.title, shown(row.keys), partial(app.run_action, row.action))
    commands = session.widgets.composing.commands
    for command in commands.offered():
        if command.opens is None and (not command.argument or command.argument.startswith("[")):
            line = f"/{command.name}"
            yield PaletteEntry(command.summary, line, partial(commands.run_line, line))
    for name in own_themes(app):
        yield PaletteEntry(f"Theme {name}", "", partial(setattr, app, "theme", name))
