"""All requests that wait, as a list and, before several are settled at once, each in full."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.text import Text
from textual.app import ComposeResult
from textual.content import Content

from coder_tui.protocol.requests import ApprovalRequest, Request
from coder_tui.text.safe_text import safe_line, safe_text
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.keys import Context
from coder_tui.ui.lists.row_list import RowList
from coder_tui.ui.requests.detail_rows import DetailRows
from coder_tui.ui.requests.details import Detail, Weight, digest, kept_words, raw_text
from coder_tui.ui.requests.dialog_frame import GuardedDialog, Legend
from coder_tui.ui.requests.seen_scroll import SeenScroll

LEGEND = (
    ("Enter", "open"),
    ("Space", "mark"),
    ("a", "all"),
    ("^Y", "allow"),
    ("n", "refuse"),
    ("Esc", "close"),
)


@dataclass(frozen=True, slots=True)
class _Waiting:
    request: Request
    is_marked: bool


class WaitingList(RowList):
    """Who asks, which tool, for what."""

    def __init__(self, chrome: Chrome) -> None:
        super().__init__(glyphs=chrome, id="waiting")
        self._chrome = chrome
        self._rows: Sequence[_Waiting] = ()

    @property
    def current(self) -> Request | None:
        return self._rows[self.cursor].request if self._rows else None

    def show(self, requests: tuple[Request, ...], marked: frozenset[str]) -> None:
        before = self.current
        self._rows = [_Waiting(request, request.id in marked) for request in requests]
        places = [place for place, request in enumerate(requests) if before and request.id == before.id]
        self.set_rows(len(requests), range(len(requests)), places[0] if places else self.cursor)

    def draw(self, row: int, width: int) -> Text:
        waiting, palette = self._rows[row], self.palette
        request = waiting.request
        box = "[x] " if waiting.is_marked else "[ ] "
        agent = f"{safe_line(request.agent)}  " if request.agent else ""
        undo = ""
        if isinstance(request, ApprovalRequest) and request.is_undoable:
            undo = f"  {kept_words(request)}"
        return Text.assemble(
            (box, palette.running),
            (agent, palette.dim),
            (f"{safe_line(request.tool)}  ", palette.strong),
            (safe_line(request.summary or request.title), palette.base),
            (undo, palette.ok),
            end="",
        )


class AllInFull(SeenScroll):
    """What one key is about to settle."""

    DEFAULT_CSS = "AllInFull { display: none; }"

    def __init__(self, chrome: Chrome) -> None:
        super().__init__(id="in-full")
        self._chrome = chrome
        self._rows = DetailRows((), glyphs=chrome)

    def compose(self) -> ComposeResult:
        yield self._rows

    def show(self, requests: tuple[Request, ...]) -> None:
        self.is_end_seen = False
        self._rows.show(
            tuple(_detail(number, request, self._chrome) for number, request in enumerate(requests, 1))
        )
        self.scroll_home(animate=False)


class WaitingDialog(GuardedDialog):
    DEFAULT_CSS = """
    WaitingDialog {
        #legend { border-top: solid $border-blurred; }
        &.-confirming { AllInFull { display: block; } WaitingList { display: none; } }
    }
    """

    def __init__(self, chrome: Chrome) -> None:
        super().__init__(chrome, ())
        self.list = WaitingList(chrome)
        self.in_full = AllInFull(chrome)
        self._legend = Legend(LEGEND, context=Context.WAITING)

    @property
    def scrolled(self) -> SeenScroll:
        return self.in_full

    @property
    def is_confirming(self) -> bool:
        return self.has_class("-confirming")

    def compose(self) -> ComposeResult:
        yield self.list
        yield self.in_full
        yield self._note
        yield self._legend

    def show(self, requests: tuple[Request, ...], marked: frozenset[str]) -> None:
        self.list.show(requests, marked)
        chosen = f", {len(marked)} marked" if marked else ""
        if not self.is_confirming:
            self.border_title = Content(f"{len(requests)} waiting{chosen}")

    def confirm(self, question: str, verb: str, requests: tuple[Request, ...]) -> None:
        self.border_title = Content(question)
        self.in_full.show(requests)
        self._legend.show(("^Y", verb), ("Up Down PgDn", "scroll"), ("Esc", "back"))
        self.add_class("-confirming")

    def go_back(self) -> None:
        self._legend.show(*LEGEND)
        self.remove_class("-confirming")


def _detail(number: int, request: Request, chrome: Chrome) -> Detail:
    """What cannot be undone is shown to its last character."""
    text, reason, weight = safe_line(request.summary or request.title), "", Weight.PLAIN
    if isinstance(request, ApprovalRequest):
        reason = f"{digest(request, chrome).plain} {chrome.dot} {safe_line(request.rule)}"
        if not request.is_undoable:
            text, weight = safe_text(raw_text(request.preview)) or text, Weight.WARNING
    who = f"{safe_line(request.agent)}: " if request.agent else ""
    return Detail(f"{number}", f"{who}{safe_line(request.tool)}  {text}", reason, weight, is_below=True)
