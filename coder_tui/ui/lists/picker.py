"""A list over the session to choose from; every picker is one of these.

One row in which a few words are typed, above a list: what to look for, or a new name.
"""

from abc import abstractmethod
from collections.abc import Callable
from typing import ClassVar

from rich.cells import cell_len
from textual import events, on
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Static

from coder_tui.text.safe_text import safe_line
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.keys import Context, bindings
from coder_tui.ui.lists.fuzzy_list import FuzzyList, Item
from coder_tui.ui.lists.row_list import RowList
from coder_tui.ui.session.base import Gated
from coder_tui.ui.transcript.searching import BrowseLine

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


_FILTER = "/"
_MOST_ROWS, _LEAST_ROWS = 24, 4
_AROUND = 8
"""Rows that the frame, what is typed, the note and the keys take, and a rest to see what is below."""
Hint = tuple[str, str]


class PickerScreen(Gated, ModalScreen[str | None]):
    """Ends with the key of what was chosen, None for nothing.

    Where `types_at_once`, letters narrow the list down from the start; elsewhere letters may mean something,
    and `/` or any other letter begins the filter.
    """

    DEFAULT_CSS = """
    PickerScreen {
        align: center middle; background: $background 60%;
        #picker {
            width: 90%; max-width: 100; height: auto; max-height: 100%; background: $surface;
            border: round $primary; border-title-color: $text-primary; border-title-style: bold;
        }
        #note { height: auto; max-height: 3; min-height: 1; padding: 0 1; color: $text-muted; }
        BrowseLine { display: block; }
    }
    """
    BINDINGS = bindings(Context.PICKER)
    AUTO_FOCUS = "FuzzyList"
    help_context = Context.PICKER
    heading: ClassVar[str]
    types_at_once: ClassVar[bool] = True
    hints: ClassVar[tuple[Hint, ...]] = (("Enter", "choose"), ("Esc", "close"), ("Up Down", "move"))

    def __init__(self, chrome: Chrome, query: str = "") -> None:
        super().__init__()
        self.chrome = chrome
        self.list = FuzzyList(self.action_choose, glyphs=chrome)
        self.line = TypedLine()
        self._note = Static(id="note", markup=False)
        contexts = (Context.PICKER, Context.LIST, self.help_context)
        self._keys = BrowseLine(self.hints, chrome, contexts=contexts)
        self._asked: Callable[[str], None] | None = None
        self._armed: str | None = None
        self._was_armed: str | None = None
        self._early: list[events.Key | events.Paste] | None = []
        if self.types_at_once or query:
            self.line.begin(_FILTER, query)

    def compose(self) -> ComposeResult:
        frame = Container(self.line, self.list, self._note, self._keys, id="picker")
        frame.border_title = Content(self.heading)
        yield frame

    @abstractmethod
    def fill(self) -> None:
        """Show the items; called once there is a place for them."""

    def narrow(self, query: str) -> None:
        """Show what fits the typed letters."""
        self.list.filter(query)

    def choose(self, item: Item) -> None:
        """Enter was pressed, or the marked row was clicked."""
        self.dismiss(item.key)

    def moved(self, item: Item | None) -> None:
        """The mark is on another item."""

    def on_mount(self) -> None:
        self.list.filter(self.line.text)
        self._keys.use(_hints_now(self, is_asked=self._asked is not None))
        self.fill()
        # In the app's own queue, where keys that come meanwhile wait behind these.
        self.call_after_refresh(self.app.call_later, self._take_early)

    async def take(self, event: events.Key | events.Paste) -> bool:
        if self._early is not None:
            self._early.append(event)
            return True
        self._was_armed, self._armed = self._armed, None
        if isinstance(event, events.Paste):
            self._type(event.text)
        elif self.line.take(event):
            self._typed()
        elif (bound := self.active_bindings.get(event.key)) is not None:
            await self.app.run_action(bound.binding.action, bound.node)
        elif event.is_printable and event.character:
            self._type(event.character)
        self._keys.use(_hints_now(self, is_asked=self._asked is not None))
        return True

    def say(self, text: str, style: str = "") -> None:
        """Words below the list, until the mark moves."""
        self._note.update(Content.styled(safe_line(text), style))

    def ask(self, label: str, text: str, then: Callable[[str], None], *, is_secret: bool = False) -> None:
        """Have a few words typed above the list; a secret is drawn as dots."""
        self._asked = then
        self.line.begin(f"{label} ", text, mask=self.chrome.hidden if is_secret else "")

    def pressed_twice(self, key: str, warning: str) -> bool:
        """Whether this is the second time in a row; the first time says what the second would do."""
        if self._was_armed == key:
            return True
        self._armed = key
        self.say(warning, "$text-warning")
        return False

    def count(self) -> None:
        self.line.show_tail(self.list.counted)

    @on(RowList.Moved)
    def _marked(self) -> None:
        self.show_marked()

    @on(RowList.Chosen)
    def _clicked(self) -> None:
        self.action_choose()

    def on_resize(self) -> None:
        self._fit()

    def _fit(self) -> None:
        """As many rows as there are; a filter leaves the frame as it is, so that nothing jumps."""
        room = max(1, min(_MOST_ROWS, self.size.height - _AROUND))
        rows = max(_LEAST_ROWS, self.list.rows_unfiltered)
        self.list.styles.height = min(room, rows)

    def show_marked(self) -> None:
        item = self.list.marked
        self._fit()
        self.count()
        if self._armed is None and self._asked is None:
            self.say(item.note if item else "")
        self.moved(item)

    def action_choose(self) -> None:
        if self._asked is not None:
            then, self._asked, text = self._asked, None, self.line.text.strip()
            self._end_typing()
            if text:
                then(text)
        elif (item := self.list.marked) is not None:
            self.choose(item)

    def action_filter(self) -> None:
        self.line.begin(_FILTER, self.line.text)

    def action_close(self) -> None:
        """What was typed goes first."""
        if self._asked is not None or self.line.text or (self.line.is_typing and not self.types_at_once):
            self._asked = None
            self._end_typing()
        else:
            self.dismiss(None)

    def action_page(self, way: int) -> None:
        self.list.action_page(way)

    async def _take_early(self) -> None:
        """Keys that came before there was a list."""
        early, self._early = self._early or [], None
        for event in early:
            await self.app.on_event(event)

    def _type(self, text: str) -> None:
        if not self.line.is_typing:
            self.line.begin(_FILTER)
        self.line.type_text(text)
        self._typed()

    def _typed(self) -> None:
        if self._asked is None:
            self.narrow(self.line.text)

    def _end_typing(self) -> None:
        self.line.end()
        if self.types_at_once:
            self.line.begin(_FILTER)
        self._keys.use(_hints_now(self, is_asked=self._asked is not None))
        self.narrow("")


def _hints_now(picker: PickerScreen, *, is_asked: bool) -> tuple[Hint, ...]:
    """While something is typed letters are letters."""
    if is_asked:
        return ("Enter", "keep"), ("Esc", "cancel")
    if picker.types_at_once or not picker.line.is_typing:
        return picker.hints
    kept = ((keys, words) for keys, words in picker.hints if all(len(key) > 1 for key in keys.split()))
    return tuple((keys, "end filter" if keys == "Esc" else words) for keys, words in kept)
