"""A picture as one row: a terminal tells what it is and how large."""

from rich.text import Text
from textual.strip import Strip

from coder_tui.protocol.display import ImageBlock
from coder_tui.text.safe_text import safe_line
from coder_tui.ui.drawing.palette import Palette
from coder_tui.ui.drawing.strips import to_strip, wrapped


def draw_image(block: ImageBlock, width: int, palette: Palette) -> list[Strip]:
    words = safe_line(block.words(palette.glyphs.times))
    text = Text.assemble((f"{palette.glyphs.picture} ", palette.strong), (words, palette.base))
    return [to_strip(line, width, palette.base) for line in wrapped(text, width)]
