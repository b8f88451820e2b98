"""One row in which a few words are typed, above a list: what to look for, or a new name."""

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.widget import Widget

from coder_tui.text.safe_text import safe_line

LONGEST = 200
LONGEST_SECRET = 4000


class TypedLine(Widget):
    """Never has the focus: whoever holds it gives it keys, one at a time."""

    DEFAULT_CSS = """
    TypedLine {
        height: 1; padding: 0 1; color: $text-muted; background: $surface;
        text-wrap: nowrap; text-overflow: clip;
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self.text = ""
        self.is_typing = False
        self._label = ""
        self._tail = ""
        self._mask = ""

    def begin(self, label: str, text: str = "", *, mask: str = "") -> None:
        """Where there is a `mask`, that is drawn in place of each character."""
        self._label, self.text, self.is_typing, self._mask = label, text[:LONGEST], True, mask
        self.refresh()

    def end(self) -> None:
        self.text, self.is_typing, self._mask = "", False, ""
        self.refresh()

    def show_tail(self, tail: str) -> None:
        if tail != self._tail:
            self._tail = tail
            self.refresh()

    def take(self, event: events.Key) -> bool:
        """Whether the key was meant for the words."""
        if not self.is_typing:
            return False
        match event.key:
            case "backspace" | "ctrl+h":
                self._change(self.text[:-1])
            case "ctrl+u":
                self._change("")
            case "ctrl+w":
                self._change(self.text.rstrip().rpartition(" ")[0])
            case _ if event.is_printable and event.character:
                self._change(self.text + event.character)
            case _:
                return False
        return True

    def type_text(self, text: str) -> None:
        self._change(self.text + " ".join(text.split()))

    def _change(self, text: str) -> None:
        self.text = text[: LONGEST_SECRET if self._mask else LONGEST]
        self.refresh()

    def render(self) -> Content:
        width = self.content_size.width
        words = self._mask * len(self.text) if self._mask else safe_line(self.text)
        if not self.is_typing:
            return self._with_tail(Content.assemble(("/", "bold $text-primary"), " filter"), width)
        # The end of a long text is what is being typed.
        while cell_len(self._label) + cell_len(words) + cell_len(self._tail) + 3 > width and words:
            words = words[1:]
        typed = Content.assemble(
            (self._label, "bold $text-primary"), (words, "$foreground"), ("_", "bold $text-primary")
        )
        return self._with_tail(typed, width)

    def _with_tail(self, typed: Content, width: int) -> Content:
        gap = width - typed.cell_length - cell_len(self._tail)
        return typed + Content(" " * gap + self._tail) if gap > 0 else typed
