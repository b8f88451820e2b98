"""The base of all lists that open over the session: a row to type in, the list, a note, the keys."""

from abc import abstractmethod
from collections.abc import Awaitable, Callable
from typing import ClassVar

from rich.cells import cell_len
from textual import events, on
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Static

from coder_tui.protocol.errors import UserError
from coder_tui.text.safe_text import safe_line
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.keymap import KeyFirstScreen, TypeAhead, Typed
from coder_tui.ui.keys import Context, bindings
from coder_tui.ui.lists.row_list import FuzzyList, Item, RowList
from coder_tui.ui.transcript.searching import BrowseLine

LONGEST = 200
LONGEST_SECRET = 4000


class TypedLine(Widget):
    """A text field that never has the focus: its owner passes it the keys."""

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
        """Start typing; a `mask` is drawn in place of each character."""
        self._label, self.text, self.is_typing, self._mask = label, text[:LONGEST], True, mask
        self.refresh()

    def end(self) -> None:
        self.text, self.is_typing, self._mask = "", False, ""
        self.refresh()

    def show_tail(self, tail: str) -> None:
        if tail != self._tail:
            self._tail = tail
            self.refresh()

    def type_key(self, event: events.Key) -> bool:
        """Type a key and return True, or return False if the key types nothing."""
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
        # Show the end of a long text, where the user types.
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
"""Rows for the frame, the typed text, the note and the keys, and some to see the screen below."""
Hint = tuple[str, str]


class PickerScreen(KeyFirstScreen, ModalScreen[str | None]):
    """Ends with the key of the chosen item, or None.

    With `types_at_once`, letters filter the list from the start. Without, letters may be keys of the list,
    and `/` or any other letter starts the filter.
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
        self.early_keys = TypeAhead(lambda event: self.app.on_event(event))
        if self.types_at_once or query:
            self.line.begin(_FILTER, query)

    def compose(self) -> ComposeResult:
        frame = Container(self.line, self.list, self._note, self._keys, id="picker")
        frame.border_title = Content(self.heading)
        yield frame

    @abstractmethod
    def fill(self) -> None:
        """Show the items; called once the list is mounted."""

    def narrow(self, query: str) -> None:
        """Show the items that match the typed letters."""
        self.list.filter(query)

    def choose(self, item: Item) -> None:
        """Handle Enter, or a click on the marked row."""
        self.dismiss(item.key)

    def moved(self, item: Item | None) -> None:
        """Handle a move of the mark."""

    async def catch_up(self, event: Typed) -> None:
        """Wait for the list to show what was typed before this key, if the key depends on it."""

    def on_mount(self) -> None:
        self.list.filter(self.line.text)
        self._show_keys()
        self.fill()
        self.call_after_refresh(self.app.call_later, self.early_keys.release_all)

    async def handle_input(self, event: Typed) -> bool:
        if self.early_keys.keeps(event):
            return True
        await self.catch_up(event)
        self._was_armed, self._armed = self._armed, None
        if isinstance(event, events.Paste):
            self._type(event.text)
        elif self.line.type_key(event):
            self._typed()
        elif (bound := self.active_bindings.get(event.key)) is not None:
            await self.app.run_action(bound.binding.action, bound.node)
        elif event.is_printable and event.character:
            self._type(event.character)
        self._show_keys()
        return True

    def show_note(self, text: str, style: str = "") -> None:
        """Show a note below the list until the mark moves."""
        self._note.update(Content.styled(safe_line(text), style))

    def ask(self, label: str, text: str, then: Callable[[str], None], *, is_secret: bool = False) -> None:
        """Ask for a text above the list; a secret is drawn as dots."""
        self._asked = then
        self.line.begin(f"{label} ", text, mask=self.chrome.hidden if is_secret else "")

    def pressed_twice(self, key: str, warning: str) -> bool:
        """Return whether a key was pressed twice in a row; the first time shows the warning."""
        if self._was_armed == key:
            return True
        self._armed = key
        self.show_note(warning, "$text-warning")
        return False

    def count(self) -> None:
        self.line.show_tail(self.list.counted)

    @on(RowList.Moved)
    def _marked(self) -> None:
        self.show_marked()

    @on(RowList.Chosen)
    def _clicked(self) -> None:
        self.action_choose()

    @on(events.Resize)
    def _fit(self) -> None:
        """Fit the height to all items, filtered or not, so that nothing jumps while the user types."""
        room = max(1, min(_MOST_ROWS, self.size.height - _AROUND))
        rows = max(_LEAST_ROWS, self.list.rows_unfiltered)
        self.list.styles.height = min(room, rows)

    def show_marked(self) -> None:
        item = self.list.marked
        self._fit()
        self.count()
        if self._armed is None and self._asked is None:
            self.show_note(item.note if item else "")
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
        """Clear the typed text, or close the list if there is none."""
        if self._asked is not None or self.line.text or (self.line.is_typing and not self.types_at_once):
            self._asked = None
            self._end_typing()
        else:
            self.dismiss(None)

    def action_page(self, way: int) -> None:
        self.list.action_page(way)

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
        self._show_keys()
        self.narrow("")

    def _show_keys(self) -> None:
        """Show the keys that work now: while the user types, letters are text."""
        hints = self.hints
        if self._asked is not None:
            hints = (("Enter", "save"), ("Esc", "cancel"))
        elif self.line.is_typing and not self.types_at_once:
            kept = ((keys, words) for keys, words in hints if all(len(key) > 1 for key in keys.split()))
            hints = tuple((keys, "end filter" if keys == "Esc" else words) for keys, words in kept)
        self._keys.use(hints)


class LivePicker(PickerScreen):
    """Lists items that change while it is open, and stays open after an action."""

    types_at_once = False
    _unsubscribe: Callable[[], None] | None = None

    @abstractmethod
    def subscribe(self) -> Callable[[], None]:
        """Call `reload` at every change; returns a function that ends this."""

    @abstractmethod
    def reload(self) -> None:
        """Show the current items."""

    def fill(self) -> None:
        self._unsubscribe = self.subscribe()
        self.reload()

    def on_unmount(self) -> None:
        if self._unsubscribe is not None:
            self._unsubscribe()


class KeyPicker(PickerScreen):
    """Can ask for a provider's API key; `key_notice` says where it was stored."""

    key_notice = ""

    def ask_key(
        self, label: str, why: str, store: Callable[[str], Awaitable[str]], choice: str, style: str = ""
    ) -> None:
        """Ask for a key, hidden; ends with `choice` once it is stored, asks again if that fails."""

        async def store_key(key: str) -> None:
            try:
                self.key_notice = await store(key)
            except UserError as error:
                self.ask_key(label, f"{error}.", store, choice, style)
            else:
                self.dismiss(choice)

        def typed(key: str) -> None:
            self.show_note(f"Saving the key for {label}{self.chrome.more}")
            self.run_worker(store_key(key), group="key", exclusive=True)

        self.ask(f"key for {label}:", "", typed, is_secret=True)
        self.show_note(why, style)
