"""Markdown from a tool."""

from textual.strip import Strip

from coder_tui.protocol.display import MarkdownBlock
from coder_tui.text.safe_text import safe_text
from coder_tui.ui.drawing.markdown import draw_markdown
from coder_tui.ui.drawing.palette import Palette


def draw_markdown_block(block: MarkdownBlock, width: int, palette: Palette) -> list[Strip]:
    return draw_markdown(safe_text(block.text), width, palette)
