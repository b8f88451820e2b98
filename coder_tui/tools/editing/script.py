"""A model's change and a file, both as lines.

`Script` is the change line by line: what stays, what goes, what comes. `FileLines` pairs what a model sees of
each line with its bytes. `LineFeedView` is a file's text with LF newlines, as models write it, with the way
back to the file's own. `restore` keeps bytes that are not text.
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
from coder_tui.protocol.comparison import split_lines
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
    """`has_end` is false if the model says that no newline follows, `has_sign` if it lacks a mark."""

    mark: Mark
    text: str
    has_end: bool = True
    has_sign: bool = True


@dataclass(frozen=True, slots=True)
class Group:
    """A change between kept lines: `drops` lines go from old line `at` on, `adds` lines come."""

    at: int
    drops: int
    adds: int
    is_line_by_line: bool
    """Whether each added line is clearly the new form of a removed one."""
    is_blank: bool
    """Whether only blank lines go and come."""


@dataclass(frozen=True)
class Script:
    """The file is searched for the old side; only the difference to the new side is applied."""

    lines: tuple[ScriptLine, ...]

    @classmethod
    def between(cls, old: list[str], new: list[str]) -> "Script":
        """Work out the change from its two sides."""
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
        """Return how many characters of the old side are not blank; counts the first 200 lines."""
        return sum(len(text) - text.count(" ") - text.count("\t") for text in self.old[:200])

    @cached_property
    def size(self) -> int:
        """Return the number of characters."""
        return sum(len(line.text) for line in self.lines)

    @property
    def only_adds(self) -> bool:
        marks = {line.mark for line in self.lines}
        return Mark.ADD in marks and Mark.DROP not in marks

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
    """`raw` has every line with its end; everything else is derived from it."""

    raw: tuple[str, ...]
    newline: Newline = Newline.LF

    @classmethod
    def from_file(cls, file: TextFile) -> "FileLines":
        return cls(tuple(split_lines(file.text)), file.newline)

    @cached_property
    def literal(self) -> tuple[str, ...]:
        """Return the lines without the line feed; a carriage return before it is kept."""
        lines = show("".join(self.raw)).split("\n")
        return tuple(lines if len(lines) == len(self.raw) else lines[:-1])

    @cached_property
    def seen(self) -> tuple[str, ...]:
        """Return the lines without their ends, as a model writes them."""
        if not any("\r" in line for line in self.literal):
            return self.literal
        return tuple(
            line.removesuffix("\r") if raw.endswith("\n") else line
            for line, raw in zip(self.literal, self.raw, strict=True)
        )

    @property
    def has_last_newline(self) -> bool:
        return not self.raw or self.raw[-1].endswith("\n")

    def end_of(self, index: int) -> str:
        """Return the line end of a line, empty if it has none."""
        raw = self.raw[index]
        return "\r\n" if raw.endswith("\r\n") else "\n" if raw.endswith("\n") else ""

    def newline_near(self, index: int) -> str:
        """Return the line end in use at `index`: the line before's, else the line's own, else the file's."""
        for at in (index - 1, index):
            if 0 <= at < len(self.raw) and (end := self.end_of(at)):
                return end
        return self.newline.value


class LineText:
    """Lines as one text, so that a run of lines is found as fast as a string."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._text = "\n" + "".join(f"{line}\n" for line in lines)
        self._starts = list(accumulate((len(line) + 1 for line in lines), initial=0))

    def places(self, wanted: Sequence[str], most: int) -> list[int]:
        """Return where `wanted` begins, including overlapping places, at most `most` of them."""
        needle = "\n" + "".join(f"{line}\n" for line in wanted)
        found: list[int] = []
        at = self._text.find(needle)
        while at >= 0 and len(found) < most:
            found.append(bisect_right(self._starts, at) - 1)
            at = self._text.find(needle, at + 1)
        return found


@dataclass(frozen=True, slots=True)
class LineFeedView:
    """`text` is what a model sees; `raw` converts its offsets to offsets in the file's text."""

    text: str
    returns: tuple[int, ...]
    """Offsets in `text` of line feeds that lost the carriage return before them."""

    @classmethod
    def from_file(cls, file: TextFile) -> "LineFeedView":
        shown = file.shown
        pairs = (match.start() for match in re.finditer("\r\n", shown))
        returns = tuple(at - index for index, at in enumerate(pairs))
        return cls(to_line_feeds(shown), returns)

    def raw(self, offset: int) -> int:
        return offset + bisect_left(self.returns, offset)

    def line(self, offset: int) -> int:
        """Return the number, from 1, of the line at `offset`."""
        return self.text.count("\n", 0, offset) + 1


def to_line_feeds(text: str) -> str:
    feeds = text.replace("\r\n", "\n")
    # A text cut out of such lines may end inside a line end.
    return feeds.removesuffix("\r") if len(feeds) < len(text) else feeds


def rewritten(before: TextFile, content: str) -> str:
    """Return `content` with the newlines, undecodable bytes and final-newline state of the file."""
    old = split_lines(before.text)
    new = split_lines(_with_same_end(before.text, to_line_feeds(content)))
    result = [line.replace("\n", before.newline) for line in new]
    for run in matching_runs([to_line_feeds(show(line)) for line in old], new):
        result[run.new : run.new + run.length] = old[run.old : run.old + run.length]
    return "".join(result)


def _with_same_end(before: str, content: str) -> str:
    if not before or not content:
        return content
    if before.endswith("\n"):
        return content if content.endswith("\n") else f"{content}\n"
    return content.removesuffix("\n")


def changes_line_ends(old: str, new: str) -> bool:
    """Return whether the model wants to turn LF line ends into CRLF."""
    return "\n" in old and "\r\n" not in old and "\r\n" in new


def newline_at(file: TextFile, offset: int) -> Newline:
    """Return the newline in use around `offset`: of its line, else of the line before, else the file's."""
    at = file.text.find("\n", offset)
    if at < 0:
        at = file.text.rfind("\n", 0, offset)
    if at < 0:
        return file.newline
    return Newline.CRLF if file.text[at - 1 : at] == "\r" else Newline.LF


_LOST = "\ufffd"


def restore(raw: str, new: str) -> str:
    """Restore undecodable bytes of `raw` where `new` repeats their replacement character."""
    if raw == show(raw) or _LOST not in new:
        return new
    originals = [character for character in raw if show(character) == _LOST]
    if len(originals) != new.count(_LOST):
        raise ToolError(
            ErrorType.INVALID_TOOL_PARAMS,
            "invalid args: new_string: this place contains bytes that are not text, and they would be lost",
            "Leave the lines with \ufffd out of the change.",
        )
    remaining = iter(originals)
    return re.sub(_LOST, lambda match: next(remaining), new)


class Operation(StrEnum):
    CREATE = "create"
    MODIFY = "modify"
    DELETE = "delete"
    RENAME = "rename"


@dataclass(frozen=True, slots=True)
class Hunk:
    """One change with hints about its place. `line` counts from 1; it is None if the patch has no numbers."""

    script: Script
    line: int | None = None
    anchors: tuple[str, ...] = ()
    """Lines that the patch names above the change, outermost first."""
    is_at_end: bool = False
    appends: bool = False
    """Whether a change without old lines is appended to the file."""


@dataclass(frozen=True, slots=True)
class FilePatch:
    """What happens to one file. `new_path` differs from `path` only in a rename."""

    operation: Operation
    path: str
    new_path: str
    hunks: tuple[Hunk, ...] = ()
    is_executable: bool | None = None
    keeps_source: bool = False
    """Whether this is a copy, so that the file also stays under its old name."""
    may_replace: bool = False
    """Whether a new file may take the place of an existing one."""

    @property
    def is_pure_addition(self) -> bool:
        return bool(self.hunks) and all(not hunk.script.old for hunk in self.hunks)


def patch_lines(text: str) -> list[str]:
    """Return the lines of a patch.

    If every line ends in a carriage return, those are the patch's own line ends; otherwise they belong to the
    file.
    """
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    filled = [line for line in lines if line]
    if filled and all(line.endswith("\r") for line in filled):
        return [line.removesuffix("\r") for line in lines]
    return lines


def joined_by_path(patches: list[FilePatch]) -> tuple[FilePatch, ...]:
    """Join the hunks of each file; raise if a path is named for two different things."""
    joined: dict[str, FilePatch] = {}
    for patch in patches:
        known = joined.get(patch.path)
        if known is None:
            joined[patch.path] = patch
        elif known.operation is patch.operation is Operation.MODIFY:
            joined[patch.path] = replace(known, hunks=known.hunks + patch.hunks)
        else:
            raise invalid_patch(f"{patch.path} is named twice")
    targets = [patch.new_path for patch in joined.values()]
    if len(set(targets)) < len(targets):
        raise invalid_patch("two files would get the same name")
    return tuple(joined.values())


def added_text(hunks: tuple[Hunk, ...]) -> str:
    """Return the content of a new file."""
    lines = [line for hunk in hunks for line in hunk.script.lines if line.mark is Mark.ADD]
    return "".join(f"{line.text}\n" if line.has_end else line.text for line in lines)


def invalid_patch(reason: str, hint: str = "") -> ToolError:
    return ToolError(ErrorType.INVALID_TOOL_PARAMS, f"invalid args: patch: {reason}", hint)
