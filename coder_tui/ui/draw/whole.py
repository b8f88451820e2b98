"""All of a block, with what the transcript folds or cuts, as entries that are drawn only near the view.

A sub-agent's conversation as entries of a page.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from textual.strip import Strip

from coder_tui.protocol.display import DisplayBlock, TerminalBlock, TextBlock
from coder_tui.protocol.events import Event, MessageFinished, ToolFinished, ToolStarted, UserMessageAdded
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.text.safe_text import safe_line, safe_text
from coder_tui.text.terminal import plain_output
from coder_tui.ui.draw.blocks import draw_block
from coder_tui.ui.draw.call_entry import CallEntry, source_of, state_of
from coder_tui.ui.draw.entries import Entry, NoteEntry, ThinkingEntry, View, reply_entries
from coder_tui.ui.draw.palette import Palette
from coder_tui.ui.draw.streamed import rows_of
from coder_tui.ui.draw.strips import plain_rows

LINES_A_PIECE = 100
LONGEST_PIECE = 20_000


@dataclass(frozen=True, slots=True)
class PlainEntry:
    """Some lines of output, as they are."""

    text: str
    has_gap: ClassVar[bool] = False

    @property
    def source(self) -> str:
        return self.text

    def is_open(self, view: View) -> bool:
        return True

    def estimate(self, width: int, view: View) -> int:
        return rows_of(self.text, width)

    def draw(self, width: int, palette: Palette, view: View) -> list[Strip]:
        lines = self.text.split("\n")
        return list(plain_rows(lines, width, palette.base, palette.glyphs.more, is_whole=True))


@dataclass(frozen=True, slots=True)
class BlockEntry:
    """A display block in full."""

    block: DisplayBlock
    has_gap: ClassVar[bool] = True

    @property
    def source(self) -> str:
        return source_of(self.block)

    def is_open(self, view: View) -> bool:
        return True

    def estimate(self, width: int, view: View) -> int:
        return rows_of(self.source, width)

    def draw(self, width: int, palette: Palette, view: View) -> list[Strip]:
        return draw_block(self.block, width, replace(palette, is_whole=True))


def whole_entries(block: Sequence[Entry], output: str | None = None) -> list[Entry]:
    """`output` is all that a command printed, where its block has a part of it only."""
    return [each for entry in block for each in _whole(entry, output)]


def plain_entries(text: str) -> Iterator[Entry]:
    """Any text, safe already, in pieces of bounded length."""
    lines: list[str] = []
    size = 0
    for line in text.split("\n"):
        lines.append(line)
        size += len(line)
        if len(lines) >= LINES_A_PIECE or size > LONGEST_PIECE:
            yield from _pieces("\n".join(lines))
            lines, size = [], 0
    if lines:
        yield from _pieces("\n".join(lines))


def _pieces(text: str) -> Iterator[Entry]:
    for start in range(0, max(1, len(text)), LONGEST_PIECE):
        yield PlainEntry(text[start : start + LONGEST_PIECE])


def _whole(entry: Entry, output: str | None) -> Iterator[Entry]:
    if not isinstance(entry, CallEntry):
        yield entry
        return
    if entry.proposal is not None:
        yield BlockEntry(entry.proposal)
    match entry.display:
        case None:
            yield from plain_entries(entry.output)
        case TerminalBlock() as shown:
            yield BlockEntry(replace(shown, output="", exit_code=None))
            yield from plain_entries(plain_output(shown.output if output is None else output).rstrip("\n"))
            if shown.exit_code is not None:
                yield PlainEntry(f"exit {shown.exit_code}")
        case TextBlock(text):
            yield from plain_entries(safe_text(text).rstrip("\n"))
        case other:
            yield BlockEntry(other)


def child_entries(events: Iterable[Event]) -> Iterator[Entry]:
    """What it was told, said and did; its parent's words are no person's."""
    for event in events:
        match event:
            case UserMessageAdded(_, text):
                yield NoteEntry(NoticeLevel.INFO, f"asked to: {safe_text(text)}")
            case MessageFinished(_, text, thinking):
                if thinking.strip():
                    yield ThinkingEntry(safe_text(thinking))
                if text.strip():
                    yield from reply_entries(safe_text(text))
            case ToolStarted(call_id, tool, kind, summary):
                yield CallEntry(safe_line(tool), safe_line(summary), kind, call_id=call_id)
            case ToolFinished(call_id, tool, outcome, summary, display, duration_ms):
                yield CallEntry(
                    safe_line(tool),
                    safe_line(summary),
                    state=state_of(outcome),
                    display=display,
                    duration_ms=duration_ms,
                    call_id=call_id,
                )
            case _:
                pass
