"""Plain text, its own lines kept."""

from textual.strip import Strip

from coder_tui.protocol.display import TextBlock
from coder_tui.text.safe_text import safe_text
from coder_tui.ui.drawing.palette import Palette
from coder_tui.ui.drawing.strips import plain_rows


def draw_text(block: TextBlock, width: int, palette: Palette) -> list[Strip]:
    text = safe_text(block.text).rstrip("\n")
    if not text:
        return []
    return list(
        plain_rows(text.split("\n"), width, palette.base, palette.glyphs.more, is_whole=palette.is_whole)
    )
