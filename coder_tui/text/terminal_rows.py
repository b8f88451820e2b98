"""The few rows of a terminal that a program may still rewrite, in bounded memory."""

from collections import deque
from dataclasses import dataclass, field

ROWS = 60
"""As many as a tall terminal shows: a program cannot go back above its screen."""
COLUMNS = 1000
"""A longer line goes on in the next row, as in a terminal; the two are one line in the text."""
_FURTHEST = 120
"""Where moving the cursor ends when nothing was printed there: a few bytes must not become much blank."""
_TAB = 8


@dataclass(slots=True)
class _Row:
    is_continued: bool
    cells: list[str] = field(default_factory=list)
    is_rewritten: bool = False

    def text(self) -> str:
        text = "".join(self.cells)
        # Blanks that wiped an older state away are no output.
        text = text.rstrip(" ") if self.is_rewritten else text
        return text if self.is_continued else f"\n{text}"


class TerminalRows:
    """Writes and moves as a terminal would; rows that nothing can reach any more are handed out."""

    def __init__(self) -> None:
        self._rows: deque[_Row] = deque([_Row(is_continued=True)])
        self._row = 0
        self._column = 0
        self._saved = (0, 0)
        self._settled: list[str] = []

    def take_settled(self) -> str:
        settled, self._settled = "".join(self._settled), []
        return settled

    def text(self) -> str:
        """What stands there now and may yet change."""
        return "".join(row.text() for row in self._rows)

    def write(self, text: str) -> None:
        start = 0
        while start < len(text):
            if self._column >= COLUMNS:
                self._next_row(is_continued=True)
            row = self._pad()
            end = min(len(text), start + COLUMNS - self._column)
            stop = self._column + end - start
            row.is_rewritten |= self._column < len(row.cells)
            row.cells[self._column : stop] = text[start:end]
            self._column, start = stop, end

    def tab(self) -> None:
        length = len(self._rows[self._row].cells)
        if self._column >= length:
            self.write("\t")
        else:
            self._column = min(length, (self._column // _TAB + 1) * _TAB)

    def line_feed(self) -> None:
        self._next_row(is_continued=False)

    def carriage_return(self) -> None:
        self._column = 0

    def move(self, down: int, right: int) -> None:
        self._go_to(self._row + down, self._column + right)

    def to_column(self, column: int) -> None:
        self._go_to(self._row, column)

    def to(self, row: int, column: int) -> None:
        """Go to a place counted from the top; rows that are missing appear."""
        while len(self._rows) <= min(row, ROWS - 1):
            self._rows.append(_Row(is_continued=False))
        self._go_to(row, column)

    def save(self) -> None:
        self._saved = (self._row, self._column)

    def restore(self) -> None:
        self._go_to(*self._saved)

    def erase_right(self) -> None:
        row = self._rows[self._row]
        if self._column < len(row.cells):
            row.is_rewritten = True
            del row.cells[self._column :]

    def erase_left(self) -> None:
        row = self._rows[self._row]
        row.is_rewritten = True
        count = min(self._column + 1, len(row.cells))
        row.cells[:count] = " " * count

    def erase_row(self) -> None:
        row = self._rows[self._row]
        row.is_rewritten = True
        row.cells.clear()

    def erase_below(self) -> None:
        self.erase_right()
        while len(self._rows) > self._row + 1:
            self._rows.pop()

    def start_afresh(self) -> None:
        """Begin below: what a program clears from its screen was still its output."""
        is_blank = not self._rows[-1].cells
        while len(self._rows) > 1:
            self._settle()
        if not is_blank:
            self._rows.append(_Row(is_continued=False))
            self._settle()
        self._row = self._column = 0
        self._saved = (0, 0)

    def _pad(self) -> _Row:
        """Blanks up to the cursor, where a move left a gap."""
        row = self._rows[self._row]
        if self._column > len(row.cells):
            row.cells.extend(" " * (self._column - len(row.cells)))
        return row

    def _go_to(self, row: int, column: int) -> None:
        self._row = max(0, min(row, len(self._rows) - 1))
        furthest = max(len(self._rows[self._row].cells), _FURTHEST)
        self._column = max(0, min(column, furthest))

    def _next_row(self, *, is_continued: bool) -> None:
        self._row, self._column = self._row + 1, 0
        if self._row == len(self._rows):
            self._rows.append(_Row(is_continued))
        elif is_continued:
            self._rows[self._row].is_continued = True
        if len(self._rows) > ROWS:
            self._settle()

    def _settle(self) -> None:
        self._settled.append(self._rows.popleft().text())
        self._row = max(0, self._row - 1)
        self._saved = (max(0, self._saved[0] - 1), self._saved[1])
