"""Parse the records that a search prints into matches with their context."""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass

LONGEST_LINE = 500
_CUT_MARK = " […]"
_RECORD = re.compile(rb"(?P<line>\d+)(?::(?P<column>\d+):|-)(?P<text>.*)", re.DOTALL)
_BINARY = re.compile(rb"(?P<path>\./.*): (?:WARNING: stopped searching binary file|binary file matches)")


def accept_all(path: str) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class GrepQuery:
    """`accepts` judges paths relative to the searched folder; lines are cut at `longest` characters.

    `endings` only makes it faster: what `accepts` accepts ends in one of them.
    """

    pattern: str
    most: int
    context: int = 0
    ignore_case: bool = False
    longest: int = LONGEST_LINE
    accepts: Callable[[str], bool] = accept_all
    endings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LineMatch:
    """`path` is relative to the searched folder; lines and columns count from 1."""

    path: str
    line: int
    column: int
    text: str
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


def path_order(path: str) -> bytes:
    """Return a sort key in the order of a tree walk: a slash comes before every character of a name."""
    return os.fsencode(path).replace(b"/", b"\0")


def relative_path(record: bytes) -> str | None:
    return os.fsdecode(record[2:]) if record.startswith(b"./") else None


def shown_path(path: str) -> str:
    return path if path.isascii() else os.fsencode(path).decode("utf-8", "replace")


class Collected:
    """Lines as they arrive, with the context around them."""

    def __init__(self, query: GrepQuery) -> None:
        self._query = query
        self._lines: dict[str, dict[int, str]] = {}
        self._columns: dict[str, dict[int, int]] = {}
        self._dropped: set[str] = set()
        self._current = ""
        self.complete = 0

    def add(self, record: bytes) -> str | None:
        """Add one record; return its path when it is new."""
        name, separator, rest = record.partition(b"\0")
        if not separator:
            if binary := _BINARY.match(record):
                self.drop(relative_path(binary["path"]) or "")
            return None
        path, fields = relative_path(name), _RECORD.fullmatch(rest)
        if path is None or fields is None or path in self._dropped:
            return None
        is_new = path not in self._lines
        if is_new:
            self.complete += len(self._columns.get(self._current, ()))
            self._current = path
        line = int(fields["line"])
        self._lines.setdefault(path, {})[line] = cut_line(
            fields["text"].decode("utf-8", "replace").rstrip("\r"), self._query.longest
        )
        if fields["column"]:
            column = _characters(fields["text"], int(fields["column"]))
            self._columns.setdefault(path, {})[line] = column
        return path if is_new else None

    def drop(self, path: str) -> None:
        """Drop a file that is not wanted or turned out to be binary."""
        self._dropped.add(path)
        self._lines.pop(path, None)
        self._columns.pop(path, None)

    def matches(self) -> list[LineMatch]:
        return [
            self._match(path, line, column)
            for path, columns in self._columns.items()
            for line, column in columns.items()
        ]

    def _match(self, path: str, line: int, column: int) -> LineMatch:
        lines, around = self._lines[path], self._query.context
        before = tuple(lines[at] for at in range(line - around, line) if at in lines)
        after = tuple(lines[at] for at in range(line + 1, line + around + 1) if at in lines)
        return LineMatch(shown_path(path), line, column, lines[line], before, after)


def _characters(text: bytes, column: int) -> int:
    """Convert ripgrep's column from bytes to characters."""
    if column > len(text):
        return column
    return len(text[: column - 1].decode("utf-8", "replace")) + 1


def cut_line(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[:longest] + _CUT_MARK
