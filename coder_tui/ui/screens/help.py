"""All keys, generated from the table that makes the bindings, with a person's own keys in it."""

from collections.abc import Iterable, Sequence
from typing import ClassVar

from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.keys import Context, KeyAction, bindings, shown
from coder_tui.ui.screens.picker import Hint, PickerScreen
from coder_tui.ui.widgets.fuzzy_list import Item


def help_items(rows: Iterable[KeyAction], first: Context) -> list[Item]:
    """By context, the current one first. A replay is a program of its own, whose keys hold nowhere else."""
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
    """A page of keys over the current screen."""

    BINDINGS = bindings(Context.HELP)
    help_context = Context.HELP
    heading = "Keys"
    hints: ClassVar[tuple[Hint, ...]] = (("type", "to search"), ("Up Down", "move"), ("Esc", "close"))

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
