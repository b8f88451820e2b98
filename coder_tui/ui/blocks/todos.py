"""The todo list of a call."""

from typing import assert_never

from rich.style import Style
from rich.text import Text
from textual.strip import Strip

from coder_tui.protocol.display import TodosBlock
from coder_tui.protocol.todos import TodoStatus
from coder_tui.text.safe_text import safe_line
from coder_tui.ui.drawing.palette import Palette
from coder_tui.ui.drawing.strips import to_strip, wrapped


def draw_todos(block: TodosBlock, width: int, palette: Palette) -> list[Strip]:
    rows = []
    for item in block.items:
        glyph, mark, words = _look(item.status, palette)
        lead = Text(f"{glyph} ", mark)
        for line in wrapped(Text(safe_line(item.content), words), width - 2):
            rows.append(to_strip(lead + line, width, palette.base))
            lead = Text("  ")
    return rows


def _look(status: TodoStatus, palette: Palette) -> tuple[str, Style, Style]:
    match status:
        case TodoStatus.COMPLETED:
            return palette.glyphs.ok, palette.ok, palette.dim
        case TodoStatus.IN_PROGRESS:
            return palette.glyphs.running, palette.running, palette.strong
        case TodoStatus.PENDING:
            return palette.glyphs.pending, palette.dim, palette.base
        case _:
            assert_never(status)
