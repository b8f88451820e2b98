"""The parts of the review screen: its title, the list of files, the line above the diff, the diff itself."""

from collections.abc import Callable

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text
from textual.content import Content
from textual.widget import Widget

from coder_tui.text.safe_text import safe_line
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.review_model import Counts, ReviewedFile, ReviewModel
from coder_tui.ui.widgets.changes_pane import shortened
from coder_tui.ui.widgets.diff_view import DiffView
from coder_tui.ui.widgets.row_list import RowList

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
