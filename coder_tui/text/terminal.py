"""Turn the terminal output of a command into the text that the user would finally see.

Colors are removed, a progress bar keeps its last state, redrawn lines appear once, and links show their
target. Every other control sequence is made visible. Memory is bounded to the rows that a program can still
rewrite.
"""

import re
from collections import deque
from dataclasses import dataclass, field

from coder_tui.text.safe_text import safe_text

ROWS = 60
"""As many as a tall terminal has: a program cannot move above its screen."""
COLUMNS = 1000
"""A longer line continues in the next row, as in a terminal. Both are one line in the text."""
_FURTHEST = 120
"""The last column that the cursor can move to without text: a few bytes must not become many spaces."""
_TAB = 8


@dataclass(slots=True)
class _Row:
    is_continued: bool
    cells: list[str] = field(default_factory=list)
    is_rewritten: bool = False

    def text(self) -> str:
        text = "".join(self.cells)
        # Spaces that erased older text are not output.
        text = text.rstrip(" ") if self.is_rewritten else text
        return text if self.is_continued else f"\n{text}"


class TerminalRows:
    """Writes and moves like a terminal. Rows that the program cannot reach any more are settled."""

    def __init__(self) -> None:
        self._rows: deque[_Row] = deque([_Row(is_continued=True)])
        self._row = 0
        self._column = 0
        self._saved = (0, 0)
        self._settled: list[str] = []

    def pop_settled(self) -> str:
        settled, self._settled = "".join(self._settled), []
        return settled

    def text(self) -> str:
        """Return the current text that may still change."""
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
        """Move to a position counted from the top. Missing rows are added."""
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

    def start_below(self) -> None:
        """Continue below: text that a program clears from its screen was still its output."""
        is_blank = not self._rows[-1].cells
        while len(self._rows) > 1:
            self._settle()
        if not is_blank:
            self._rows.append(_Row(is_continued=False))
            self._settle()
        self._row = self._column = 0
        self._saved = (0, 0)

    def _pad(self) -> _Row:
        """Fill the row with spaces up to the cursor."""
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


_LONGEST_OSC = 2048
_LONGEST_BEGUN = _LONGEST_OSC + 8
_LONGEST_MOVE = 1000
_CSI = r"\[(?P<numbers>[0-?]{0,40})(?P<between>[ -/]{0,3})"
_OSC = rf"\](?P<body>[^\x00-\x1f]{{0,{_LONGEST_OSC}}})"
_SEQUENCE = re.compile(
    r"(?P<plain>[^\x00-\x1f]+)"
    r"|(?P<line>\n)|(?P<back>\r+)|(?P<erase>\x08+)|(?P<tab>\t)"
    rf"|(?P<csi>\x1b{_CSI}(?P<final>[@-~]))"
    rf"|(?P<osc>\x1b{_OSC}(?:\x07|\x1b\\))"
    r"|(?P<short>\x1b(?:[()*+][ -~]|[78cDEM=>]))"
    r"|(?P<other>[\x00-\x1f])"
)
# A sequence that the next chunk may complete.
_BEGUN = re.compile(rf"\x1b(?:[()*+]|{_CSI}|{_OSC}\x1b?)?\Z")
# Titles, the folder, progress, prompt marks: for the terminal's window, not for its text.
_FRAME_OSC = frozenset({"0", "1", "2", "7", "9", "133", "633", "1337"})
_SCREENS = frozenset({"?47", "?1047", "?1049"})
_SILENT_CSI = frozenset("mhlrq")


class OutputReader:
    """Reads output in chunks. Final text is returned, and text that may still change is `pending`.

    The size of the chunks does not change the text. Memory is bounded for any input.
    """

    def __init__(self) -> None:
        self._rows = TerminalRows()
        self._held = ""
        self._link = ""
        self._link_text = ""

    @property
    def pending(self) -> str:
        return safe_text(self._rows.text())

    def feed(self, chunk: str) -> str:
        text = self._held + chunk
        begun = self._begun(text)
        self._held = text[begun:]
        self._read(text, begun)
        return safe_text(self._rows.pop_settled())

    def finish(self) -> str:
        """Return the rest. An incomplete sequence is shown."""
        held, self._held = self._held, ""
        self._read(held, len(held))
        self._end_link()
        rest = safe_text(self._rows.pop_settled() + self._rows.text())
        self._rows = TerminalRows()
        return rest

    def _begun(self, text: str) -> int:
        """Return where an incomplete sequence starts, or the end of the text."""
        last = text.rfind("\x1b", max(0, len(text) - _LONGEST_BEGUN))
        if last < 0:
            return len(text)
        if last == len(text) - 1:
            # It may be the first half of the mark that ends an earlier one.
            older = text.rfind("\x1b", max(0, last - _LONGEST_BEGUN), last)
            if older >= 0 and _BEGUN.match(text, older):
                return older
        return last if _BEGUN.match(text, last) else len(text)

    def _read(self, text: str, end: int) -> None:
        for match in _SEQUENCE.finditer(text, 0, end):
            match match.lastgroup:
                case "plain":
                    self._print(match[0])
                case "line":
                    self._rows.line_feed()
                case "back":
                    self._rows.carriage_return()
                case "erase":
                    self._rows.move(0, -len(match[0]))
                case "tab":
                    self._rows.tab()
                case "csi":
                    self._control(match)
                case "osc":
                    self._command(match)
                case "short":
                    self._short(match[0])
                case _:
                    self._print(match[0])

    def _print(self, text: str) -> None:
        if self._link:
            self._link_text += text[: _LONGEST_OSC - len(self._link_text) + 1]
        self._rows.write(text)

    def _control(self, match: re.Match[str]) -> None:
        numbers, final = match["numbers"], match["final"]
        if final in "hl" and numbers in _SCREENS:
            self._rows.start_below()
        elif final in _SILENT_CSI:
            return
        elif match["between"] or not _is_plain(numbers) or not self._move(final, _counts(numbers)):
            self._print(match[0])

    def _move(self, final: str, counts: list[int]) -> bool:
        """Move the cursor or erase. Returns False for any other sequence."""
        rows, count = self._rows, counts[0]
        step = max(count, 1)
        match final:
            case "A" | "B":
                rows.move(step if final == "B" else -step, 0)
            case "C" | "D":
                rows.move(0, step if final == "C" else -step)
            case "E" | "F":
                rows.carriage_return()
                rows.move(step if final == "E" else -step, 0)
            case "G":
                rows.to_column(step - 1)
            case "H" | "f":
                rows.to(step - 1, max(counts[1] if len(counts) > 1 else 1, 1) - 1)
            case "J" | "K":
                return self._erase(final, count)
            case "s":
                rows.save()
            case "u":
                rows.restore()
            case _:
                return False
        return True

    def _erase(self, final: str, count: int) -> bool:
        rows = self._rows
        match final, count:
            case "K", 0:
                rows.erase_right()
            case "K", 1:
                rows.erase_left()
            case "K", 2:
                rows.erase_row()
            case "J", 0:
                rows.erase_below()
            case "J", 2 | 3:
                rows.start_below()
            case _:
                return False
        return True

    def _short(self, sequence: str) -> None:
        match sequence[1]:
            case "7":
                self._rows.save()
            case "8":
                self._rows.restore()
            case "c":
                self._rows.start_below()
            case "D":
                self._rows.move(1, 0)
            case "M":
                self._rows.move(-1, 0)
            case "E":
                self._rows.line_feed()
            case _:
                return

    def _command(self, match: re.Match[str]) -> None:
        code, _, rest = match["body"].partition(";")
        if code == "8" and ";" in rest:
            self._end_link()
            self._link = rest.partition(";")[2]
        elif code not in _FRAME_OSC:
            self._print(match[0])

    def _end_link(self) -> None:
        """Add the target of a link, unless its text is the target."""
        link, text = self._link, self._link_text
        self._link = self._link_text = ""
        if link and text.strip() != link:
            self._rows.write(f" ({link})")


def _is_plain(numbers: str) -> bool:
    return all(char in "0123456789;" for char in numbers)


def _counts(numbers: str) -> list[int]:
    return [min(int(number or 0), _LONGEST_MOVE) for number in numbers.split(";")]


def plain_output(text: str) -> str:
    """Return a command's output as plain text that is safe to show."""
    reader = OutputReader()
    return reader.feed(text) + reader.finish()
