"""Compared files to read by keyboard: side by side or in one column, hunk by hunk, of any length."""

from collections.abc import Mapping
from dataclasses import replace

from textual import events
from textual.message import Message

from coder_tui.diffs.layout import Piece
from coder_tui.diffs.model import Gap, Same
from coder_tui.ui.drawing.diff_sheet import CONTEXT
from coder_tui.ui.keys import Context, bindings
from coder_tui.ui.widgets.diff_surface import DiffSurface

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
        """To the next or previous one; the first time to the one that is in sight."""
        rows = self.sheet.hunk_rows()
        names = list(rows)
        if not names:
            return
        if self.current in rows:
            at = names.index(self.current) + step
        else:
            in_sight = (at for at, name in enumerate(names) if rows[name] >= self.scroll_offset.y)
            at = next(in_sight, len(names) - 1)
        self.choose(names[max(0, min(at, len(names) - 1))], scrolls=True)

    def action_file(self, step: int) -> None:
        rows = self.sheet.file_rows()
        at = self.sheet.anchor(self.scroll_offset.y).file + step
        if at in rows:
            self.go(rows[at])
            if hunks := self.sheet.files[at].hunks:
                self.choose(hunks[0].id)

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
