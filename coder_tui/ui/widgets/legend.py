"""A line that says which keys there are now, drawn alike in every dialog."""

from textual.content import Content
from textual.widgets import Static

from coder_tui.ui.key_names import Hints, named_hints
from coder_tui.ui.keys import Context


def keyed(hints: Hints) -> Content:
    parts: list[tuple[str, str]] = []
    for keys, words in hints:
        parts += [("  " if parts else "", ""), (keys, "bold $text-accent"), (f" {words}", "$foreground")]
    return Content.assemble(*parts)


class Legend(Static):
    """Wraps where it is narrow."""

    DEFAULT_CSS = "Legend { height: auto; padding: 0 1; }"

    def __init__(self, hints: Hints = (), *, context: Context = Context.COMPOSER) -> None:
        """`context` is the one whose keys may have been changed: fields to write in have the prompt's."""
        super().__init__(id="legend", markup=False)
        self._hints = hints
        self._whose = context

    def on_mount(self) -> None:
        self.show(*self._hints)

    def show(self, *hints: tuple[str, str]) -> None:
        self._hints = hints
        self.update(keyed(named_hints(self, hints, (self._whose,))))
