"""A text field in which a long paste takes a few words only, and can neither be broken nor lost."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.geometry import Offset
from textual.message import Message
from textual.widgets import TextArea
from textual.widgets.text_area import Selection

from coder_tui.text.safe_text import safe_text
from coder_tui.ui.textual_internals import UndoesOneByOne
from coder_tui.ui.widgets.chips import Chips, is_long, pasted_picture, picture_words

LONGEST_MESSAGE = 1_000_000
"""Characters. No model takes more, and looking through it for controls would be felt."""
LONGEST_SHOWN = 100_000
"""Characters that a chip may put into the field: more would make typing slow."""
TOO_LONG = "That is too long for a message: save it as a file and name that by @."
# Joiners and direction marks belong to the writing of many languages; overrides and controls do not.
_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


class ChipField(UndoesOneByOne, TextArea):
    """The cursor never stands inside a chip: there the whole chip is selected."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"chip-field--chip"}
    # Textual reverses selected text in a theme of sixteen colors, which may be black on black.
    DEFAULT_CSS = """
    ChipField {
        & .chip-field--chip { color: $text-accent; background: $panel; }
        &:ansi .text-area--selection {
            color: $input-selection-foreground; background: $input-selection-background; text-style: none;
        }
    }
    """

    @dataclass
    class Refused(Message):
        """Something was not done; `reason` is a sentence for the person."""

        reason: str

    def __init__(self, *, placeholder: str, id: str, holds_chips: bool) -> None:
        """Without chips, all that was pasted shows: what is approved must be seen."""
        # First: the parent's constructor sets the selection already.
        self.chips = Chips()
        self._holds_chips = holds_chips
        super().__init__(
            soft_wrap=True,
            tab_behavior="focus",
            show_line_numbers=False,
            highlight_cursor_line=False,
            placeholder=placeholder,
            id=id,
        )

    @property
    def whole_text(self) -> str:
        """What would be sent: each chip in full."""
        return self.chips.whole(self.text)

    def get_line(self, line_index: int) -> Text:
        line = super().get_line(line_index)
        for start, end in self.chips.spans(line.plain):
            line.stylize(self.get_component_rich_style("chip-field--chip"), start, end)
        return line

    def type_text(self, text: str) -> None:
        """Insert at the cursor, as if typed."""
        result = self.replace(clean(text), *self.selection, maintain_selection_offset=False)
        self.move_cursor(result.end_location)

    def paste(self, text: str) -> None:
        """Insert what may be long, or name a picture."""
        text = _with_plain_line_ends(text)
        if not self._holds_chips:
            pass
        elif picture := pasted_picture(text):
            text = self.chips.add_picture(picture, picture_words(picture))
        elif is_long(text):
            text = self.chips.add(text if len(text) > LONGEST_MESSAGE else clean(text))
        self.type_text(text)

    def paste_picture(self, path: Path) -> None:
        """Name a picture that is known to be one."""
        self.type_text(self.chips.add_picture(path, picture_words(path)))

    def expand_chip(self) -> bool:
        """Put the selected chip's text in its place; False when none is selected."""
        text = self.chips.text_of(self.selected_text)
        if text is None:
            return False
        if len(text) > LONGEST_SHOWN:
            self.post_message(
                self.Refused("That is too long to be shown here; Ctrl+G opens it in an editor.")
            )
        else:
            self.type_text(text)
        return True

    def on_paste(self, event: events.Paste) -> None:
        event.prevent_default()
        event.stop()
        self.paste(event.text)

    def scroll_cursor_visible(self, center: bool = False, animate: bool = False) -> Offset:
        """Scroll to the cursor, unless it is on a line that is being removed.

        An undo that removes the scrollbar gets here before Textual has moved the cursor into the
        shorter text. It moves it next, and then gets here again.
        """
        if self.cursor_location > self.document.end:
            return Offset(0, 0)
        return super().scroll_cursor_visible(center, animate)

    def validate_selection(self, selection: Selection) -> Selection:
        """Widen what would begin, end or lie inside a chip."""
        (start_row, start), (end_row, end) = selection
        if selection.is_empty:
            span = self._around(start_row, start)
            if span is None:
                return selection
            # To the side that the cursor comes from, so that the next step leaves the chip.
            came_from_right = self.selection.end > selection.end
            near, far = (span[1], span[0]) if came_from_right else span
            return Selection((start_row, near), (end_row, far))
        is_forward = selection.start <= selection.end
        return Selection(
            (start_row, self._edge(start_row, start, to_left=is_forward)),
            (end_row, self._edge(end_row, end, to_left=not is_forward)),
        )

    def action_delete_left(self) -> None:
        self._select_beside(to_left=True)
        super().action_delete_left()

    def action_delete_right(self) -> None:
        self._select_beside(to_left=False)
        super().action_delete_right()

    def action_delete_word_left(self) -> None:
        self._select_beside(to_left=True)
        super().action_delete_word_left()

    def action_delete_word_right(self) -> None:
        self._select_beside(to_left=False)
        super().action_delete_word_right()

    def _select_beside(self, *, to_left: bool) -> None:
        """A chip goes as one, like a letter."""
        if not self.selection.is_empty:
            return
        row, column = self.cursor_location
        for start, end in self._spans(row):
            if column == (end if to_left else start):
                self.selection = Selection((row, start), (row, end))

    def _around(self, row: int, column: int) -> tuple[int, int] | None:
        return next((span for span in self._spans(row) if span[0] < column < span[1]), None)

    def _edge(self, row: int, column: int, *, to_left: bool) -> int:
        span = self._around(row, column)
        return column if span is None else span[0 if to_left else 1]

    def _spans(self, row: int) -> list[tuple[int, int]]:
        if row >= self.document.line_count:
            return []
        return self.chips.spans(self.document.get_line(row))


def clean(text: str) -> str:
    return _STEERING.sub(lambda match: safe_text(match[0]), _with_plain_line_ends(text))


def _with_plain_line_ends(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
