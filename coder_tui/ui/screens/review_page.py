"""The page of a review: files and hunks, drawn as the model has them, and brought up to date."""

import asyncio
from abc import abstractmethod
from collections.abc import Callable

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Container
from textual.screen import ModalScreen

from coder_tui.agent.review import compared
from coder_tui.agent.session import Session
from coder_tui.protocol.errors import UserError
from coder_tui.protocol.events import Event, FilesChanged, TurnFinished
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.key_names import named
from coder_tui.ui.keys import Context
from coder_tui.ui.review_model import ReviewedFile, ReviewModel
from coder_tui.ui.screens.gated import Gated
from coder_tui.ui.widgets.browse_line import BrowseLine
from coder_tui.ui.widgets.diff_view import DiffView
from coder_tui.ui.widgets.prompt import Prompt
from coder_tui.ui.widgets.prompt_history import PromptHistory, keep_in_memory
from coder_tui.ui.widgets.review_parts import HunkLine, ReviewDiff, ReviewFiles, ReviewTitle, sign
from coder_tui.ui.widgets.row_list import RowList

BESIDE = 100
"""Columns from which the files stand beside the diff instead of above it."""
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
_WIDTHS = [(0, "-above"), (BESIDE, "-beside")]
COMMENT_HINTS = (("Enter", "keep this comment"), ("Ctrl+J", "new line"), ("Esc", "back"))
NOTHING = "Nothing was changed yet."
NOTHING_IN_TURN = "Nothing was changed in this turn; t shows the whole session."


class ReviewPage(Gated, ModalScreen[str | None]):
    """Ends with the message for the agent, empty when nothing was sent, None to put the changes away."""

    CSS_PATH = "review.tcss"
    HORIZONTAL_BREAKPOINTS = _WIDTHS
    AUTO_FOCUS = "#review-diff"
    help_context = Context.REVIEW

    def __init__(self, session: Session, model: ReviewModel, chrome: Chrome) -> None:
        super().__init__()
        self.session = session
        self._chrome = chrome
        self.model = model
        self._title = ReviewTitle(chrome)
        self._files = ReviewFiles(chrome, model)
        self.line = HunkLine(chrome, model)
        self.diff = ReviewDiff(chrome, self._step, self._step_file)
        self.comment = Prompt(
            PromptHistory((), keep_in_memory), self.commented, placeholder="What about it?", id="comment"
        )
        self.keys = BrowseLine(HINTS, chrome, contexts=(Context.REVIEW, Context.DIFF))
        self.comment_keys = BrowseLine(COMMENT_HINTS, chrome, contexts=(Context.COMPOSER,))
        self._drawn: ReviewedFile | None = None
        self.is_sending = False
        self._early: list[events.Key | events.Paste] | None = []
        self._unsubscribe: Callable[[], None] = lambda: None

    def compose(self) -> ComposeResult:
        yield self._title
        with Container(id="review"):
            yield self._files
            with Container(id="reviewed"):
                yield self.line
                yield self.diff
        yield self.comment
        yield self.comment_keys
        yield self.keys

    def on_mount(self) -> None:
        self.keys.show_hints()
        self._unsubscribe = self.session.subscribe(self._hear)
        self.run_worker(self.load(), group="load")

    def on_resize(self) -> None:
        self.call_after_refresh(self._annotate)

    def on_unmount(self) -> None:
        self._unsubscribe()

    @abstractmethod
    async def write(self, event: events.Key | events.Paste) -> None:
        """A key while a comment is written."""

    @abstractmethod
    def commented(self, words: str) -> None:
        """A comment is finished."""

    async def take(self, event: events.Key | events.Paste) -> bool:
        if self._early is not None:
            self._early.append(event)
        elif self.focused is self.comment:
            await self.write(event)
        elif isinstance(event, events.Key) and not self.is_sending:
            bound = self.active_bindings.get(event.key)
            if bound is not None:
                await self.app.run_action(bound.binding.action, bound.node)
        return True

    def _hear(self, event: Event) -> None:
        if isinstance(event, FilesChanged | TurnFinished) and not self.is_sending:
            self.run_worker(self.load(), group="load", exclusive=True)

    async def load(self) -> None:
        """Ask for the changes anew; at first the newest turn may have none, and then all are meant."""
        note = ""
        try:
            files = await self.session.changed_files(self._since)
            if not (self.is_loaded or files) and self.model.is_turn_only:
                self.model.is_turn_only = False
                files = await self.session.changed_files()
            root = self.session.directory
            pairs = await asyncio.to_thread(lambda: [(file, compared(file, root)) for file in files])
            self.model.show(pairs, await self.session.review.stale(files))
        except UserError as error:
            note = f"The changes cannot be shown: {error}"
        self.refresh_all(note or self._nothing)
        # Whichever load ends first: news of a change cancels the one that opened the page.
        if not self.is_loaded:
            # In the app's own queue, where keys that come meanwhile wait behind these.
            self.call_after_refresh(self.app.call_later, self._take_early)

    @property
    def _since(self) -> int:
        return max(1, self.session.turn) if self.model.is_turn_only else 1

    @property
    def _nothing(self) -> str:
        if self.model.files:
            return ""
        return named(self, NOTHING_IN_TURN, Context.REVIEW) if self.model.is_turn_only else NOTHING

    @property
    def is_loaded(self) -> bool:
        """Whether keys are taken already, not kept for later."""
        return self._early is None

    async def _take_early(self) -> None:
        early, self._early = self._early or [], None
        for event in early:
            await self.app.on_event(event)

    def refresh_all(self, note: str = "") -> None:
        """Draw what the model says; the diff follows the mark."""
        model = self.model
        what = f"turn {self._since}" if model.is_turn_only else "session"
        self._title.show(what, len(model.files), model.counts())
        self._files.show()
        self._files.display = len(model.files) > 1
        self.line.show(note)
        if not self._drawn or model.file != self._drawn:
            is_other = not self._drawn or not model.file or model.file.path != self._drawn.path
            self._drawn = model.file
            self.diff.show([] if model.file is None else [model.file.comparison])
            if is_other:
                self.diff.go(0)
        self._annotate()

    def _annotate(self) -> None:
        file = self.model.file
        keys = file.keys if file is not None else ()
        marks = {key[1]: sign(self.model.decision(key), self._chrome) for key in keys}
        remarks = {key[1]: f"you: {words}" for key in keys if (words := self.model.comment(key))}
        self.diff.annotate(marks, remarks)
        current = self.model.current[1] if self.model.current is not None else ""
        # Before the files are loaded and laid out there are no rows to go to.
        if current in self.diff.sheet.hunk_rows():
            self.diff.choose(current, scrolls=self.diff.current != current)

    @on(DiffView.Moved)
    def _clicked_hunk(self, event: DiffView.Moved) -> None:
        file = self.model.file
        if file is not None and self.model.current != (file.path, event.hunk):
            self.model.go((file.path, event.hunk))
            self.refresh_all()

    @on(RowList.Moved)
    def _clicked_file(self) -> None:
        self._step_file(self._files.cursor - self.model.place)

    def _step(self, by: int) -> None:
        self.model.step(by)
        self.refresh_all()

    def _step_file(self, by: int) -> None:
        self.model.step_file(by)
        self.refresh_all()
