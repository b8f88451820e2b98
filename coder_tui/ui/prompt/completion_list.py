"""The list of suggestions for a word, right above the prompt."""

from dataclasses import dataclass

from rich.cells import cell_len
from textual import events
from textual.containers import Container
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.widget import Widget

from coder_tui.text.safe_text import safe_line
from coder_tui.ui.draw.strips import cut
from coder_tui.ui.glyphs import Chrome

ROWS = 8
_GAP = 2
_LEAST_DETAIL = 12


@dataclass(frozen=True, slots=True)
class Candidate:
    """`text` is put into the prompt; `positions` are the characters of `label` that were typed."""

    text: str
    label: str
    positions: tuple[int, ...] = ()
    detail: str = ""
    source: str = ""
    is_from_others: bool = False
    """Whether its source is shown even if the detail must be cut for it."""
    is_final: bool = True
    """Whether the word is complete with it; a folder is not."""


class CompletionList(Widget):
    """Never has the focus: the prompt keeps it, and the completer moves the mark."""

    DEFAULT_CSS = """
    CompletionList {
        overlay: screen; width: 1fr; height: auto; max-height: 9; offset-y: -100%; display: none;
        padding: 0 1; background: $panel; color: $foreground; text-wrap: nowrap; text-overflow: clip;
    }
    """

    @dataclass
    class Clicked(Message):
        index: int

    def __init__(self, chrome: Chrome) -> None:
        super().__init__(id="completion")
        self._chrome = chrome
        self._candidates: tuple[Candidate, ...] = ()
        self._index = 0
        self._top = 0
        self._hint = ""

    @property
    def is_open(self) -> bool:
        return bool(self._candidates)

    @property
    def chosen(self) -> Candidate | None:
        return self._candidates[self._index] if self._candidates else None

    def show(self, candidates: tuple[Candidate, ...], hint: str) -> None:
        """Show candidates, or close the list if there are none; `hint` names the keys."""
        self._candidates, self._hint = candidates, hint
        self._index = self._top = 0
        self.display = bool(candidates)
        self.refresh(layout=True)

    def move(self, by: int) -> None:
        self._index = (self._index + by) % len(self._candidates)
        self._top = min(max(self._top, self._index - ROWS + 1), self._index)
        self.refresh()

    def choose(self, index: int) -> None:
        self._index = index

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return min(ROWS, len(self._candidates)) + 1

    def render(self) -> Content:
        width = self.content_size.width
        shown = self._candidates[self._top : self._top + ROWS]
        column = max((cell_len(safe_line(each.label)) for each in shown), default=0)
        column = min(column, max(1, width - 2 - _GAP - _LEAST_DETAIL)) if any(e.detail for e in shown) else 0
        rows = [self._row(self._top + at, each, width, column) for at, each in enumerate(shown)]
        more = f"{self._index + 1}/{len(self._candidates)}  " if len(self._candidates) > ROWS else ""
        rows.append(Content.styled(cut(f"  {more}{self._hint}", width, self._chrome.more), "$text-dim"))
        return Content("\n").join(rows)

    def on_click(self, event: events.Click) -> None:
        event.stop()
        index = self._top + event.y
        if event.y < ROWS and index < len(self._candidates):
            self.post_message(self.Clicked(index))

    def _row(self, index: int, candidate: Candidate, width: int, column: int) -> Content:
        is_chosen = index == self._index
        sign = f"{self._chrome.prompt} " if is_chosen else "  "
        room = max(1, width - cell_len(sign))
        label = self._label(candidate, min(room, column) if column else room)
        row = Content.assemble(sign, label)
        if candidate.detail and column:
            gap = " " * max(_GAP, column - label.cell_length + _GAP)
            space = max(0, room - label.cell_length - len(gap))
            source = f"  [{candidate.source}]" if candidate.source else ""
            kept = cell_len(source) if candidate.is_from_others else 0
            words = max(0, space - kept)
            detail = cut(safe_line(candidate.detail), words, self._chrome.more)
            detail += source if cell_len(detail + source) <= space else ""
            row = Content.assemble(row, gap, (detail, "" if is_chosen else "$text-muted"))
        if not is_chosen:
            return row
        padded = row + Content(" " * max(0, width - row.cell_length))
        return padded.stylize("$block-cursor-foreground on $block-cursor-background")

    def _label(self, candidate: Candidate, room: int) -> Content:
        """Cut the label from its start: the end of a path says more."""
        label, positions = candidate.label, candidate.positions
        if safe_line(label) != label:
            label, positions = safe_line(label), ()
        dropped = 0
        while (
            label[dropped:] and cell_len(label[dropped:]) + cell_len(self._chrome.more) * bool(dropped) > room
        ):
            dropped += 1
        lead = self._chrome.more if dropped else ""
        content = Content(lead + label[dropped:])
        for at in positions:
            if at >= dropped:
                place = at - dropped + len(lead)
                content = content.stylize("bold underline", place, place + 1)
        return content


class CompletionAnchor(Container):
    """Uses no space; the list in it covers the conversation, right above the prompt."""

    DEFAULT_CSS = "CompletionAnchor { height: 0; width: 1fr; }"
