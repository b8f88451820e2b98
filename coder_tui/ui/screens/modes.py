"""The modes, and what each lets run without a question."""

from typing import ClassVar

from coder_tui.protocol.access import Mode
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.screens.picker import PickerScreen
from coder_tui.ui.widgets.fuzzy_list import Item

_WORDS: dict[Mode, str] = {
    Mode.ASK: "asks before edits and commands",
    Mode.EDITS: "edits without asking, asks before commands",
    Mode.AUTO: "also runs commands that the sandbox confines",
    Mode.PLAN: "reads only, and makes a plan",
}
AGAIN = "Confined commands will run unasked. Press Enter again to switch auto on."


class ModesScreen(PickerScreen):
    heading: ClassVar[str] = "Mode"

    def __init__(self, chrome: Chrome, current: Mode) -> None:
        super().__init__(chrome)
        self._current = current

    def fill(self) -> None:
        items = [
            Item(
                key=mode,
                label=mode,
                lead=self.chrome.ready if mode is self._current else "",
                details=(_WORDS[mode],),
            )
            for mode in Mode
        ]
        self.list.show(items, self._current)

    def choose(self, item: Item) -> None:
        if (
            item.key == Mode.AUTO
            and self._current is not Mode.AUTO
            and not self.pressed_twice(item.key, AGAIN)
        ):
            return
        self.dismiss(item.key)
