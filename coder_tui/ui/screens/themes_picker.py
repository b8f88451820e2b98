"""Themes, each shown as the mark reaches it."""

from collections.abc import Sequence
from typing import ClassVar

from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.keys import Context, bindings
from coder_tui.ui.screens.picker import Hint, PickerScreen
from coder_tui.ui.screens.picker_actions import SAVE
from coder_tui.ui.widgets.fuzzy_list import Item


class ThemesScreen(PickerScreen):
    """The theme that was there before comes back, unless another one is chosen."""

    BINDINGS = bindings(Context.THEMES)
    help_context = Context.THEMES
    heading = "Theme"
    hints: ClassVar[tuple[Hint, ...]] = (
        ("Enter", "use it now"),
        ("Ctrl+Y", "use it always"),
        ("Esc", "close"),
        ("Up Down", "move"),
    )

    def __init__(self, chrome: Chrome, names: Sequence[str], current: str, query: str = "") -> None:
        super().__init__(chrome, query)
        self._names = names
        self._before = current
        self._is_shown = False

    def fill(self) -> None:
        items = [
            Item(
                key=name,
                label=name,
                details=(f"{self.chrome.ready} in use" if name == self._before else "",),
                note="Enter keeps it for this run, Ctrl+Y writes it into your settings.",
            )
            for name in self._names
        ]
        self.list.show(items, self._before)

    def moved(self, item: Item | None) -> None:
        if item is not None and item.key != self.app.theme and self.is_attached:
            self.app.theme = item.key

    def action_keep(self) -> None:
        if (item := self.list.marked) is not None:
            self.dismiss(f"{SAVE} {item.key}")

    def action_close(self) -> None:
        if not self.line.text:
            self.app.theme = self._before
        super().action_close()
