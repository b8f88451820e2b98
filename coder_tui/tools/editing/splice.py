"""Applies a model's own difference to the file's lines: what it did not change keeps its bytes."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from coder_tui.tools.editing import fold
from coder_tui.tools.editing.carry import Dress, MatchedLine
from coder_tui.tools.editing.lines import FileLines
from coder_tui.tools.editing.lost_bytes import restore
from coder_tui.tools.editing.script import Mark, Script, ScriptLine
from coder_tui.tools.editing.tiers import Placement, Tier


@dataclass(frozen=True, slots=True)
class Splice:
    """Lines `start:end` of the file become `lines`, each with its end."""

    start: int
    end: int
    lines: tuple[str, ...]
    last_newline: bool | None = None
    """Whether a newline ends the file afterwards, where the change says so."""


def splice(file: FileLines, script: Script, placement: Placement) -> Splice:
    """Raises `ToolError` where the new lines cannot be put into the file's dress."""
    walk = _Walk(file, script, placement)
    lines = list(walk.lines())
    last_newline = _last_newline(script, is_at_end=walk.at == len(file.raw))
    start, end = placement.start, walk.at
    # Only what changes counts, so that hunks may share their context.
    while lines and start < end and lines[0] == file.raw[start]:
        del lines[0]
        start += 1
    while lines and start < end and lines[-1] == file.raw[end - 1]:
        lines.pop()
        end -= 1
    return Splice(start, end, tuple(lines), last_newline)


def joined(file: FileLines, splices: list[Splice]) -> str:
    """The file's text with all splices made; they do not overlap."""
    pieces: list[str] = []
    at = 0
    last_newline = file.has_last_newline
    for part in sorted(splices, key=lambda part: (part.start, part.end)):
        pieces += [*file.raw[at : part.start], *part.lines]
        at = part.end
        last_newline = last_newline if part.last_newline is None else part.last_newline
    pieces += file.raw[at:]
    return "".join(_ended(pieces, file.newline.value, has_last=last_newline))


def _ended(lines: list[str], newline: str, *, has_last: bool) -> Iterator[str]:
    """Every line but the last has an end; that one has it when the file is to have it."""
    for index, line in enumerate(lines):
        is_last = index == len(lines) - 1
        if is_last and not has_last:
            yield line.removesuffix("\n").removesuffix("\r") if line.endswith("\n") else line
        else:
            yield line if line.endswith("\n") else line + newline


def _last_newline(script: Script, *, is_at_end: bool) -> bool | None:
    if not is_at_end:
        return None
    new = [line for line in script.lines if line.mark is not Mark.DROP]
    if new and not new[-1].has_end:
        return False
    return True if script.old_lines and not script.old_lines[-1].has_end else None


class _Walk:
    """Goes along script and file together."""

    def __init__(self, file: FileLines, script: Script, placement: Placement) -> None:
        self._file, self._script, self._rows = file, script, placement.rows
        self._is_literal = placement.tier is Tier.LITERAL
        self._matched = {
            index: MatchedLine(index, fold.without_return(old.text), file.seen[row], old.mark is Mark.DROP)
            for index, (old, row) in enumerate(zip(script.old_lines, placement.rows, strict=True))
            if row is not None and index not in placement.weak
        }
        self._dress = Dress([] if self._is_literal else list(self._matched.values()))
        self.at = placement.start

    def lines(self) -> Iterator[str]:
        index = 0
        for is_kept, group in groupby(self._script.lines, key=lambda line: line.mark is Mark.KEEP):
            lines = list(group)
            size = sum(line.mark is not Mark.ADD for line in lines)
            yield from self._kept(index, size) if is_kept else self._changed(lines, index, size)
            index += size

    def _kept(self, index: int, size: int) -> Iterator[str]:
        for row in self._rows[index : index + size]:
            if row is not None:
                yield from self._up_to(row + 1)

    def _changed(self, lines: list[ScriptLine], index: int, size: int) -> Iterator[str]:
        dropped = [row for row in self._rows[index : index + size] if row is not None]
        # What the model left out before the change stays before it.
        yield from self._up_to(dropped[0] if dropped else self._insertion_point(index))
        added = [line for line in lines if line.mark is Mark.ADD]
        raw = "".join(self._file.raw[row] for row in dropped)
        end = "\n" if self._is_literal else self._file.newline_near(self.at)
        texts = self._dressed(added, index, size)
        if texts:
            restored = restore(raw, "\n".join(texts)).split("\n")
            pairs = zip(restored, added, strict=True)
            yield from (text + end if line.has_end else text for text, line in pairs)
        self.at += len(dropped)

    def _up_to(self, row: int) -> Iterator[str]:
        if row > self.at:
            yield from self._file.raw[self.at : row]
            self.at = row

    def _insertion_point(self, index: int) -> int:
        """Right after the line before; where that is not in the file, right before the next one."""
        follows = self._rows[index] if index < len(self._rows) else None
        has_before = index > 0 and self._rows[index - 1] is not None
        return self.at if has_before or follows is None else follows

    def _dressed(self, added: list[ScriptLine], index: int, size: int) -> list[str]:
        if self._is_literal:
            return [line.text for line in added]
        is_paired = len(added) == size
        return [
            self._dress.line(
                fold.without_return(line.text),
                index,
                self._matched.get(index + number) if is_paired else None,
            )
            for number, line in enumerate(added)
        ]
