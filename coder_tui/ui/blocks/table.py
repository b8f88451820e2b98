"""A table from a tool."""

from rich.text import Text
from textual.strip import Strip

from coder_tui.protocol.display import TableBlock
from coder_tui.text.safe_text import safe_line
from coder_tui.ui.drawing.palette import Palette
from coder_tui.ui.drawing.tables import table_strips


def draw_table(block: TableBlock, width: int, palette: Palette) -> list[Strip]:
    heading = [Text(safe_line(name), palette.strong) for name in block.columns]
    rows = [[Text(safe_line(cell), palette.base) for cell in row] for row in block.rows]
    return table_strips(heading, rows, width, palette)
