"""Compared files to read by keyboard: side by side or in one column, hunk by hunk, of any length.

The names in a hunk, as they stand in the new version of the file.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from textual import events
from textual.message import Message

from coder_tui.diffs.model import Change, Comparison, Gap, Same
from coder_tui.diffs.rows import Piece
from coder_tui.ui.diff.sheet import CONTEXT
from coder_tui.ui.diff.surface import DiffSurface
from coder_tui.ui.keys import Context, bindings

_NAME = re.compile(r"[^\W\d]\w+")
# No server has anything to say of them, and hardly a language lets one name something so.
_RESERVED = """
and as async await break case class const continue def do done elif else esac except export fi finally fn for
from func function if import in is let not or pass raise return switch then throw try var void while with
yield
"""

Named = tuple[str, int, int, str]
"""A name, its line and character from 0, and the line's text."""


def names_in(file: Comparison, hunk: str) -> tuple[Named, ...]:
    """Each name once, where it stands first; a single letter is none, and so is a word of the language."""
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
"""Rows that stay in sight above a hunk one goes to."""
_CONTEXTS = (0, 1, CONTEXT, 10, 25, None)


class DiffView(DiffSurface, can_focus=True):
    """Give it comparisons, and keys while it has the focus."""

    BINDINGS = bindings(Context.DIFF)

    class Moved(Message):
        """Another hunk is the current one."""

        def __init__(self, hunk: str) -> None:
            super().__init__()
            self.hunk = hunk

    class NamesAsked(Message):
        """Names of the current hunk are to be looked up, in the file as it is after the change."""

        def __init__(self, path: str, names: tuple[Named, ...]) -> None:
            super().__init__()
            self.path = path
            self.names = names

    def annotate(self, marks: Mapping[str, str], remarks: Mapping[str, str]) -> None:
        """By hunk: a sign of one cell at its first row, and words below it."""
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
            # First exact around the hunk itself: some rows above it are a place in lines not yet measured.
            self.settle(self.sheet.hunk_rows()[hunk])
            self.go(max(0, self.sheet.hunk_rows()[hunk] - _ABOVE))

    def on_click(self, event: events.Click) -> None:
        """A fold opens; a hunk becomes the current one."""
        found = self.sheet.item_at(event.y + self.scroll_offset.y)
        if found is None or not isinstance(piece := found[1], Piece):
            return
        is_known = isinstance(self.sheet.files[found[0]].sections[piece.section], Same)
        if isinstance(piece.part, Gap) and is_known:
            self.reshape(replace(self.shape, opened=self.shape.opened | {(found[0], piece.section)}))
        elif piece.hunk:
            self.choose(piece.hunk)

    def action_hunk(self, step: int) -> None:
        """To the next or previous one, seen from the current one, or from the view when that is elsewhere."""
        rows = self.sheet.hunk_rows()
        names = list(rows)
        if not names:
            return
        if self._is_in_sight(rows.get(self.current)):
            at = names.index(self.current) + step
        else:
            above = sum(row < self.scroll_offset.y for row in rows.values())
            at = above if step > 0 else above - 1
        self.choose(names[max(0, min(at, len(names) - 1))], scrolls=True)

    def action_file(self, step: int) -> None:
        rows = self.sheet.file_rows()
        at = self._file + step
        if at in rows:
            self.go(rows[at])
            if hunks := self.sheet.files[at].hunks:
                self.choose(hunks[0].id)

    def action_names(self) -> None:
        if not self.sheet.files:
            return
        file = self.sheet.files[self._file]
        hunks = [hunk.id for hunk in file.hunks]
        hunk = self.current if self.current in hunks else next(iter(hunks), "")
        self.post_message(self.NamesAsked(file.path, names_in(file, hunk) if hunk else ()))

    @property
    def _file(self) -> int:
        """The file one is in: that of the current hunk while it is in sight, else that of the first row."""
        if self._is_in_sight(self.sheet.hunk_rows().get(self.current)):
            files = enumerate(self.sheet.files)
            return next(at for at, file in files if any(hunk.id == self.current for hunk in file.hunks))
        return self.sheet.anchor(self.scroll_offset.y).file

    def _is_in_sight(self, row: int | None) -> bool:
        return row is not None and 0 <= row - self.scroll_offset.y < max(1, self.size.height)

    def action_layout(self) -> None:
        self.wanted_split = not self.is_split
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
