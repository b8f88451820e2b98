"""What the transcript draws of a block that is too long for it: both ends, and how much is between them."""

from dataclasses import replace

from coder_tui.protocol.display import (
    DiffBlock,
    DisplayBlock,
    MarkdownBlock,
    TableBlock,
    TerminalBlock,
    TextBlock,
)

MOST_CHARACTERS = 40_000
MOST_LINES = 1000
MOST_ROWS = 200
MOST_OF_NOTE = 4000


def bounded(block: DisplayBlock) -> DisplayBlock:
    """The same block where it can be drawn at once; else the page on which it is read has all of it."""
    match block:
        case TextBlock(text) | MarkdownBlock(text) if _is_long(text):
            return replace(block, text=_ends(text))
        case TerminalBlock(command, output) if _is_long(command) or _is_long(output):
            return replace(block, command=_ends(command), output=_ends(output))
        case DiffBlock(diff=diff) if _is_long(diff):
            return replace(block, diff=_beginning(diff))
        case TableBlock(rows=rows) if len(rows) > MOST_ROWS:
            last = (f"{len(rows) - MOST_ROWS} more rows: read the block",)
            return replace(block, rows=(*rows[:MOST_ROWS], last))
        case _:
            return block


def cut_short(text: str) -> str:
    """For notes, of which there is no page to read."""
    missing = len(text) - MOST_OF_NOTE
    return text if missing <= 0 else f"{text[:MOST_OF_NOTE]} ({missing} more characters)"


def _is_long(text: str) -> bool:
    return len(text) > MOST_CHARACTERS or text.count("\n") > MOST_LINES


def _ends(text: str) -> str:
    if not _is_long(text):
        return text
    half, lines = MOST_CHARACTERS // 2, MOST_LINES // 2
    head = "\n".join(text[:half].split("\n")[:lines])
    tail = "\n".join(text[-half:].split("\n")[-lines:])
    missing = len(text) - len(head) - len(tail)
    return f"{head}\n({missing} characters between: read the block)\n{tail}"


def _beginning(diff: str) -> str:
    """Whole lines only; a single endless one is cut where it is drawn."""
    lines = diff.split("\n", MOST_LINES)[:MOST_LINES]
    size = 0
    for number, line in enumerate(lines):
        size += min(len(line), MOST_CHARACTERS // 10)
        if size > MOST_CHARACTERS:
            return "\n".join(lines[: max(number, 4)])
    return "\n".join(lines)
