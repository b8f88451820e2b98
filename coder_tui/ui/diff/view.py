"""Read compared files by keyboard: side by side or in one column, hunk by hunk, of any length."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from textual import events
from textual.message import Message

from coder_tui.diffs.rows import Piece
from coder_tui.protocol.comparison import Change, Comparison, Gap, Same
from coder_tui.ui.diff.sheet import CONTEXT, DiffSheet
from coder_tui.ui.diff.surface import DiffSurface
from coder_tui.ui.keys import Context, bindings

_NAME = re.compile(r"[^\W\d]\w+")
# No language server knows anything about these, and hardly any language allows them as names.
_RESERVED = """
and as async await break case class const continue def do done elif else esac except export fi finally fn for
from func function if import in is let not or pass raise return switch then throw try var void while with
yield
"""

Named = tuple[str, int, int, str]
"""A name, its line and character from 0, and the text of the line."""


def names_in(file: Comparison, hunk: str) -> tuple[Named, ...]:
    """Find the names in a hunk's new lines, each once, without single letters and keywords."""
    found: dict[str, Named] = {}
    reserved = frozenset(_RESERVED.split())
    for number, line in _new_lines(file, hunk):
        for match in _NAME.finditer(line):
            if match[0] not in reserved:
                found.setdefault(match[0], (match[0], number, match.start(), line.strip()))
    return tuple(found.values())


def _new_lines(file: Comparison, hunk: str) -> Iterator[tuple[int, str]]:
    marked = file.hunk(hunk)
    for section in file.sections[marked.start : marked.stop]:
        match section:
            case Change(new=new, added=lines) | Same(new=new, lines=lines):
                yield from enumerate(lines, new)


_ABOVE = 3
"""Rows that stay in view above a hunk that is scrolled to."""
_CONTEXTS = (0, 1, CONTEXT, 10, 25, None)


class DiffView(DiffSurface, can_focus=True):
    """Shows comparisons, and handles keys while it has the focus."""

    BINDINGS = bindings(Context.DIFF)

    @dataclass
    class Moved(Message):
        """Another hunk has become the current one."""

        hunk: str

    @dataclass
    class NamesAsked(Message):
        """The user wants to look up names of the current hunk, in the file after the change."""

        path: str
        names: tuple[Named, ...]

    def annotate(self, marks: Mapping[str, str], remarks: Mapping[str, str]) -> None:
        """Show by hunk a sign of one cell at its first row, and a comment below it."""
        self.marks = marks
        self.reshape(replace(self.shape, remarks=remarks))
        self.refresh()

    def choose(self, hunk: str, *, scrolls: bool = False) -> None:
        """Make a hunk the current one."""
        if hunk != self.current:
            self.current = hunk
            self.post_message(self.Moved(hunk))
            self.refresh()
        if scrolls:
            # First settle the hunk itself: the rows above it may be in lines that are not measured yet.
            self.settle(self.sheet.hunk_rows()[hunk])
            self.go(max(0, self.sheet.hunk_rows()[hunk] - _ABOVE))

    def on_click(self, event: events.Click) -> None:
        """Expand folded lines, or make a hunk the current one."""
        found = self.sheet.item_at(event.y + self.scroll_offset.y)
        if found is None or not isinstance(piece := found[1], Piece):
            return
        is_known = isinstance(self.sheet.files[found[0]].sections[piece.section], Same)
        if isinstance(piece.part, Gap) and is_known:
            self.reshape(replace(self.shape, opened=self.shape.opened | {(found[0], piece.section)}))
        elif piece.hunk:
            self.choose(piece.hunk)

    def action_hunk(self, step: int) -> None:
        """Go to the next or previous hunk, from the current one if it is in view, else from the view."""
        if hunk := self._position.step_hunk(step):
            self.choose(hunk, scrolls=True)

    def action_file(self, step: int) -> None:
        rows = self.sheet.file_rows()
        at = self._position.file + step
        if at in rows:
            self.go(rows[at])
            if hunks := self.sheet.files[at].hunks:
                self.choose(hunks[0].id)

    def action_names(self) -> None:
        if not self.sheet.files:
            return
        file = self.sheet.files[self._position.file]
        hunks = [hunk.id for hunk in file.hunks]
        hunk = self.current if self.current in hunks else next(iter(hunks), "")
        self.post_message(self.NamesAsked(file.path, names_in(file, hunk) if hunk else ()))

    @property
    def _position(self) -> "_Position":
        return _Position(self.sheet, self.current, self.scroll_offset.y, max(1, self.size.height))

    def action_layout(self) -> None:
        self.wanted_split = not self.shape.look.is_split
        self.reshape(self.shape)

    def action_wrap(self) -> None:
        self.scroll_to(x=0, animate=False)
        self.reshape(replace(self.shape, look=replace(self.shape.look, wraps=not self.shape.look.wraps)))

    def action_blanks(self) -> None:
        look = self.shape.look
        marking = replace(look.marking, all_blanks=not look.marking.all_blanks)
        self.reshape(replace(self.shape, look=replace(look, marking=marking)))

    def action_context(self, step: int) -> None:
        at = _CONTEXTS.index(self.shape.context) + step
        context = _CONTEXTS[max(0, min(at, len(_CONTEXTS) - 1))]
        self.reshape(replace(self.shape, context=context, opened=frozenset()))


@dataclass(frozen=True, slots=True)
class _Position:
    """Where the reader is: the current hunk, and the rows in view."""

    sheet: DiffSheet
    hunk: str
    top: int
    height: int

    @property
    def file(self) -> int:
        """The file of the current hunk if that is in view, else the file of the first row."""
        if self._is_hunk_in_view:
            files = enumerate(self.sheet.files)
            return next(at for at, file in files if any(hunk.id == self.hunk for hunk in file.hunks))
        return self.sheet.anchor(self.top).file

    def step_hunk(self, step: int) -> str:
        """Return the next or previous hunk, or the last one in that direction; empty if there are none."""
        rows = self.sheet.hunk_rows()
        names = list(rows)
        if self._is_hunk_in_view:
            at = names.index(self.hunk) + step
        else:
            above = sum(row < self.top for row in rows.values())
            at = above if step > 0 else above - 1
        return names[max(0, min(at, len(names) - 1))] if names else ""

    @property
    def _is_hunk_in_view(self) -> bool:
        row = self.sheet.hunk_rows().get(self.hunk)
        return row is not None and 0 <= row - self.top < self.height
