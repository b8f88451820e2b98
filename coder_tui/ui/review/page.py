"""The page of a review, drawn from its model: title, list of files, the line above the diff, the diff."""

from collections.abc import Callable

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from coder_tui.text.safe_text import safe_line
from coder_tui.ui.diff.view import DiffView
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.lists.row_list import RowList
from coder_tui.ui.panes.changes import shortened
from coder_tui.ui.review.model import Counts, ReviewedFile, ReviewModel

WORDS = {True: "keep", False: "reject", None: "undecided"}
_STYLES = {True: "$text-success", False: "$text-error", None: "$text-warning"}


def sign(verdict: bool | None, chrome: Chrome) -> str:
    return {True: chrome.ok, False: chrome.failed, None: chrome.pending}[verdict]


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


class ReviewTitle(Static):
    """One row: what is reviewed, and the decisions so far."""

    DEFAULT_CSS = """
    ReviewTitle { dock: top; height: 1; padding: 0 1; background: $panel; color: $text-muted;
        text-wrap: nowrap; text-overflow: ellipsis; }
    """

    def __init__(self, chrome: Chrome) -> None:
        super().__init__(Content.styled("Review ", "bold $text-primary"), markup=False)
        self._chrome = chrome

    def show(self, what: str, files: int, made: Counts) -> None:
        hunks = made.kept + made.rejected + made.open
        parts: list[tuple[str, str]] = [(f"Review {what}", "bold $text-primary")]
        if hunks:
            parts.append((f"   {counted(files, 'file')}  {counted(hunks, 'hunk')}  ", ""))
        for verdict, number in ((True, made.kept), (False, made.rejected), (None, made.open)):
            if hunks:
                parts.append((f" {sign(verdict, self._chrome)}{number}", f"bold {_STYLES[verdict]}"))
        self.update(Content.assemble(*parts), layout=False)


class ReviewFiles(RowList, can_focus=False):
    """A row for each file: its decision, and how many of its hunks are decided."""

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
    """Names the current file and hunk, or shows a note."""

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
        stale = "  changed on disk, cannot be undone" if file.path in self._model.stale else ""
        words = self._model.comment(key)
        # Here too: below a long hunk the comment may be out of view.
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
    """The next hunk may be in a file that is not shown, so the page does the steps."""

    def __init__(self, chrome: Chrome, step: Callable[[int], None], step_file: Callable[[int], None]) -> None:
        super().__init__(glyphs=chrome, id="review-diff")
        self._step = step
        self._step_file = step_file

    def action_hunk(self, step: int) -> None:
        self._step(step)

    def action_file(self, step: int) -> None:
        self._step_file(step)


class ReviewPage(Container):
    """Everything of a review but its keys and comments; the diff follows the model's mark."""

    def __init__(self, chrome: Chrome, model: ReviewModel) -> None:
        super().__init__(id="review")
        self._chrome = chrome
        self._model = model
        self._title = ReviewTitle(chrome)
        self._files = ReviewFiles(chrome, model)
        self._line = HunkLine(chrome, model)
        self.diff = ReviewDiff(chrome, self._step, self._step_file)
        self._scope = ""
        self._drawn: ReviewedFile | None = None

    def compose(self) -> ComposeResult:
        yield self._title
        yield self._files
        with Container(id="reviewed"):
            yield self._line
            yield self.diff

    def on_resize(self) -> None:
        self.call_after_refresh(self._annotate)

    def show(self, note: str = "", scope: str | None = None) -> None:
        """Draw the model; `scope` names what is reviewed, if that has changed."""
        model = self._model
        self._scope = self._scope if scope is None else scope
        self._title.show(self._scope, len(model.files), model.counts())
        self._files.show()
        self._files.display = len(model.files) > 1
        self._line.show(note)
        if not self._drawn or model.file != self._drawn:
            is_other = not self._drawn or not model.file or model.file.path != self._drawn.path
            self._drawn = model.file
            self.diff.show([] if model.file is None else [model.file.comparison])
            if is_other:
                self.diff.go(0)
        self._annotate()

    def _annotate(self) -> None:
        file = self._model.file
        keys = file.keys if file is not None else ()
        marks = {key[1]: sign(self._model.decision(key), self._chrome) for key in keys}
        remarks = {key[1]: f"you: {words}" for key in keys if (words := self._model.comment(key))}
        self.diff.annotate(marks, remarks)
        current = self._model.current[1] if self._model.current is not None else ""
        # Before the files are loaded and laid out there are no rows to go to.
        if current in self.diff.sheet.hunk_rows():
            self.diff.choose(current, scrolls=self.diff.current != current)

    @on(DiffView.Moved)
    def _clicked_hunk(self, event: DiffView.Moved) -> None:
        file = self._model.file
        if file is not None and self._model.current != (file.path, event.hunk):
            self._model.go((file.path, event.hunk))
            self.show()

    @on(RowList.Moved)
    def _clicked_file(self) -> None:
        self._step_file(self._files.cursor - self._model.place)

    def _step(self, by: int) -> None:
        self._model.step(by)
        self.show()

    def _step_file(self, by: int) -> None:
        self._model.step_file(by)
        self.show()
