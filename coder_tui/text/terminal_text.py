"""Turns what a command prints for a terminal into the text that a person would have been left with.

Colours go, a progress bar keeps its last state, redrawn lines stand once, a link shows where it leads.
Every other control sequence is made visible instead of obeyed.
"""

import re

from coder_tui.text.safe_text import safe_text
from coder_tui.text.terminal_rows import TerminalRows

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
# A sequence that the next piece may complete.
_BEGUN = re.compile(rf"\x1b(?:[()*+]|{_CSI}|{_OSC}\x1b?)?\Z")
# Titles, the folder, progress, prompt marks: for the terminal's frame, not for its text.
_FRAME_OSC = frozenset({"0", "1", "2", "7", "9", "133", "633", "1337"})
_SCREENS = frozenset({"?47", "?1047", "?1049"})
_SILENT_CSI = frozenset("mhlrq")


class OutputReader:
    """Reads output piece by piece: what can change no more is returned, the rest is `pending`.

    How the output was cut into pieces does not change the text. Memory is bounded, whatever comes.
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
        return safe_text(self._rows.take_settled())

    def finish(self) -> str:
        """Return what is left; a sequence that was never completed is shown."""
        held, self._held = self._held, ""
        self._read(held, len(held))
        self._end_link()
        rest = safe_text(self._rows.take_settled() + self._rows.text())
        self._rows = TerminalRows()
        return rest

    def _begun(self, text: str) -> int:
        """Where a sequence starts that is not complete yet; the end when there is none."""
        last = text.rfind("\x1b", max(0, len(text) - _LONGEST_BEGUN))
        if last < 0:
            return len(text)
        if last == len(text) - 1:
            # It may be the first half of the mark that ends an older one.
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
            self._rows.start_afresh()
        elif final in _SILENT_CSI:
            return
        elif match["between"] or not _is_plain(numbers) or not self._move(final, _counts(numbers)):
            self._print(match[0])

    def _move(self, final: str, counts: list[int]) -> bool:
        """Do what moves the cursor or erases; False for anything else."""
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
                rows.start_afresh()
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
                self._rows.start_afresh()
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
        """Say where a link leads, unless its text says so itself."""
        link, text = self._link, self._link_text
        self._link = self._link_text = ""
        if link and text.strip() != link:
            self._rows.write(f" ({link})")


def _is_plain(numbers: str) -> bool:
    return all(char in "0123456789;" for char in numbers)


def _counts(numbers: str) -> list[int]:
    return [min(int(number or 0), _LONGEST_MOVE) for number in numbers.split(";")]


def plain_output(text: str) -> str:
    """The whole of a command's output as plain text, safe to show."""
    reader = OutputReader()
    return reader.feed(text) + reader.finish()
