"""A file's text with every newline as LF, which is how a model writes, and the way back to the file's own."""

import re
from bisect import bisect_left
from dataclasses import dataclass

from coder_tui.workspace.files import Newline, TextFile


@dataclass(frozen=True, slots=True)
class LineFeedView:
    """`text` is what a model sees; `raw` turns its offsets into offsets of the file's text."""

    text: str
    returns: tuple[int, ...]
    """Where, in `text`, a line feed lost the carriage return before it."""

    @classmethod
    def of(cls, file: TextFile) -> "LineFeedView":
        shown = file.shown
        pairs = (match.start() for match in re.finditer("\r\n", shown))
        returns = tuple(at - index for index, at in enumerate(pairs))
        return cls(to_line_feeds(shown), returns)

    def raw(self, offset: int) -> int:
        return offset + bisect_left(self.returns, offset)

    def line(self, offset: int) -> int:
        """The number, from 1, of the line that `offset` lies in."""
        return self.text.count("\n", 0, offset) + 1


def to_line_feeds(text: str) -> str:
    feeds = text.replace("\r\n", "\n")
    # A text cut out of such lines may end in the middle of a line's end.
    return feeds.removesuffix("\r") if len(feeds) < len(text) else feeds


def changes_line_ends(old: str, new: str) -> bool:
    """Whether the model means to turn plain line feeds into returns and feeds."""
    return "\n" in old and "\r\n" not in old and "\r\n" in new


def newline_at(file: TextFile, offset: int) -> Newline:
    """The newline in use around `offset`: that of its line, else of the line before, else the file's."""
    at = file.text.find("\n", offset)
    if at < 0:
        at = file.text.rfind("\n", 0, offset)
    if at < 0:
        return file.newline
    return Newline.CRLF if file.text[at - 1 : at] == "\r" else Newline.LF
