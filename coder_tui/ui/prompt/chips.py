"""A text field that shows long pastes and pictures as short labels, which cannot be broken or lost."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar
from urllib.parse import unquote, urlsplit

from rich.text import Text
from textual import events
from textual.geometry import Offset
from textual.message import Message
from textual.widgets import TextArea
from textual.widgets.text_area import EditResult, Location, Selection

from coder_tui.text.safe_text import safe_text
from coder_tui.ui.textual_internals import UndoesOneByOne

MOST_CHARACTERS = 800
MOST_LINES = 3
_LONGEST_PATH = 1_000
_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp")
_UNITS = ((1_000_000, "MB"), (1_000, "kB"))


class Chips:
    """Labels and the text of each. A label stays known after it was sent: the history may show it again."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def add(self, text: str) -> str:
        """Return a label for a long paste; the same paste has the same label."""
        lines = text.count("\n") + (not text.endswith("\n"))
        size = f"{lines:,} lines" if lines > 1 else f"{len(text):,} characters"
        return self._add(f"pasted {size}" if len(text) < _UNITS[0][0] else f"pasted {_size(len(text))}", text)

    def add_picture(self, path: Path, words: str) -> str:
        """Return a label for a picture, which is sent as its path."""
        from coder_tui.text.mentions import mention  # the first paint has no pictures

        return self._add(f"image {path.name} {words}".strip(), mention(str(path)))

    def whole(self, text: str) -> str:
        """Replace each label, once, by its text; labels within that text stay as they are."""
        if not self._texts:
            return text
        left = dict(self._texts)
        return self._pattern().sub(lambda match: left.pop(match[0], match[0]), text)

    def short(self, text: str) -> str:
        """Replace texts by their labels, for a message that comes back unsent."""
        for label, kept in self._texts.items():
            text = text.replace(kept, label, 1)
        return text

    def spans(self, line: str) -> list[tuple[int, int]]:
        """Return where labels are in a line."""
        return [match.span() for match in self._pattern().finditer(line)] if self._texts else []

    def text_of(self, label: str) -> str | None:
        return self._texts.get(label)

    def _add(self, words: str, text: str) -> str:
        label, number = f"[{words}]", 1
        while self._texts.get(label, text) != text:
            number += 1
            label = f"[{words} #{number}]"
        self._texts[label] = text
        return label

    def _pattern(self) -> re.Pattern[str]:
        return re.compile("|".join(map(re.escape, self._texts)))


def is_long(text: str) -> bool:
    """Return whether a paste would fill the prompt."""
    return len(text) > MOST_CHARACTERS or text.count("\n") > MOST_LINES - (not text.endswith("\n"))


def pasted_picture(text: str) -> Path | None:
    """Return the picture that a pasted or dropped text names, if there is such a file."""
    text = text.strip()
    if len(text) > _LONGEST_PATH or "\n" in text or not text.strip("'\"").lower().endswith(_PICTURES):
        return None
    path = Path(_unquoted(text)).expanduser()
    try:
        return path if path.is_absolute() and path.is_file() else None
    except (OSError, ValueError):
        return None


def picture_words(path: Path) -> str:
    """Return `640×480, 34 kB`, as far as it is known."""
    # Not needed before a picture is pasted.
    from coder_tui.workspace.files.images import HEAD, identify_picture

    try:
        with path.open("rb") as file:
            picture, size = identify_picture(file.read(HEAD)), path.stat().st_size
    except OSError:
        return ""
    return ", ".join(filter(None, (picture.size if picture else "", _size(size))))


def _unquoted(text: str) -> str:
    """Read a file name as terminals write a dropped file: as an address, in quotes, with backslashes."""
    if text.startswith("file://"):
        return unquote(urlsplit(text).path)
    from shlex import split  # nothing is dropped before the first paint

    try:
        words = split(text)
    except ValueError:
        return text
    return words[0] if len(words) == 1 else text


def _size(count: int) -> str:
    for unit, name in _UNITS:
        if count >= unit:
            return f"{count / unit:.1f} {name}"
    return f"{count} B"


LONGEST_MESSAGE = 1_000_000
"""Characters. No model accepts more, and checking a longer text for control characters would be slow."""
LONGEST_SHOWN = 100_000
"""Characters that a chip may put into the field: more would make typing slow."""
TOO_LONG = "This is too long for a message. Save it as a file and mention it with @."
# Joiners and direction marks belong to the writing of many languages; overrides and controls do not.
_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


class ChipField(UndoesOneByOne, TextArea):
    """The cursor is never inside a chip: there the whole chip is selected."""

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
        """Something was not done; `reason` is a sentence for the user."""

        reason: str

    def __init__(self, *, placeholder: str, id: str, holds_chips: bool) -> None:
        """Without chips, pasted text is shown in full: what is approved must be visible."""
        # First: the parent's constructor already sets the selection.
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
        """The text to send: each chip in full."""
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
        """Insert text; if it is long or names a picture, as a chip."""
        text = _with_plain_line_ends(text)
        if not self._holds_chips:
            pass
        elif picture := pasted_picture(text):
            text = self.chips.add_picture(picture, picture_words(picture))
        elif is_long(text):
            text = self.chips.add(text if len(text) > LONGEST_MESSAGE else clean(text))
        self.type_text(text)

    def expand_chip(self) -> bool:
        """Replace the selected chip by its text; return False if none is selected."""
        text = self.chips.text_of(self.selected_text)
        if text is None:
            return False
        if len(text) > LONGEST_SHOWN:
            self.post_message(
                self.Refused("This is too long to show here. Press Ctrl+G to open it in an editor.")
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
        start, end = selection
        if selection.is_empty:
            first, last = self._around(start), self._around(start, to_right=True)
            # To the side that the cursor comes from, so that the next step leaves the chip.
            came_from_right = self.selection.end > end
            return Selection(last, first) if came_from_right else Selection(first, last)
        is_forward = start <= end
        return Selection(self._around(start, to_right=not is_forward), self._around(end, to_right=is_forward))

    def delete(self, start: Location, end: Location, *, maintain_selection_offset: bool = True) -> EditResult:
        """Delete a chip as a whole, like a letter."""
        first, last = min(start, end), max(start, end)
        return super().delete(
            self._around(first),
            self._around(last, to_right=True),
            maintain_selection_offset=maintain_selection_offset,
        )

    def _around(self, place: Location, *, to_right: bool = False) -> Location:
        """Return the edge of the chip around a place, or the place itself."""
        row, column = place
        if row < self.document.line_count:
            for start, end in self.chips.spans(self.document.get_line(row)):
                if start < column < end:
                    return row, end if to_right else start
        return place


def clean(text: str) -> str:
    return _STEERING.sub(lambda match: safe_text(match[0]), _with_plain_line_ends(text))


def _with_plain_line_ends(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
