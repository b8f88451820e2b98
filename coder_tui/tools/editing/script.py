"""A change as the model wrote it, line by line: what stays, what goes, what comes.

A file as lines: what a model sees of each, and the bytes that stand behind it.

A file's text with every newline as LF, which is how a model writes, and the way back to the file's own.

Keeps bytes that are not text through a change: models see a sign for them, and write that sign back.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from itertools import accumulate, groupby

from rapidfuzz import fuzz

from coder_tui.diffs.compare import Run, matching_runs
from coder_tui.diffs.model import split_lines
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.workspace.files.text import Newline, TextFile, show

_ALIKE = 50.0
_COMPARED = 500


class Mark(StrEnum):
    KEEP = " "
    DROP = "-"
    ADD = "+"


@dataclass(frozen=True, slots=True)
class ScriptLine:
    """`has_end` is false where the model says that no newline follows."""

    mark: Mark
    text: str
    has_end: bool = True


@dataclass(frozen=True, slots=True)
class Group:
    """A stretch of change between kept lines: `drops` lines go from old line `at` on, `adds` lines come."""

    at: int
    drops: int
    adds: int
    is_line_by_line: bool
    """Whether each line that comes is plainly the new form of one that goes."""
    is_blank: bool
    """Whether nothing but blank lines goes and comes."""


@dataclass(frozen=True)
class Script:
    """The old side is sought in the file; only the difference to the new side is carried over."""

    lines: tuple[ScriptLine, ...]

    @classmethod
    def between(cls, old: list[str], new: list[str]) -> "Script":
        """Tell the change from its two sides."""
        lines: list[ScriptLine] = []
        old_at = new_at = 0
        for run in [*matching_runs(old, new), Run(len(old), len(new), 0)]:
            lines += [ScriptLine(Mark.DROP, text) for text in old[old_at : run.old]]
            lines += [ScriptLine(Mark.ADD, text) for text in new[new_at : run.new]]
            lines += [ScriptLine(Mark.KEEP, text) for text in old[run.old : run.old + run.length]]
            old_at, new_at = run.old + run.length, run.new + run.length
        return cls(tuple(lines))

    @cached_property
    def old_lines(self) -> tuple[ScriptLine, ...]:
        return tuple(line for line in self.lines if line.mark is not Mark.ADD)

    @cached_property
    def old(self) -> tuple[str, ...]:
        return tuple(line.text for line in self.old_lines)

    @cached_property
    def new(self) -> tuple[str, ...]:
        return tuple(line.text for line in self.lines if line.mark is not Mark.DROP)

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        found: list[Group] = []
        at = 0
        for is_kept, run in groupby(self.lines, key=lambda line: line.mark is Mark.KEEP):
            lines = list(run)
            dropped = [line.text for line in lines if line.mark is Mark.DROP]
            if not is_kept:
                added = [line.text for line in lines if line.mark is Mark.ADD]
                is_blank = not any(text.strip() for text in dropped + added)
                alike = _are_line_by_line(dropped, added)
                found.append(Group(at, len(dropped), len(added), alike, is_blank))
            at += len(lines) if is_kept else len(dropped)
        return tuple(found)

    @cached_property
    def significant(self) -> int:
        """How many characters of the old side are not blank, counted up to where it stops to matter."""
        return sum(len(text) - text.count(" ") - text.count("\t") for text in self.old[:200])

    @cached_property
    def size(self) -> int:
        """How many characters there are in it."""
        return sum(len(line.text) for line in self.lines)

    @property
    def changes_nothing(self) -> bool:
        ends = {line.has_end for line in self.lines}
        return self.old == self.new and len(ends) < 2

    def with_keeps(self, texts: dict[int, str]) -> "Script":
        """Replace the text of kept lines, by their index among all lines."""
        lines = tuple(
            replace(line, text=texts.get(index, line.text)) for index, line in enumerate(self.lines)
        )
        return Script(lines)


def _are_line_by_line(dropped: list[str], added: list[str]) -> bool:
    if len(dropped) != len(added):
        return False
    pairs = zip(dropped, added, strict=True)
    return all(fuzz.ratio(old[:_COMPARED].strip(), new[:_COMPARED].strip()) >= _ALIKE for old, new in pairs)


@dataclass(frozen=True)
class FileLines:
    """`raw` keeps every line with its end; all else is derived from it."""

    raw: tuple[str, ...]
    newline: Newline = Newline.LF

    @classmethod
    def of(cls, file: TextFile) -> "FileLines":
        return cls(tuple(split_lines(file.text)), file.newline)

    @cached_property
    def literal(self) -> tuple[str, ...]:
        """Lines without the line feed: a carriage return before it is still there."""
        return tuple(show(line.removesuffix("\n")) for line in self.raw)

    @cached_property
    def seen(self) -> tuple[str, ...]:
        """Lines without their ends, as a model writes them."""
        return tuple(
            line.removesuffix("\r") if raw.endswith("\n") else line
            for line, raw in zip(self.literal, self.raw, strict=True)
        )

    @property
    def has_last_newline(self) -> bool:
        return not self.raw or self.raw[-1].endswith("\n")

    def newline_near(self, index: int) -> str:
        """The line end in use at `index`: of the line before, else of the line itself, else the file's."""
        for at in (index - 1, index):
            if 0 <= at < len(self.raw) and self.raw[at].endswith("\n"):
                return "\r\n" if self.raw[at].endswith("\r\n") else "\n"
        return self.newline.value


class LineText:
    """Lines as one text, so that a run of lines is found at the speed of a string search."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._text = "\n" + "".join(f"{line}\n" for line in lines)
        self._starts = list(accumulate((len(line) + 1 for line in lines), initial=0))

    def places(self, wanted: Sequence[str], most: int) -> list[int]:
        """Where `wanted` begins, overlapping places too, at most `most` of them."""
        needle = "\n" + "".join(f"{line}\n" for line in wanted)
        found: list[int] = []
        at = self._text.find(needle)
        while at >= 0 and len(found) < most:
            found.append(bisect_right(self._starts, at) - 1)
            at = self._text.find(needle, at + 1)
        return found


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


_LOST = "\ufffd"


def restore(raw: str, new: str) -> str:
    """Put undecodable bytes of `raw` back where `new` repeats the sign that stood for them."""
    if raw == show(raw) or _LOST not in new:
        return new
    originals = [character for character in raw if show(character) == _LOST]
    if len(originals) != new.count(_LOST):
        raise ToolError(
            ErrorType.INVALID_TOOL_PARAMS,
            "invalid args: new_string: the place holds bytes that are not text, and they would be lost",
            "Leave the lines with \ufffd out of the change.",
        )
    remaining = iter(originals)
    return re.sub(_LOST, lambda match: next(remaining), new)
