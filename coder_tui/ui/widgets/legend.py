"""A line that says which keys there are now, drawn alike in every dialog."""

from textual.content import Content
from textual.widgets import Static

Hints = tuple[tuple[str, str], ...]
"""Keys as a person reads them, each with what it does."""


def keyed(hints: Hints) -> Content:
    parts: list[tuple[str, str]] = []
    for keys, words in hints:
        parts += [("  " if parts else "", ""), (keys, "bold $text-accent"), (f" {words}", "$foreground")]
    return Content.assemble(*parts)


class Legend(Static):
    """Wraps where it is narrow."""

    DEFAULT_CSS = "Legend { height: auto; padding: 0 1; }"

    def __init__(self, hints: Hints = ()) -> None:
        super().__init__(keyed(hints), id="legend", markup=False)

    def show(self, *hints: tuple[str, str]) -> None:
        self.update(keyed(hints))
