"""The list of pending requests. The user opens one, or marks several and answers them together."""

from dataclasses import dataclass

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult

from coder_tui.protocol.requests import (
    ApprovalReply,
    ApprovalRequest,
    Attendance,
    Decision,
    PlanDecision,
    PlanReply,
    PlanRequest,
    QuestionReply,
    Reply,
    Request,
)
from coder_tui.text.safe_text import safe_line, safe_text
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.keys import Context, bindings
from coder_tui.ui.lists.row_list import RowList
from coder_tui.ui.requests.details import Detail, Weight, describe_undo, digest, is_deceptive, raw_text
from coder_tui.ui.requests.dialog_frame import GuardedDialog, Legend, MustReadScroll
from coder_tui.ui.requests.guarded_screen import LEAVING, SCROLL_FIRST, DialogContext, RequestScreen
from coder_tui.ui.requests.key_guard import QuietPeriod
from coder_tui.ui.requests.preview import DetailRows

MOST_TOGETHER = 50
"""Calls that cannot be undone and may be allowed together: the user has to read all of them first."""


def objection(requests: tuple[Request, ...]) -> str:
    """Return why these cannot be allowed together, or "" if they can."""
    approvals = [request for request in requests if isinstance(request, ApprovalRequest)]
    if len(approvals) < len(requests):
        return "Answer questions and plans one at a time. Press Enter to open one."
    if any(is_deceptive(request) for request in approvals):
        return "One of these contains hidden or look-alike characters. Answer it on its own."
    if all(request.is_undoable for request in approvals):
        return ""
    if len({(request.tool, request.rule) for request in approvals}) > 1:
        return "Some of these cannot be undone and match different rules. Allow them one at a time."
    if len(approvals) > MOST_TOGETHER:
        return f"Some of these cannot be undone. Allow at most {MOST_TOGETHER} at once."
    return ""


def refuse_all(requests: tuple[Request, ...]) -> tuple[tuple[str, Reply], ...]:
    return tuple((request.id, _refusal(request)) for request in requests)


def _refusal(request: Request) -> Reply:
    match request:
        case ApprovalRequest():
            return ApprovalReply(Decision.DENY)
        case PlanRequest():
            return PlanReply(PlanDecision.REFUSE)
        case _:
            return QuestionReply(Attendance.CANCELLED)


LEGEND = (
    ("Enter", "open"),
    ("Space", "mark"),
    ("a", "all"),
    ("^Y", "allow"),
    ("n", "refuse"),
    ("Esc", "close"),
)


class PendingList(RowList):
    """Shows for each request which agent asks, for which tool, and for what."""

    def __init__(self, chrome: Chrome) -> None:
        super().__init__(glyphs=chrome, id="waiting")
        self._requests: tuple[Request, ...] = ()
        self._marked: frozenset[str] = frozenset()

    @property
    def current(self) -> Request | None:
        return self._requests[self.cursor] if self._requests else None

    def show(self, requests: tuple[Request, ...], marked: frozenset[str]) -> None:
        before = self.current
        self._requests, self._marked = requests, marked
        places = [place for place, request in enumerate(requests) if before and request.id == before.id]
        self.set_rows(len(requests), range(len(requests)), places[0] if places else self.cursor)

    def draw(self, row: int, width: int) -> Text:
        request, palette = self._requests[row], self.palette
        box = "[x] " if request.id in self._marked else "[ ] "
        agent = f"{safe_line(request.agent)}  " if request.agent else ""
        undo = ""
        if isinstance(request, ApprovalRequest) and request.is_undoable:
            undo = f"  {describe_undo(request)}"
        return Text.assemble(
            (box, palette.running),
            (agent, palette.dim),
            (f"{safe_line(request.tool)}  ", palette.strong),
            (safe_line(request.summary or request.title), palette.base),
            (undo, palette.ok),
            end="",
        )


class AllInFull(MustReadScroll):
    """Shows in full the requests that one key is about to answer."""

    DEFAULT_CSS = "AllInFull { display: none; }"

    def __init__(self, chrome: Chrome) -> None:
        self._chrome = chrome
        self._rows = DetailRows((), glyphs=chrome)
        super().__init__(self._rows, id="in-full")

    def show(self, requests: tuple[Request, ...]) -> None:
        self.is_end_seen = False
        self._rows.show(
            tuple(_detail(number, request, self._chrome) for number, request in enumerate(requests, 1))
        )
        self.scroll_home(animate=False)


class PendingDialog(GuardedDialog):
    DEFAULT_CSS = """
    PendingDialog {
        #legend { border-top: solid $border-blurred; }
        &.-confirming { AllInFull { display: block; } PendingList { display: none; } }
    }
    """

    def __init__(self, chrome: Chrome) -> None:
        super().__init__(chrome, ())
        self.list = PendingList(chrome)
        self.in_full = AllInFull(chrome)
        self._legend = Legend(LEGEND, context=Context.WAITING)
        self._heading = ""

    @property
    def scrolled(self) -> MustReadScroll:
        return self.in_full

    @property
    def is_confirming(self) -> bool:
        return self.has_class("-confirming")

    def compose(self) -> ComposeResult:
        yield self.list
        yield self.in_full
        yield self._note
        yield self._legend

    def heading(self, width: int) -> str:
        return self._heading

    def show(self, requests: tuple[Request, ...], marked: frozenset[str]) -> None:
        self.list.show(requests, marked)
        chosen = f", {len(marked)} marked" if marked else ""
        if not self.is_confirming:
            self._heading = f"{len(requests)} waiting{chosen}"
            self.show_heading()

    def confirm(self, question: str, verb: str, requests: tuple[Request, ...]) -> None:
        self._heading = question
        self.show_heading()
        self.in_full.show(requests)
        self._legend.show(("^Y", verb), ("Up Down PgDn", "scroll"), ("Esc", "back"))
        self.add_class("-confirming")

    def go_back(self) -> None:
        self._legend.show(*LEGEND)
        self.remove_class("-confirming")


def _detail(number: int, request: Request, chrome: Chrome) -> Detail:
    """Return the row of a request. One that cannot be undone is shown in full."""
    text, reason, weight = safe_line(request.summary or request.title), "", Weight.PLAIN
    if isinstance(request, ApprovalRequest):
        reason = f"{digest(request, chrome).plain} {chrome.dot} {safe_line(request.rule)}"
        if not request.is_undoable:
            text, weight = safe_text(raw_text(request.preview)) or text, Weight.WARNING
    who = f"{safe_line(request.agent)}: " if request.agent else ""
    return Detail(f"{number}", f"{who}{safe_line(request.tool)}  {text}", reason, weight, is_below=True)


Replies = tuple[tuple[str, Reply], ...]


@dataclass(frozen=True, slots=True)
class PendingChoice:
    """What the user chose: a request to open, or replies to several."""

    opens: Request | None = None
    replies: Replies = ()


class PendingScreen(RequestScreen[PendingChoice]):
    """The list as a screen. Only the user opens it; still, what is typed into it goes to the draft."""

    BINDINGS = bindings(Context.WAITING)
    help_context = Context.WAITING
    _dialog: PendingDialog

    def __init__(self, requests: tuple[Request, ...], context: DialogContext) -> None:
        self._requests = requests
        self._marked: frozenset[str] = frozenset()
        self._replies: Replies = ()
        super().__init__(PendingDialog(context.chrome), QuietPeriod(context.clock()), context)

    def on_mount(self) -> None:
        self._dialog.show(self._requests, self._marked)
        self.set_focus(self._dialog.list)

    def show(self, requests: tuple[Request, ...]) -> None:
        """Show these requests from now on."""
        if requests == self._requests:
            return
        self._requests = requests
        self._marked &= {request.id for request in requests}
        if self.is_mounted:
            self._go_back()
            if not requests:
                self.dock()

    async def handle_input(self, event: events.Key | events.Paste) -> bool:
        if isinstance(event, events.Paste):
            return self._demote(event.text)
        if event.key in LEAVING:
            self._escape()
        elif event.key == "ctrl+y":
            self._chord(event.time)
        elif self._dialog.is_confirming:
            return self._dialog.scrolled.turn(event.key) or self._typed(event)
        elif (bound := self.active_bindings.get(event.key)) is not None:
            await self.app.run_action(bound.binding.action, bound.node)
        else:
            return self._typed(event)
        return True

    def woken(self) -> None:
        self.show_state()
        self.call_after_refresh(self.mark_seen)

    @on(RowList.Chosen)
    def _chosen(self) -> None:
        self.action_open()

    def action_open(self) -> None:
        current = self._dialog.list.current
        self.close(None if current is None else PendingChoice(opens=current))

    def action_mark(self) -> None:
        if (current := self._dialog.list.current) is not None:
            self._marked ^= {current.id}
            self._dialog.list.action_move(1)
            self._show()

    def action_mark_all(self) -> None:
        everything = frozenset(request.id for request in self._requests)
        self._marked = frozenset() if self._marked == everything else everything
        self._show()

    def action_refuse(self) -> None:
        chosen = self._chosen_ones()
        self._confirm("Refuse {}?", "refuse", chosen, refuse_all(chosen))

    def _chord(self, at: float) -> None:
        if not self._dialog.is_confirming:
            chosen = self._chosen_ones()
            if problem := objection(chosen):
                self._dialog.note(problem)
            else:
                replies = tuple((request.id, ApprovalReply(Decision.ALLOW_ONCE)) for request in chosen)
                self._confirm("Allow {} once?", "allow", chosen, replies)
        elif not self.guard.is_ready(at):
            self.rearm()
        elif not self._dialog.in_full.is_end_seen:
            self._dialog.note(SCROLL_FIRST)
        else:
            self.close(PendingChoice(replies=self._replies))

    def _chosen_ones(self) -> tuple[Request, ...]:
        if self._marked:
            return tuple(request for request in self._requests if request.id in self._marked)
        current = self._dialog.list.current
        return (current,) if current is not None else ()

    def _confirm(self, question: str, verb: str, chosen: tuple[Request, ...], replies: Replies) -> None:
        self._replies = replies
        self._dialog.note("")
        is_one = len(chosen) == 1
        what = "this request" if is_one else f"these {len(chosen)} requests"
        self._dialog.confirm(question.format(what), f"{verb} it" if is_one else f"{verb} them", chosen)
        self.rearm()

    def _escape(self) -> None:
        if self._dialog.is_confirming:
            self._go_back()
        else:
            self.close(None)

    def _go_back(self) -> None:
        self._replies = ()
        self._dialog.go_back()
        self._show()

    def _show(self) -> None:
        self._dialog.note("")
        self._dialog.show(self._requests, self._marked)

    def _typed(self, event: events.Key) -> bool:
        return self._demote(event.character) if event.is_printable and event.character else False

    def _demote(self, text: str) -> bool:
        self._spill(text)
        self.close(None)
        return True
