"""The page that shows one block in full, with everything that the transcript folds or cuts."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from textual import events
from textual.app import ComposeResult
from textual.content import Content
from textual.screen import ModalScreen
from textual.strip import Strip
from textual.widgets import Static

from coder_tui.protocol.display import DisplayBlock, TerminalBlock, TextBlock
from coder_tui.protocol.events import Event, MessageFinished, ToolFinished, ToolStarted, UserMessageAdded
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.text.safe_text import safe_line, safe_text
from coder_tui.text.terminal import plain_output
from coder_tui.ui.draw.blocks import draw_block, source_of
from coder_tui.ui.draw.call_entry import CallEntry, finished_call
from coder_tui.ui.draw.entries import Entry, NoteEntry, TextEntry, ThinkingEntry, View, reply_entries
from coder_tui.ui.draw.palette import Palette
from coder_tui.ui.draw.strips import plain_rows
from coder_tui.ui.glyphs import Glyphs, ThinkingLevel
from coder_tui.ui.keymap import KeyFirstScreen, TypeAhead, Typed
from coder_tui.ui.keys import Context, bindings
from coder_tui.ui.transcript.history import History
from coder_tui.ui.transcript.scroll import FollowingScroll
from coder_tui.ui.transcript.searching import BrowseLine

LINES_A_PIECE = 100
LONGEST_PIECE = 20_000


@dataclass(frozen=True, slots=True)
class PlainEntry(TextEntry):
    """Some lines of output."""

    text: str

    @property
    def has_gap(self) -> bool:
        return False

    def draw(self, width: int, palette: Palette, view: View) -> list[Strip]:
        lines = self.text.split("\n")
        return list(plain_rows(lines, width, palette.base, palette.glyphs.more, is_whole=True))


@dataclass(frozen=True, slots=True)
class BlockEntry(Entry):
    """A display block in full."""

    block: DisplayBlock

    @property
    def source(self) -> str:
        return source_of(self.block)

    def draw(self, width: int, palette: Palette, view: View) -> list[Strip]:
        return draw_block(self.block, width, replace(palette, is_whole=True))


def whole_entries(block: Sequence[Entry], output: str | None = None) -> list[Entry]:
    """Return entries that show a block in full; `output` is all of a command's output, if that is known."""
    return [each for entry in block for each in _whole(entry, output)]


def plain_entries(text: str) -> Iterator[Entry]:
    """Split a safe text into entries of bounded length."""
    lines: list[str] = []
    size = 0
    for line in text.split("\n"):
        lines.append(line)
        size += len(line)
        if len(lines) >= LINES_A_PIECE or size > LONGEST_PIECE:
            yield from _pieces("\n".join(lines))
            lines, size = [], 0
    if lines:
        yield from _pieces("\n".join(lines))


def _pieces(text: str) -> Iterator[Entry]:
    for start in range(0, max(1, len(text)), LONGEST_PIECE):
        yield PlainEntry(text[start : start + LONGEST_PIECE])


def _whole(entry: Entry, output: str | None) -> Iterator[Entry]:
    if not isinstance(entry, CallEntry):
        yield entry
        return
    if entry.proposal is not None:
        yield BlockEntry(entry.proposal)
    match entry.display:
        case None:
            yield from plain_entries(entry.output)
        case TerminalBlock() as shown:
            yield BlockEntry(replace(shown, output="", exit_code=None))
            yield from plain_entries(plain_output(shown.output if output is None else output).rstrip("\n"))
            if shown.exit_code is not None:
                yield PlainEntry(f"exit {shown.exit_code}")
        case TextBlock(text):
            yield from plain_entries(safe_text(text).rstrip("\n"))
        case other:
            yield BlockEntry(other)


def child_entries(events: Iterable[Event]) -> Iterator[Entry]:
    """Return a sub-agent's task, replies and calls. Its task comes from the agent, not from the user."""
    for event in events:
        match event:
            case UserMessageAdded(_, text):
                yield NoteEntry(NoticeLevel.INFO, f"asked to: {safe_text(text)}")
            case MessageFinished(_, text, thinking):
                if thinking.strip():
                    yield ThinkingEntry(safe_text(thinking))
                if text.strip():
                    yield from reply_entries(safe_text(text))
            case ToolStarted(call_id, tool, kind, summary):
                yield CallEntry(safe_line(tool), safe_line(summary), kind, call_id=call_id)
            case ToolFinished():
                yield finished_call(event)
            case _:
                pass


HINTS = (
    ("j k", "line"),
    ("/", "search"),
    ("g G", "ends"),
    ("y", "copy"),
    ("e", "editor"),
    ("q", "close"),
    ("Ctrl+U Ctrl+D", "half a page"),
)


class Pager(FollowingScroll):
    DEFAULT_CSS = "Pager { height: 1fr; scrollbar-size-vertical: 1; scrollbar-gutter: stable; padding: 0 1; }"

    def __init__(self, glyphs: Glyphs, copy: Callable[[str], None], edit: Callable[[str], None]) -> None:
        super().__init__(History(glyphs=glyphs), BrowseLine(HINTS, glyphs, contexts=(Context.PAGER,)))
        self._copy, self._edit = copy, edit
        self._text = ""
        self.history.strips.view = View(ThinkingLevel.FULL, is_open=True)
        self.is_following = False

    def show(self, entries: Iterable[Entry], text: str) -> None:
        """Show other entries, from the top."""
        self._text = text
        self.history.clear()
        with self.history.adding_many():
            for entry in entries:
                self.history.add(entry)
            self.history.set_top(0)

    def grow(self, entries: Iterable[Entry], text: str) -> None:
        """Update the entries, and add new ones below; the reader stays at the same place."""
        self._text = text
        shown = self.history.strips.entries
        for index, entry in enumerate(entries):
            if index >= len(shown):
                self.history.add(entry)
            elif shown[index] != entry:
                self.history.replace(index, entry)

    def compose(self) -> ComposeResult:
        yield self.history

    def on_mount(self) -> None:
        self.line.show_hints()

    def action_copy(self) -> None:
        self._copy(self._text)

    def action_edit(self) -> None:
        self._edit(self._text)

    def action_leave(self) -> None:
        if self.search.is_active:
            self.search.end()
        else:
            self.screen.dismiss()


class PagerScreen(KeyFirstScreen, ModalScreen[None]):
    """`copy` and `edit` get the whole text."""

    DEFAULT_CSS = """
    PagerScreen {
        background: $background;
        #pager-title { dock: top; height: 1; padding: 0 1; background: $panel; color: $text-primary;
            text-style: bold; text-wrap: nowrap; text-overflow: ellipsis; }
    }
    """
    BINDINGS = bindings(Context.PAGER)
    AUTO_FOCUS = "Pager"
    help_context = Context.PAGER

    def __init__(
        self, title: str, glyphs: Glyphs, copy: Callable[[str], None], edit: Callable[[str], None]
    ) -> None:
        super().__init__()
        self._title = Static(Content(safe_line(title)), id="pager-title", markup=False)
        self.pager = Pager(glyphs, copy, edit)
        self._early_keys = TypeAhead(lambda event: self.app.on_event(event))

    def compose(self) -> ComposeResult:
        yield self._title
        yield self.pager
        yield self.pager.line

    def on_mount(self) -> None:
        self.call_after_refresh(self.app.call_later, self._early_keys.release_all)

    async def handle_input(self, event: Typed) -> bool:
        if self._early_keys.keeps(event):
            return True
        if isinstance(event, events.Paste):
            return self.pager.type_text(event.text) or True
        if self.pager.type_key(event):
            return True
        if (bound := self.active_bindings.get(event.key)) is not None:
            node = self.pager if bound.node is self else bound.node
            await self.app.run_action(bound.binding.action, node)
        return True
