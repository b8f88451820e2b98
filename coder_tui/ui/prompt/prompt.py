"""The prompt: several lines of text that Enter sends, and the history of what was sent."""

from collections.abc import Callable, Iterable

from textual import events
from textual.message import Message

from coder_tui.ui.keys import Context, bindings
from coder_tui.ui.prompt.chips import LONGEST_MESSAGE, TOO_LONG, ChipField


class PromptHistory:
    """Older entries first, each once. Edits of entries are kept until something is sent."""

    def __init__(self, entries: Iterable[str] = ()) -> None:
        self._entries: list[str] = []
        self._edits: dict[int, str] = {}
        self._place = 0
        self.seed(entries)

    @property
    def entries(self) -> tuple[str, ...]:
        return tuple(self._entries)

    def seed(self, entries: Iterable[str]) -> None:
        """Put earlier entries before the present ones; the position in the history stays the same."""
        before = len(self._entries)
        known = [*entries, *self._entries]
        self._entries = list(dict.fromkeys(reversed([entry for entry in known if entry.strip()])))[::-1]
        added = len(self._entries) - before
        self._place += added
        self._edits = {place + added: text for place, text in self._edits.items()}

    def add(self, text: str) -> None:
        if not text.strip():
            return
        self._entries = [entry for entry in self._entries if entry != text]
        self._entries.append(text)
        self._reset()

    def older(self, text: str) -> str | None:
        """Return the entry before; `text` is the present text of the prompt."""
        return self._move(text, -1)

    def newer(self, text: str) -> str | None:
        return self._move(text, 1)

    def _move(self, text: str, by: int) -> str | None:
        place = self._place + by
        if not 0 <= place <= len(self._entries):
            return None
        self._edits[self._place] = text
        self._place = place
        original = self._entries[place] if place < len(self._entries) else ""
        return self._edits.get(place, original)

    def _reset(self) -> None:
        self._place = len(self._entries)
        self._edits.clear()


class DraftAside:
    """The draft of a prompt, while a search through earlier messages uses its place."""

    def __init__(self, prompt: "Prompt") -> None:
        self._prompt = prompt
        self.text: str | None = None

    @property
    def is_active(self) -> bool:
        return self.text is not None

    def start(self) -> None:
        """Put the draft aside; it comes back, whatever happens to what is typed instead."""
        self.text = self._prompt.text
        self._prompt.show_draft("")

    def cancel(self) -> None:
        """Bring the draft back."""
        text, self.text = self.text or "", None
        self._prompt.show_draft(text)

    def accept(self, found: str) -> None:
        """Show what was found; the draft that it replaces becomes the newest entry of the history."""
        draft, self.text = self.text or "", None
        self._prompt.sent.add(draft)
        self._prompt.show_draft(found)


class Prompt(ChipField):
    """A draft with history."""

    DEFAULT_CSS = """
    Prompt {
        height: auto;
        min-height: 1;
        max-height: 10;
        border: none;
        padding: 0;
        background: $surface;
        color: $foreground;
        scrollbar-size-vertical: 1;
        &:focus { border: none; }
        & .text-area--placeholder { color: $text-dim; }
        &:light .text-area--cursor { color: $input-cursor-foreground; background: $input-cursor-background; }
    }
    """

    BINDINGS = bindings(Context.COMPOSER)

    class Ended(Message):
        """Ctrl+D was pressed in the empty prompt."""

    def __init__(
        self,
        sent: PromptHistory,
        submit: Callable[[str], None],
        *,
        placeholder: str = "Ask, or describe a change   @file  /command  !shell",
        id: str = "prompt",
        holds_chips: bool = False,
    ) -> None:
        """Enter calls `submit` at once: the next key may depend on what was sent."""
        super().__init__(placeholder=placeholder, id=id, holds_chips=holds_chips)
        self._submit = submit
        self.sent = sent
        self.aside = DraftAside(self)
        # A blinking cursor writes to the terminal forever; an idle screen writes nothing.
        self.cursor_blink = False
        self.match_cursor_bracket = False

    @property
    def is_empty(self) -> bool:
        return not self.text

    @property
    def draft(self) -> str:
        """The whole unsent text, also while something else is typed in its place."""
        return self.whole_text if self.aside.text is None else self.chips.whole(self.aside.text)

    def put_back(self, texts: tuple[str, ...]) -> None:
        """Return texts that were not sent, before the present draft."""
        draft = self.text if self.aside.text is None else self.aside.text
        returned = map(self.chips.short, texts)
        whole = "\n".join([*returned, draft] if draft else returned)
        if self.aside.text is None:
            self.show_draft(whole)
        else:
            self.aside.text = whole

    def stash(self) -> None:
        """Empty the prompt; the draft becomes the newest entry of the history."""
        self.sent.add(self.text)
        self.show_draft("")

    def show_draft(self, text: str) -> None:
        self.load_text(text)
        self.move_cursor(self.document.end)

    def type_key(self, event: events.Key) -> bool:
        """Type a key, or send on Enter; return False for a key that does neither."""
        if event.key == "enter":
            self._enter()
        elif event.is_printable and event.character:
            # Without moving the cursor explicitly, which would make each letter a separate undo step.
            self.replace(event.character, *self.selection, maintain_selection_offset=False)
        else:
            return False
        return True

    def on_key(self, event: events.Key) -> None:
        if self.type_key(event):
            event.prevent_default()
            event.stop()

    def action_newline(self) -> None:
        self.type_text("\n")

    def action_older(self) -> None:
        if not self.navigator.is_first_wrapped_line(self.cursor_location):
            self.action_cursor_up()
        elif (text := self.sent.older(self.text)) is not None:
            self.show_draft(text)
            # The next press has to find the first line again.
            self.move_cursor((0, len(self.document.get_line(0))))

    def action_newer(self) -> None:
        if not self.navigator.is_last_wrapped_line(self.cursor_location):
            self.action_cursor_down()
        elif (text := self.sent.newer(self.text)) is not None:
            self.show_draft(text)

    def action_end(self) -> None:
        if self.is_empty:
            self.post_message(self.Ended())
        else:
            self.action_delete_right()

    def _enter(self) -> None:
        row, column = self.cursor_location
        if column and self.document.get_line(row)[column - 1] == "\\":
            self.replace("\n", (row, column - 1), (row, column), maintain_selection_offset=False)
            self.move_cursor((row + 1, 0))
        elif not self.expand_chip() and self.text.strip():
            whole = self.whole_text
            if len(whole) > LONGEST_MESSAGE:
                self.post_message(self.Refused(TOO_LONG))
                return
            self.sent.add(self.text)
            self.load_text("")
            self._submit(whole)
