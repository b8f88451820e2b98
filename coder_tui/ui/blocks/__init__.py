"""Display blocks as strips: one renderer per type, and the table of them.

A renderer takes a block as it came, untrusted, and lets its texts through `safe_text` itself.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from textual.strip import Strip

from coder_tui.protocol.display import (
    DiffBlock,
    DisplayBlock,
    ImageBlock,
    MarkdownBlock,
    SubagentsBlock,
    TableBlock,
    TerminalBlock,
    TextBlock,
    TodosBlock,
)
from coder_tui.ui.blocks.image import draw_image
from coder_tui.ui.blocks.markdown import draw_markdown_block
from coder_tui.ui.blocks.table import draw_table
from coder_tui.ui.blocks.terminal import draw_terminal
from coder_tui.ui.blocks.text import draw_text
from coder_tui.ui.blocks.todos import draw_todos
from coder_tui.ui.drawing.palette import Palette

Renderer = Callable[[Any, int, Palette], list[Strip]]
"""(block, width, palette) -> rows of exactly that width."""


def load() -> None:
    """Load what draws diffs: a dozen modules that the first paint does not need."""
    import_module("coder_tui.ui.blocks.diff")


def _draw_diff(block: DiffBlock, width: int, palette: Palette) -> list[Strip]:
    from coder_tui.ui.blocks.diff import draw_diff

    return draw_diff(block, width, palette)


def _draw_subagents(block: SubagentsBlock, width: int, palette: Palette) -> list[Strip]:
    from coder_tui.ui.blocks.subagents import draw_subagents

    return draw_subagents(block, width, palette)


def draw_tree(block: SubagentsBlock, width: int, palette: Palette) -> list[Strip]:
    """A row for each sub-agent, without what it reported."""
    from coder_tui.ui.blocks import subagents

    return subagents.draw_tree(block, width, palette)


RENDERERS: dict[type, Renderer] = {
    TextBlock: draw_text,
    MarkdownBlock: draw_markdown_block,
    DiffBlock: _draw_diff,
    TerminalBlock: draw_terminal,
    TodosBlock: draw_todos,
    TableBlock: draw_table,
    SubagentsBlock: _draw_subagents,
    ImageBlock: draw_image,
}


def draw_block(block: DisplayBlock, width: int, palette: Palette) -> list[Strip]:
    return RENDERERS[type(block)](block, width, palette)
