"""The page of a review: files and hunks, drawn as the model has them, and brought up to date.

The parts of the review screen: its title, the list of files, the line above the diff, the diff itself.
"""

import asyncio
from abc import abstractmethod
from collections.abc import Callable

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.screen import ModalScreen
from textual.widget import Widget

from coder_tui.agent.session import Session
from coder_tui.agent.undo.review import compared
from coder_tui.protocol.errors import UserError
from coder_tui.protocol.events import Event, FilesChanged, TurnFinished
from coder_tui.text.safe_text import safe_line
from coder_tui.ui.diff.view import DiffView
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.keymap import named
from coder_tui.ui.keys import Context
from coder_tui.ui.lists.row_list import RowList
from coder_tui.ui.panes.changes import shortened
from coder_tui.ui.prompt.prompt import Prompt, PromptHistory, keep_in_memory
from coder_tui.ui.review.model import Counts, ReviewedFile, ReviewModel
from coder_tui.ui.session.base import Gated
from coder_tui.ui.transcript.searching import BrowseLine

WORDS = {True: "keep", False: "reject", None: "undecided"}
_STYLES = {True: "$text-success", False: "$text-error", None: "$text-warning"}


def sign(verdict: bool | None, chrome: Chrome) -> str:
    return {True: chrome.ok, False: chrome.failed, None: chrome.pending}[verdict]


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


class ReviewTitle(Widget):
    """What is reviewed and how far it got, in one row."""

    DEFAULT_CSS = """
    ReviewTitle { dock: top; height: 1; padding: 0 1; background: $panel; color: $text-muted;
        text-wrap: nowrap; text-overflow: ellipsis; }
    """

    def __init__(self, chrome: Chrome) -> None:
        super().__init__()
        self._chrome = chrome
        self._what = ""
        self._files = 0
        self._counts = Counts()

    def show(self, what: str, files: int, counts: Counts) -> None:
        self._what, self._files, self._counts = what, files, counts
        self.refresh()

    def render(self) -> Content:
        made = self._counts
        hunks = made.kept + made.rejected + made.open
        parts: list[tuple[str, str]] = [(f"Review {self._what}", "bold $text-primary")]
        if hunks:
            parts.append((f"   {counted(self._files, 'file')}  {counted(hunks, 'hunk')}  ", ""))
        for verdict, number in ((True, made.kept), (False, made.rejected), (None, made.open)):
            if hunks:
                parts.append((f" {sign(verdict, self._chrome)}{number}", f"bold {_STYLES[verdict]}"))
        return Content.assemble(*parts)


class ReviewFiles(RowList, can_focus=False):
    """A row a file: what was decided on it and on how many of its hunks."""

    def __init__(self, chrome: Chrome, model: ReviewModel) -> None:
        super().__init__(glyphs=chrome, id="review-files")
        self._chrome = chrome
        self._model = model

    def show(self) -> None:
        count = len(self._model.files)
        self.set_rows(count, range(count), self._model.place)

    def draw(self, row: int, width: int) -> Text:
        palette, file = self.palette, self._model.files[row]
        verdicts = self._model.decisions_of(file)
        tail = f" {sum(each is not None for each in verdicts)}/{len(verdicts)}"
        room = max(4, width - 2 - cell_len(tail))
        name = shortened(safe_line(file.comparison.path), room, self._chrome.more)
        mark, style = self._mark(file, verdicts)
        line = Text.assemble((f"{mark} ", style), (name, palette.base))
        line.pad_right(max(0, width - line.cell_len - cell_len(tail)))
        return Text.assemble(line, (tail, palette.dim))

    def _mark(self, file: ReviewedFile, verdicts: tuple[bool | None, ...]) -> tuple[str, Style]:
        palette = self.palette
        if file.path in self._model.stale:
            return self._chrome.warning, palette.warning
        verdict = None if None in verdicts else False not in verdicts
        style = {True: palette.ok, False: palette.failed, None: palette.dim}[verdict]
        return sign(verdict, self._chrome), style


class HunkLine(Widget):
    """Names the file and the hunk that the mark is on, or says what just happened."""

    DEFAULT_CSS = """
    HunkLine { height: 1; padding: 0 1; color: $text-muted; background: $surface;
        text-wrap: nowrap; text-overflow: ellipsis; }
    """

    def __init__(self, chrome: Chrome, model: ReviewModel) -> None:
        super().__init__()
        self._chrome = chrome
        self._model = model
        self._note = ""

    def show(self, note: str = "") -> None:
        self._note = safe_line(note)
        self.refresh()

    def render(self) -> Content:
        file, key = self._model.file, self._model.current
        if self._note or file is None or key is None:
            return Content.styled(self._note, "$text-warning")
        place, verdict = file.keys.index(key) + 1, self._model.decision(key)
        which = f"hunk {place}/{len(file.keys)}" if file.comparison.hunks else "the whole file"
        state = f"{sign(verdict, self._chrome)} {WORDS[verdict]}"
        stale = "  changed on disk since: cannot be taken back" if file.path in self._model.stale else ""
        words = self._model.comment(key)
        # Here too: below a long hunk it may be out of sight.
        said = f"  you: {safe_line(words)}" if words else ""
        tail = f"  {which}  "
        room = max(8, self.content_size.width - cell_len(tail + state + stale))
        return Content.assemble(
            (shortened(safe_line(file.comparison.path), room, self._chrome.more), "bold $foreground"),
            tail,
            (state, f"bold {_STYLES[verdict]}"),
            (stale, "$text-warning"),
            (said, "$text-accent"),
        )


class ReviewDiff(DiffView):
    """Going to another hunk or file may lead out of the file that is shown, so others decide on it."""

    def __init__(self, chrome: Chrome, step: Callable[[int], None], step_file: Callable[[int], None]) -> None:
        super().__init__(glyphs=chrome, id="review-diff")
        self._step = step
        self._step_file = step_file

    def action_hunk(self, step: int) -> None:
        self._step(step)

    def action_file(self, step: int) -> None:
        self._step_file(step)


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
