"""A file as lines: what a model sees of each, and the bytes that stand behind it."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from coder_tui.diffs.lines import split_lines
from coder_tui.workspace.files import Newline, TextFile, show


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
