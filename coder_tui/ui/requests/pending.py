"""The list of all waiting requests: opened one by one, or marked and settled together.

Which waiting requests one answer may settle, and by what reply.
"""

from collections.abc import Callable
from dataclasses import dataclass

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
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.keys import Context, bindings
from coder_tui.ui.lists.row_list import RowList
from coder_tui.ui.requests.details import is_deceptive
from coder_tui.ui.requests.guarded_screen import SCROLL_FIRST, ArmedScreen
from coder_tui.ui.requests.key_guard import Silence
from coder_tui.ui.requests.pending_dialog import WaitingDialog
from coder_tui.ui.requests.seen_scroll import SeenScroll

MOST_TOGETHER = 50
"""Irreversible calls that are allowed by one key: all of them have to be read before."""


def objection(requests: tuple[Request, ...]) -> str:
    """Why these cannot be allowed together, as a sentence; empty where they can."""
    approvals = [request for request in requests if isinstance(request, ApprovalRequest)]
    if len(approvals) < len(requests):
        return "Questions and plans are answered one by one: Enter opens the marked one."
    if any(is_deceptive(request) for request in approvals):
        return "One of them is not what it looks like: answer it by itself."
    if all(request.is_undoable for request in approvals):
        return ""
    if len({(request.tool, request.rule) for request in approvals}) > 1:
        return "Not all of it can be undone, and they ask by different rules: allow them one by one."
    if len(approvals) > MOST_TOGETHER:
        return f"Not all of it can be undone: at most {MOST_TOGETHER} at once."
    return ""


def allowing(requests: tuple[Request, ...]) -> tuple[tuple[str, Reply], ...]:
    return tuple((request.id, ApprovalReply(Decision.ALLOW_ONCE)) for request in requests)


def refusing(requests: tuple[Request, ...]) -> tuple[tuple[str, Reply], ...]:
    return tuple((request.id, _refusal(request)) for request in requests)


def _refusal(request: Request) -> Reply:
    match request:
        case ApprovalRequest():
            return ApprovalReply(Decision.DENY)
        case PlanRequest():
            return PlanReply(PlanDecision.REFUSE)
        case _:
            return QuestionReply(Attendance.CANCELLED)


Replies = tuple[tuple[str, Reply], ...]


@dataclass(frozen=True, slots=True)
class Waited:
    """One to open, or replies to several; neither where the list was only closed."""

    opens: Request | None = None
    replies: Replies = ()


class WaitingScreen(ArmedScreen[Waited]):
    """Opened by the person only; still, what is typed into it goes to the draft."""

    BINDINGS = bindings(Context.WAITING)
    help_context = Context.WAITING

    def __init__(
        self,
        requests: tuple[Request, ...],
        chrome: Chrome,
        spill: Callable[[str], None],
        clock: Callable[[], float],
    ) -> None:
        """`spill` takes typed characters to the draft."""
        self._requests = requests
        self._marked: frozenset[str] = frozenset()
        self._replies: Replies = ()
        self._dialog = WaitingDialog(chrome)
        self._silence = Silence(clock())
        self._spill = spill
        super().__init__(self._dialog, self._silence, clock)

    def compose(self) -> ComposeResult:
        yield self._dialog

    def on_mount(self) -> None:
        self._dialog.show(self._requests, self._marked)
        self.set_focus(self._dialog.list)

    def show(self, requests: tuple[Request, ...]) -> None:
        """Others wait now."""
        if requests == self._requests:
            return
        self._requests = requests
        self._marked &= {request.id for request in requests}
        if self.is_mounted:
            self._go_back()
            if not requests:
                self.dock()

    async def take(self, event: events.Key | events.Paste) -> bool:
        if isinstance(event, events.Paste):
            return self._demote(event.text)
        if event.key in {"escape", "ctrl+c"}:
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
        self.call_after_refresh(self._look)

    def dock(self) -> None:
        self.dismiss(Waited())

    @on(RowList.Chosen)
    def _chosen(self) -> None:
        self.action_open()

    @on(SeenScroll.Moved)
    def _moved(self) -> None:
        self.call_after_refresh(self._look)

    def action_open(self) -> None:
        self.dismiss(Waited(opens=self._dialog.list.current))

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
        self._confirm(f"Refuse {_count(chosen)}?", _verb("refuse", chosen), chosen, refusing(chosen))

    def _chord(self, at: float) -> None:
        if not self._dialog.is_confirming:
            chosen = self._chosen_ones()
            if problem := objection(chosen):
                self._dialog.note(problem)
            else:
                self._confirm(
                    f"Allow {_count(chosen)} once?", _verb("allow", chosen), chosen, allowing(chosen)
                )
        elif not self._silence.is_ready(at):
            self.rearm()
        elif not self._dialog.in_full.is_end_seen:
            self._dialog.note(SCROLL_FIRST)
        else:
            self.dismiss(Waited(replies=self._replies))

    def _chosen_ones(self) -> tuple[Request, ...]:
        if self._marked:
            return tuple(request for request in self._requests if request.id in self._marked)
        current = self._dialog.list.current
        return (current,) if current is not None else ()

    def _confirm(self, question: str, verb: str, chosen: tuple[Request, ...], replies: Replies) -> None:
        self._replies = replies
        self._dialog.note("")
        self._dialog.confirm(question, verb, chosen)
        self.rearm()

    def _escape(self) -> None:
        if self._dialog.is_confirming:
            self._go_back()
        else:
            self.dismiss(Waited())

    def _go_back(self) -> None:
        self._replies = ()
        self._dialog.go_back()
        self._show()

    def _show(self) -> None:
        self._dialog.note("")
        self._dialog.show(self._requests, self._marked)

    def _look(self) -> None:
        """What is painted counts as seen only once there was time to read it."""
        if self.is_attached and self.is_active and self._silence.is_ready(self._clock()):
            self._dialog.in_full.look()
            self._dialog.show_ready(True)

    def _typed(self, event: events.Key) -> bool:
        return self._demote(event.character) if event.is_printable and event.character else False

    def _demote(self, text: str) -> bool:
        self._spill(text)
        self.dismiss(Waited())
        return True


def _count(requests: tuple[Request, ...]) -> str:
    return "this request" if len(requests) == 1 else f"these {len(requests)} requests"


def _verb(verb: str, requests: tuple[Request, ...]) -> str:
    return f"{verb} it" if len(requests) == 1 else f"{verb} them"
