"""The files that the session changed, and the diff of the marked one.

The changes are read again after each change, and compared in a thread.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.message import Message
from textual.widget import Widget

from coder_tui.agent.undo.review import compared
from coder_tui.protocol.comparison import Comparison, FileState
from coder_tui.protocol.errors import UserError
from coder_tui.text.safe_text import safe_line
from coder_tui.ui.diff.view import DiffView
from coder_tui.ui.draw.strips import cut
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.keys import Context, bindings
from coder_tui.ui.lists.row_list import RowList
from coder_tui.ui.panes.names import PaneName
from coder_tui.ui.panes.pane import Pane, PaneHints
from coder_tui.workspace.undo.changed_files import ChangedFile

if TYPE_CHECKING:
    from coder_tui.agent.session import Session


@dataclass(frozen=True, slots=True)
class ShownChange:
    """A changed file with its two versions compared; a file that is not text has notes and no hunks."""

    path: Path
    comparison: Comparison


class ChangesFeed:
    """Passes the changes to `show`, or an error message to `fail`; `is_turn_only` limits them to one turn."""

    def __init__(
        self,
        session: "Session",
        show: Callable[[tuple[ShownChange, ...]], None],
        fail: Callable[[str], None],
    ) -> None:
        self._session = session
        self._show = show
        self._fail = fail
        self._known: dict[Path, tuple[ChangedFile, ShownChange]] = {}
        self._is_reading = False
        self._is_stale = False
        self.is_turn_only = False

    async def read(self) -> None:
        """Read the changes; any number of calls while it reads cost one more reading at the end."""
        self._is_stale = True
        if self._is_reading:
            return
        self._is_reading = True
        try:
            while self._is_stale:
                self._is_stale = False
                self._show(await self._compared())
        except UserError as error:
            self._fail(f"The changes cannot be shown: {error}")
        finally:
            self._is_reading = False

    async def _compared(self) -> tuple[ShownChange, ...]:
        since = max(1, self._session.turn) if self.is_turn_only else 1
        files = await self._session.changed_files(since)
        fresh = [file for file in files if self._known.get(file.path, (None,))[0] != file]
        shown = await asyncio.to_thread(
            lambda: [shown_change(each, self._session.directory) for each in fresh]
        )
        self._known.update({file.path: (file, each) for file, each in zip(fresh, shown, strict=True)})
        return tuple(self._known[file.path][1] for file in files)


def shown_change(file: ChangedFile, root: Path) -> ShownChange:
    return ShownChange(file.path, compared(file, root, is_shown=True))


DIFF_COLUMNS, DIFF_ROWS = 50, 8
"""The room that a pane needs to show a diff below its list."""
HINTS = (
    ("j k", "file"),
    ("Enter", "diff"),
    ("t", "turn or all"),
    ("F3", "review"),
    ("Esc", "prompt"),
)
DIFF_HINTS = (
    ("] [", "hunk"),
    ("w", "wrap"),
    ("+ -", "context"),
    ("h", "names"),
    ("|", "columns"),
    ("i", "blanks"),
    ("Esc", "prompt"),
)
_MOST_DOTS = 6
_SIGNS = {FileState.CREATED: "A", FileState.DELETED: "D", FileState.CHANGED: "M", FileState.RENAMED: "R"}

Decisions = Sequence[bool | None]
"""One for each hunk: True for kept, False for rejected, None for undecided."""


class ChangesList(RowList):
    """A row for each file: what happened to it, added and removed lines, decisions on its hunks."""

    BINDINGS = bindings(Context.CHANGES)

    class ScopeAsked(Message):
        """The user switches between the whole session and the newest turn."""

    def __init__(self, chrome: Chrome) -> None:
        super().__init__(glyphs=chrome, id="changed-files")
        self._chrome = chrome
        self.changes: tuple[ShownChange, ...] = ()
        self.decisions: Mapping[Path, Decisions] = {}
        self.placeholder = ""

    @property
    def marked(self) -> ShownChange | None:
        return self.changes[self.cursor] if self.changes else None

    def show(self, changes: tuple[ShownChange, ...]) -> None:
        """Show changes; the mark stays on its file while others come and go."""
        marked = self.marked
        self.changes = changes
        paths = [change.path for change in changes]
        cursor = paths.index(marked.path) if marked is not None and marked.path in paths else self.cursor
        self.set_rows(max(1, len(changes)), range(len(changes)), cursor)

    def draw(self, row: int, width: int) -> Text:
        palette = self.palette
        if not self.changes:
            return Text(self.placeholder, palette.dim)
        change = self.changes[row]
        file = change.comparison
        dots = self._dots(change)
        counts = f"+{file.additions} -{file.deletions}" if file.hunks else ""
        tail = f"  {counts:<8}{'  ' if self._dots_width else ''}"
        room = width - 2 - cell_len(tail) - self._dots_width
        name = shortened(safe_line(file.path), max(4, room), self._chrome.more)
        line = Text.assemble((f"{_SIGNS[file.state]} ", palette.user), (name, palette.base))
        line.pad_right(max(0, room - cell_len(name)))
        blank = " " * (self._dots_width - dots.cell_len)
        return Text.assemble(line, (tail, palette.dim), blank, dots)

    @property
    def _dots_width(self) -> int:
        """The width of the widest dots, so that the numbers of all files are aligned."""
        return max((self._dots(change).cell_len for change in self.changes), default=0)

    def _dots(self, change: ShownChange) -> Text:
        palette = self.palette
        made = self.decisions.get(change.path) or (None,) * len(change.comparison.hunks)
        look = {
            True: (self._chrome.ready, palette.ok),
            False: (self._chrome.failed, palette.failed),
            None: (self._chrome.hold, palette.dim),
        }
        if len(made) <= _MOST_DOTS:
            return Text(" ").join([Text(*look[each]) for each in made])
        kinds = [each for each in look if each in made]
        return Text(" ").join([Text(f"{look[each][0]}{made.count(each)}", look[each][1]) for each in kinds])

    def action_scope(self) -> None:
        self.post_message(self.ScopeAsked())


def shortened(path: str, room: int, more: str) -> str:
    """Shorten a path to a width; the name of the file stays readable."""
    if cell_len(path) <= room:
        return path
    folder, _, name = path.rpartition("/")
    space = room - cell_len(name) - 1 - cell_len(more)
    if not folder or space < 1:
        return cut(name, room, more)
    return f"{cut(folder, space + cell_len(more), more)}/{name}"


class ChangesPane(Pane):
    """Lists changed files with the user's decisions, above the diff of the marked one."""

    DEFAULT_CSS = """
    ChangesPane {
        ChangesList { max-height: 40%; }
        ChangesList.-alone { height: 1fr; max-height: 100%; }
        DiffView { height: 1fr; margin-top: 1; }
    }
    """
    name_of_pane = PaneName.CHANGES

    class Opened(Message):
        """The user opens the marked file, which needs more room."""

    def __init__(self, chrome: Chrome) -> None:
        super().__init__(HINTS, chrome, id="changes")
        self.target = self._list = ChangesList(chrome)
        self.diff = DiffView(glyphs=chrome, id="changes-diff")
        self._is_turn_only = False
        self._drawn: Path | None = None

    def compose(self) -> ComposeResult:
        yield self._list
        yield self.diff
        yield self.line

    @property
    def count(self) -> str:
        number = len(self._list.changes)
        if self._is_turn_only:
            return f"{number} this turn"
        return str(number) if number else ""

    @property
    def marked(self) -> Path | None:
        return None if self._list.marked is None else self._list.marked.path

    def hints_for(self, widget: Widget) -> PaneHints:
        return DIFF_HINTS if widget is self.diff else super().hints_for(widget)

    def rows_wanted(self, width: int) -> int:
        return max(1, len(self._list.changes))

    def show(self, changes: tuple[ShownChange, ...], *, is_turn_only: bool = False) -> None:
        self._is_turn_only = is_turn_only
        self._list.placeholder = "Nothing changed in this turn. Press t to show the whole session."
        self._list.show(changes)
        self.retitle()
        self._show_diff()

    def show_decisions(self, decisions: Mapping[Path, Decisions]) -> None:
        """Show decisions by file; other files are undecided."""
        self._list.decisions = decisions
        self._list.refresh()

    def on_resize(self) -> None:
        has_room = self.content_size.width >= DIFF_COLUMNS and self.content_size.height >= DIFF_ROWS
        if self.diff.display != has_room:
            self.diff.display = has_room
            self._list.set_class(not has_room, "-alone")

    @on(RowList.Moved)
    def _show_diff(self) -> None:
        marked = self._list.marked
        self.diff.show([] if marked is None else [marked.comparison])
        if self.marked != self._drawn:
            self._drawn = self.marked
            self.diff.scroll_home(animate=False)

    @on(RowList.Chosen)
    def _read(self) -> None:
        if self.diff.display:
            self.diff.focus()
        else:
            self.post_message(self.Opened())
