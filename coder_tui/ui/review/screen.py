"""Review by hunk: keep, reject or comment. Sending undoes what was rejected and tells the agent."""

import asyncio
from collections.abc import Callable
from typing import Any

from textual import events
from textual.app import ComposeResult
from textual.screen import ModalScreen, Screen

from coder_tui.agent.session import Session
from coder_tui.agent.undo.review import compared
from coder_tui.protocol.comparison import Change
from coder_tui.protocol.errors import UserError
from coder_tui.protocol.events import Event, FilesChanged, TurnFinished
from coder_tui.ui.diff.view import DiffView
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.keymap import KeyFirstScreen, TypeAhead, Typed, dispatch_key, named
from coder_tui.ui.keys import Context, bindings
from coder_tui.ui.prompt.prompt import Prompt, PromptHistory
from coder_tui.ui.review.model import Key, ReviewedFile, ReviewModel
from coder_tui.ui.review.page import ReviewPage
from coder_tui.ui.session.lookup import look_up
from coder_tui.ui.transcript.searching import BrowseLine

NOTHING = "Nothing has been changed yet."
NOTHING_IN_TURN = "Nothing was changed in this turn. Press t to review the whole session."
NOTHING_TO_SEND = "Nothing to send: reject a hunk or comment on one first."
ONE_LINE = "This hunk is a single line and cannot be split."
HINTS = (
    ("y", "keep"),
    ("n", "reject"),
    ("c", "comment"),
    ("] [", "hunk"),
    ("} {", "file"),
    ("Enter", "send"),
    ("q", "back"),
    ("u", "undo"),
    ("J", "undecided"),
    ("s", "split"),
    ("t", "turn or all"),
    ("|", "columns"),
    ("w", "wrap"),
)
COMMENT_HINTS = (("Enter", "save comment"), ("Ctrl+J", "new line"), ("Esc", "back"))
WIDE = 100
"""Columns from which the files are next to the diff instead of above it."""
_WIDTHS = [(0, "-narrow"), (WIDE, "-wide")]

OpenPlace = Callable[[str, int, int], None]
"""Opens a file at a line and column in the user's editor."""


class ReviewClient:
    """Loads the changes of a session into a model, and sends what was decided."""

    def __init__(self, session: Session, model: ReviewModel) -> None:
        self._session = session
        self._model = model

    @property
    def scope(self) -> str:
        return f"turn {self._since}" if self._model.is_turn_only else "session"

    @property
    def _since(self) -> int:
        return max(1, self._session.turn) if self._model.is_turn_only else 1

    async def load(self, *, is_first: bool) -> None:
        """Read the changes again; at first, show the whole session if the newest turn changed nothing."""
        files = await self._session.changed_files(self._since)
        if is_first and not files and self._model.is_turn_only:
            self._model.is_turn_only = False
            files = await self._session.changed_files()
        root = self._session.directory
        pairs = await asyncio.to_thread(lambda: [(file, compared(file, root)) for file in files])
        self._model.show(pairs, await self._session.review.stale(files))

    async def send(self) -> str:
        """Undo what was rejected and return the message for the agent.

        Files that changed on disk are marked and left alone; then nothing is sent yet.
        """
        rejecting = [each.file for each in self._model.outcome() if each.rejected]
        if stale := await self._session.review.stale(rejecting):
            self._model.mark_stale(self._model.stale | stale)
            names = ", ".join(sorted(path.name for path in stale))
            raise UserError(f"{names} changed on disk and is left as is. Enter sends the rest.")
        message = await self._session.review.settle(self._model.outcome())
        self._model.forget_sent()
        return message


class CommentField:
    """Takes a comment on a hunk: an input field and its hints, hidden until they are opened."""

    def __init__(self, screen: Screen[Any], chrome: Chrome, finish: Callable[[str | None], None]) -> None:
        """`finish` gets the comment, or None if it was canceled."""
        self._screen = screen
        self._finish = finish
        self.prompt = Prompt(PromptHistory(), self._close, placeholder="Your comment", id="comment")
        self.hints = BrowseLine(COMMENT_HINTS, chrome, contexts=(Context.COMPOSER,))

    @property
    def is_open(self) -> bool:
        return self._screen.focused is self.prompt

    def open(self, text: str) -> None:
        self.prompt.show_draft(text)
        self._screen.add_class("-writing")
        self.hints.show_hints()
        self._screen.set_focus(self.prompt)

    async def handle_key(self, event: events.Key | events.Paste) -> None:
        key = event.key if isinstance(event, events.Key) else ""
        if key in {"escape", "ctrl+c"}:
            self._close(None)
        elif key == "enter" and self.prompt.is_empty:
            self._close("")
        else:
            await dispatch_key(self._screen, self.prompt, event)

    def _close(self, comment: str | None) -> None:
        self._screen.remove_class("-writing")
        self.hints.hide()
        self._finish(comment)


class ReviewScreen(KeyFirstScreen, ModalScreen[str | None]):
    """Turns keys into decisions. They stay in the model when it closes, so that nothing is lost.

    Ends with the message for the agent, empty if nothing was sent, None to hide the changes.
    """

    CSS_PATH = "review.tcss"
    BINDINGS = bindings(Context.REVIEW)
    HORIZONTAL_BREAKPOINTS = _WIDTHS
    AUTO_FOCUS = "#review-diff"
    help_context = Context.REVIEW

    def __init__(self, session: Session, model: ReviewModel, chrome: Chrome, open_place: OpenPlace) -> None:
        super().__init__()
        self.model = model
        self._session = session
        self._chrome = chrome
        self._open_place = open_place
        self._client = ReviewClient(session, model)
        self._page = ReviewPage(chrome, model)
        self._comment = CommentField(self, chrome, self._end_comment)
        self._hints = BrowseLine(HINTS, chrome, contexts=(Context.REVIEW, Context.DIFF))
        self._is_sending = False
        self._early_keys = TypeAhead(lambda event: self.app.on_event(event))
        self._unsubscribe: Callable[[], None] = lambda: None

    def compose(self) -> ComposeResult:
        yield self._page
        yield self._comment.prompt
        yield self._comment.hints
        yield self._hints

    def on_mount(self) -> None:
        self._hints.show_hints()
        self._unsubscribe = self._session.subscribe(self._handle_event)
        self.run_worker(self._load(), group="load")

    def on_unmount(self) -> None:
        self._unsubscribe()

    async def handle_input(self, event: Typed) -> bool:
        if self._early_keys.keeps(event):
            return True
        if self._comment.is_open:
            await self._comment.handle_key(event)
        elif isinstance(event, events.Key) and not self._is_sending:
            bound = self.active_bindings.get(event.key)
            if bound is not None:
                await self.app.run_action(bound.binding.action, bound.node)
        return True

    def _handle_event(self, event: Event) -> None:
        if isinstance(event, FilesChanged | TurnFinished) and not self._is_sending:
            self.run_worker(self._load(), group="load", exclusive=True)

    async def _load(self) -> None:
        note = ""
        try:
            await self._client.load(is_first=not self.is_loaded)
        except UserError as error:
            note = f"The changes cannot be shown: {error}"
        if not note and not self.model.files:
            is_turn_only = self.model.is_turn_only
            note = named(self, NOTHING_IN_TURN, Context.REVIEW) if is_turn_only else NOTHING
        self._page.show(note, self._client.scope)
        # Whichever load ends first: news of a change cancels the one that opened the page.
        if not self.is_loaded:
            self.call_after_refresh(self.app.call_later, self._early_keys.release_all)

    @property
    def is_loaded(self) -> bool:
        """Whether keys are handled at once, not stored until the files are there."""
        return self._early_keys.is_over

    def action_decide(self, verdict: bool, scope: str = "hunk") -> None:
        """Keep or reject the current hunk or its whole file, and go to the next undecided hunk."""
        file, key = self.model.file, self.model.current
        if file is None or key is None:
            return
        reason = "" if verdict else self.model.reason_not_to_reject(file)
        if not reason:
            self.model.decide(verdict, file.keys if scope == "file" else (key,))
            self.model.step_open(1)
        self._page.show(reason)

    def action_next_verdict(self) -> None:
        """Switch between kept, rejected and undecided; the mark stays."""
        key, file = self.model.current, self.model.file
        if key is None or file is None:
            return
        can_reject = not self.model.reason_not_to_reject(file)
        following = {None: True, True: False if can_reject else None, False: None}
        self.model.decide(following[self.model.decision(key)], (key,))
        self._page.show()

    def action_comment(self) -> None:
        if self.model.current is not None:
            self._hints.hide()
            self._comment.open(self.model.comment(self.model.current))

    def _end_comment(self, comment: str | None) -> None:
        if comment is not None and self.model.current is not None:
            self.model.set_comment(self.model.current, comment)
        self._hints.show_hints()
        self.set_focus(self._page.diff)
        self._page.show()

    def action_split(self, to_lines: bool) -> None:
        self._page.show("" if self.model.split(to_lines=to_lines) else ONE_LINE)

    def action_undo(self) -> None:
        self._page.show("" if self.model.undo() else "There is no decision to undo.")

    def action_undecided(self, step: int) -> None:
        is_found = self.model.step_open(step)
        self._page.show("" if is_found else "Every hunk is decided. Press Enter to send.")

    def action_scope(self) -> None:
        self.model.is_turn_only = not self.model.is_turn_only
        self.run_worker(self._load(), group="load", exclusive=True)

    def action_line(self, step: int) -> None:
        self._page.diff.scroll_relative(y=step, animate=False)

    def action_half(self, way: int) -> None:
        diff = self._page.diff
        diff.scroll_relative(y=way * max(1, diff.size.height // 2), animate=False)

    def action_edit(self) -> None:
        if self.model.file is not None:
            self._open_place(str(self.model.file.path), _line_of(self.model.file, self.model.current), 1)

    def on_diff_view_names_asked(self, event: DiffView.NamesAsked) -> None:
        looking = look_up(self, self._session.lookup, self._chrome, event, self._open_place, self._page.show)
        self.run_worker(looking, group="names", exclusive=True)

    def action_leave(self) -> None:
        self.dismiss("")

    def action_put_away(self) -> None:
        self.dismiss(None)

    def action_send(self) -> None:
        if not self.model.outcome():
            self._page.show(NOTHING_TO_SEND)
        elif not self._is_sending:
            self._is_sending = True
            self.run_worker(self._send(), group="send")

    async def _send(self) -> None:
        try:
            message = await self._client.send()
        except UserError as error:
            self._page.show(str(error))
        else:
            self.dismiss(message)
        finally:
            self._is_sending = False


def _line_of(file: ReviewedFile, key: Key | None) -> int:
    """Return the line where a hunk begins in the file as it is now."""
    hunk = next((each for each in file.comparison.hunks if key is not None and each.id == key[1]), None)
    if hunk is None:
        return 1
    section = file.comparison.sections[hunk.start]
    return section.new + 1 if isinstance(section, Change) else 1
