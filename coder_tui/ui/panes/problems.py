"""Problems that checkers report, by file and with the most severe first."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from coder_tui.protocol.diagnostics import Diagnostic, Severity
from coder_tui.text.safe_text import safe_line, safe_text
from coder_tui.ui.draw.strips import cut
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.keys import Context, bindings
from coder_tui.ui.lists.row_list import RowList
from coder_tui.ui.motion import Pacer
from coder_tui.ui.panes.names import PaneName
from coder_tui.ui.panes.pane import Pane

_GRAVITY = {severity: rank for rank, severity in enumerate(Severity)}
_NEW = "NEW"
_AWAITED = "  (not known yet)"
_MOST_WORDS = 3
"""Rows for the full message."""
HINTS = (
    ("j k", "move"),
    ("Enter", "open"),
    ("f", "fix"),
    ("v", "read"),
    ("F5", "hide"),
    ("Esc", "prompt"),
)
_LONGEST_MESSAGE, _LONGEST_CODE = 20_000, 100


@dataclass(frozen=True, slots=True)
class Tally:
    """The number of problems by severity."""

    errors: int = 0
    warnings: int = 0
    others: int = 0

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(self.errors + other.errors, self.warnings + other.warnings, self.others + other.others)

    def __sub__(self, other: "Tally") -> "Tally":
        return Tally(self.errors - other.errors, self.warnings - other.warnings, self.others - other.others)

    def words(self, chrome: Chrome) -> str:
        """Format as `1 ✗ 2 !`; lesser problems count only if there are no errors and warnings."""
        parts = [(self.errors, chrome.failed), (self.warnings, chrome.warning)]
        if not self.errors and not self.warnings:
            parts = [(self.others, chrome.info)]
        return " ".join(f"{number} {sign}" for number, sign in parts if number)


def tally(diagnostics: Sequence[Diagnostic]) -> Tally:
    errors = sum(each.severity is Severity.ERROR for each in diagnostics)
    warnings = sum(each.severity is Severity.WARNING for each in diagnostics)
    return Tally(errors, warnings, len(diagnostics) - errors - warnings)


def by_file(
    found: dict[str, tuple[Diagnostic, ...]], awaited: tuple[str, ...] = ()
) -> list[str | Diagnostic]:
    """Return rows: a path, then its diagnostics; files with errors first, in each the errors first.

    Awaited files are marked, even without diagnostics: nobody knows yet that they are clean.
    """
    rows: list[str | Diagnostic] = []
    files = [(sorted(each, key=_order), path) for path, each in found.items() if each]
    for diagnostics, path in sorted(files, key=lambda file: (_GRAVITY[file[0][0].severity], file[1])):
        rows += [f"{path}{_AWAITED}" if path in awaited else path, *diagnostics]
    return rows + [f"{path}{_AWAITED}" for path in awaited if not found.get(path)]


def _order(diagnostic: Diagnostic) -> tuple[int, bool, int, int]:
    return (
        _GRAVITY[diagnostic.severity],
        not diagnostic.is_new,
        diagnostic.line,
        diagnostic.character,
    )


class ProblemsList(RowList):
    """A heading for each file, a row for each problem."""

    BINDINGS = bindings(Context.PROBLEMS)

    class FixAsked(Message):
        """The user asks the agent to fix a problem, which may not be the marked one for long."""

        def __init__(self, diagnostic: Diagnostic) -> None:
            super().__init__()
            self.diagnostic = diagnostic

    class ReadAsked(Message):
        """The user wants to read the full message."""

    def __init__(self, chrome: Chrome) -> None:
        super().__init__(glyphs=chrome, id="problem-rows")
        self._chrome = chrome
        self._rows: list[str | Diagnostic] = []
        self._diagnostics: list[Diagnostic] = []

    @property
    def marked(self) -> Diagnostic | None:
        return self._diagnostics[self.cursor] if self._diagnostics else None

    def show(self, rows: list[str | Diagnostic]) -> None:
        marked = self.marked
        self._rows = rows
        items = [number for number, row in enumerate(rows) if isinstance(row, Diagnostic)]
        self._diagnostics = [row for row in rows if isinstance(row, Diagnostic)]
        known = marked is not None and marked in self._diagnostics
        cursor = self._diagnostics.index(marked) if marked is not None and known else self.cursor
        self.set_rows(len(rows), items, cursor)

    def draw(self, row: int, width: int) -> Text:
        palette, subject = self.palette, self._rows[row]
        if isinstance(subject, str):
            return Text(safe_line(subject), palette.strong)
        sign, ink = {
            Severity.ERROR: (self._chrome.failed, palette.failed),
            Severity.WARNING: (self._chrome.warning, palette.warning),
            Severity.INFORMATION: (self._chrome.info, palette.dim),
            Severity.HINT: (self._chrome.info, palette.dim),
        }[subject.severity]
        code = cut(safe_line(subject.code[:_LONGEST_CODE]), max(0, width // 3), self._chrome.more)
        place = f"{subject.line}:{subject.character} "
        lead = Text.assemble((f" {sign} ", ink), (place, palette.dim))
        if subject.is_new:
            lead.append(f"{_NEW} ", palette.warning)
        room = width - lead.cell_len - (cell_len(code) + 2 if code else 0)
        message = cut(_first_line(subject.message), max(1, room), self._chrome.more)
        lead.append(message, palette.base)
        lead.pad_right(max(0, room - cell_len(message)))
        return Text.assemble(lead, (f"  {code}" if code else "", palette.dim))

    def action_fix(self) -> None:
        if self.marked is not None:
            self.post_message(self.FixAsked(self.marked))

    def action_read(self) -> None:
        self.post_message(self.ReadAsked())


def whole_words(diagnostic: Diagnostic) -> str:
    """Return the full message of the checker, safe to show."""
    source = f" ({safe_line(diagnostic.source[:_LONGEST_CODE])})" if diagnostic.source else ""
    return safe_text(diagnostic.message[:_LONGEST_MESSAGE].strip()) + source


def fix_message(diagnostic: Diagnostic) -> str:
    """Return the message to the agent; the checker's text is quoted, since it is not the user's."""
    found = " ".join(filter(None, (diagnostic.source, diagnostic.code)))
    words = "\n".join(f"> {line}" for line in diagnostic.message[:_LONGEST_MESSAGE].strip().splitlines())
    place = f"{diagnostic.path}:{diagnostic.line}:{diagnostic.character}"
    return f"Please fix this {diagnostic.severity} in {place}{f' ({found})' if found else ''}:\n{words}"


def _first_line(message: str) -> str:
    return safe_line(message[:_LONGEST_MESSAGE].strip().partition("\n")[0])


class ProblemWords(Widget):
    """The beginning of a message, with a mark if there is more of it."""

    DEFAULT_CSS = """
    ProblemWords { height: 3; display: none; padding: 0 1; background: $surface; color: $foreground; }
    """

    def __init__(self, chrome: Chrome) -> None:
        super().__init__(id="problem-words")
        self._more = f"{chrome.more} v"
        self._words = ""

    def show(self, words: str) -> None:
        self._words = words
        self.refresh()

    def render(self) -> Content:
        width = max(1, self.content_size.width)
        rows = Content(self._words).wrap(width)
        if len(rows) > _MOST_WORDS:
            last = cut(rows[_MOST_WORDS - 1].plain.ljust(width) + " ", width, self._more)
            rows = [*rows[: _MOST_WORDS - 1], Content(last)]
        return Content("\n").join(rows)


class ProblemsPane(Pane):
    """Hidden until there is something to fix."""

    DEFAULT_CSS = """
    ProblemsPane {
        ProblemsList { height: 1fr; }
        &:focus-within ProblemWords { display: block; }
    }
    """
    name_of_pane = PaneName.PROBLEMS

    class Opened(Message):
        """The user opens the marked problem in the editor."""

    def __init__(self, chrome: Chrome) -> None:
        super().__init__(HINTS, chrome, id="problems")
        self._chrome = chrome
        self._found: dict[str, tuple[Diagnostic, ...]] = {}
        self._awaited: tuple[str, ...] = ()
        self._tally = Tally()
        self.target = self._list = ProblemsList(chrome)
        self._words = ProblemWords(chrome)
        self._pacer = Pacer(self, self._rebuild)

    def compose(self) -> ComposeResult:
        yield self._list
        yield self._words
        yield self.line

    @property
    def count(self) -> str:
        return " ".join(filter(None, (self._tally.words(self._chrome), "?" if self._awaited else "")))

    @property
    def wants_showing(self) -> bool:
        """Files that are not checked yet are no reason to show the pane."""
        return self._tally != Tally()

    @property
    def marked(self) -> Diagnostic | None:
        return self._list.marked

    def move(self, step: int) -> None:
        """Mark the next or previous problem."""
        self._list.action_move(step)

    def rows_wanted(self, width: int) -> int:
        """Include the most rows that a message may have, so that moving the mark moves nothing else."""
        words = _MOST_WORDS if self.has_focus_within else 0
        return self._list.count + words

    def set_file(self, path: str, diagnostics: tuple[Diagnostic, ...]) -> None:
        """Replace the problems of a file; without any it leaves the list."""
        before = self._found.get(path, ())
        if before == diagnostics:
            return
        self._found[path] = diagnostics
        self._tally = self._tally - tally(before) + tally(diagnostics)
        self.retitle()
        if self._list.marked is None:
            self._rebuild()
        else:
            # A checker reports a thousand files one by one: the list is sorted once per frame.
            self._pacer.request()

    def set_awaited(self, paths: tuple[str, ...]) -> None:
        """Set the files whose new text no server has checked yet."""
        if paths != self._awaited:
            self._awaited = paths
            self.retitle()
            self._rebuild()

    @property
    def is_sorting(self) -> bool:
        return self._pacer.is_pending

    def _rebuild(self) -> bool:
        self._list.show(by_file(self._found, self._awaited))
        self._show_words()
        return False

    @on(RowList.Moved)
    def _show_words(self) -> None:
        """Show the full message: in its row it may be cut off."""
        marked = self._list.marked
        self._words.show(whole_words(marked) if marked is not None else "")

    @on(RowList.Chosen)
    def _open(self) -> None:
        self.post_message(self.Opened())
