"""One row below what is read: which keys there are, or what is searched and how often it was found."""

from rich.cells import cell_len
from textual.content import Content
from textual.widget import Widget

from coder_tui.text.safe_text import safe_line
from coder_tui.ui.drawing.glyphs import UNICODE, Glyphs
from coder_tui.ui.drawing.strips import cut
from coder_tui.ui.key_names import Hints, named, named_hints
from coder_tui.ui.keys import Context

_GAP = 2


class BrowseLine(Widget):
    """Hidden unless it has something to say; hints that do not fit are left out from the end."""

    DEFAULT_CSS = """
    BrowseLine {
        dock: bottom; height: 1; display: none; padding: 0 1; background: $background; color: $text-muted;
        text-wrap: nowrap; text-overflow: clip;
    }
    """

    def __init__(self, hints: Hints, glyphs: Glyphs = UNICODE, *, contexts: tuple[Context, ...] = ()) -> None:
        """`hints` begin with the most useful; `contexts` are those that their keys belong to."""
        super().__init__()
        self._hints = hints
        self._glyphs = glyphs
        self._contexts = contexts
        self._words = ""
        self._count = ""
        self._is_typing = False

    def show_hints(self) -> None:
        self._change("", "", is_typing=False)

    def use(self, hints: Hints) -> None:
        if hints != self._hints:
            self._hints = hints
            self.refresh()

    def show_search(self, words: str, count: str, *, is_typing: bool) -> None:
        self._change(safe_line(words), count, is_typing=is_typing)

    def hide(self) -> None:
        self.display = False

    def render(self) -> Content:
        width = self.content_size.width
        if self._words or self._is_typing:
            return self._search(width)
        parts: list[tuple[str, str]] = []
        used = 0
        for keys, word in named_hints(self, self._hints, self._contexts):
            used += cell_len(keys) + 1 + cell_len(word) + (_GAP if parts else 0)
            if used > width:
                break
            parts += [(" " * _GAP if parts else "", ""), (keys, "bold $foreground"), (f" {word}", "")]
        return Content.assemble(*parts)

    def _search(self, width: int) -> Content:
        keys = "Enter keep  Esc close" if self._is_typing else self._hit_keys()
        tail = f"  {self._count}"
        room = max(1, width - cell_len(tail) - 2)
        # The end of a long query is what is being typed.
        words = self._words
        while cell_len(words) > room:
            words = words[1:]
        caret = ("_" if self._is_typing else "", "bold $text-primary")
        parts = [("/", "bold $text-primary"), (words, "$foreground"), caret, (tail, "bold $text-warning")]
        used = 1 + cell_len(words) + cell_len(caret[0]) + cell_len(tail)
        if width - used >= cell_len(keys) + _GAP:
            parts.append((" " * (width - used - cell_len(keys)) + keys, ""))
        return Content.assemble(*((cut(text, width, self._glyphs.more), style) for text, style in parts))

    def _hit_keys(self) -> str:
        return named(self, "n N hits  Esc close", *self._contexts)

    def _change(self, words: str, count: str, *, is_typing: bool) -> None:
        self._words, self._count, self._is_typing = words, count, is_typing
        self.display = True
        self.refresh()
