"""The sub-agents of a call: a row for each that says its state; below it what it reported."""

from typing import assert_never

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text
from textual.strip import Strip

from coder_tui.protocol.display import MarkdownBlock, SubagentsBlock
from coder_tui.protocol.subagents import ChildLine, ChildState
from coder_tui.text.safe_text import safe_line
from coder_tui.ui.draw.blocks import draw_markdown_block
from coder_tui.ui.draw.palette import Palette
from coder_tui.ui.draw.strips import beside, cut_text, plain_strip, to_strip

INDENT = 2
WIDEST_NAME = 20


def draw_subagents(block: SubagentsBlock, width: int, palette: Palette) -> list[Strip]:
    """All that they reported."""
    rows: list[Strip] = []
    for child in block.children:
        rows.append(_row(child, child.task, _columns(block), width, palette))
        report = draw_markdown_block(MarkdownBlock(child.summary), width - INDENT, palette)
        rows += beside(plain_strip("", INDENT, palette.base), report)
    return rows


def draw_tree(block: SubagentsBlock, width: int, palette: Palette) -> list[Strip]:
    """One row each, whatever they do or said."""
    columns = _columns(block)
    return [_row(child, _news(child), columns, width, palette) for child in block.children]


def _news(child: ChildLine) -> str:
    if child.state.is_over:
        return child.summary.strip().partition("\n")[0] or child.task
    return child.doing or child.task


def _columns(block: SubagentsBlock) -> tuple[int, int]:
    """Cells for names and states, so that what they do stands in one column."""
    names = (cell_len(safe_line(child.agent)) for child in block.children)
    states = (len(child.state) for child in block.children)
    return min(WIDEST_NAME, max(names, default=0)), max(states, default=0)


def _row(child: ChildLine, words: str, columns: tuple[int, int], width: int, palette: Palette) -> Strip:
    glyph, ink = _look(child.state, palette)
    right = _figures(child)
    agent = safe_line(child.agent)
    left = Text.assemble(
        (f"{glyph} ", ink),
        (agent + " " * (columns[0] - cell_len(agent)), palette.strong),
        (f" {child.state:<{columns[1]}}", ink),
        (f"  {safe_line(words)}", palette.base),
        end="",
    )
    cut_text(left, max(1, width - len(right) - 1), palette.glyphs.more)
    left.append(" " * max(1, width - left.cell_len - len(right)))
    left.append(right, palette.dim)
    return to_strip(left, width, palette.base)


def _figures(child: ChildLine) -> str:
    minutes, seconds = divmod(child.seconds, 60)
    time = f"{minutes}m {seconds:02}s" if minutes else f"{seconds}s"
    return "  ".join(filter(None, (time if child.seconds else "", cost_words(child.cost))))


def cost_words(cost: float | None) -> str:
    """Most sub-agents cost less than a cent, which is not nothing."""
    if not cost:
        return ""
    return f"${cost:.2f}" if cost >= 0.01 else "<$0.01"


def _look(state: ChildState, palette: Palette) -> tuple[str, Style]:
    glyphs = palette.glyphs
    match state:
        case ChildState.QUEUED:
            return glyphs.pending, palette.dim
        case ChildState.RUNNING:
            return glyphs.running, palette.running
        case ChildState.WAITING:
            return glyphs.waiting, palette.warning
        case ChildState.OK:
            return glyphs.ok, palette.ok
        case ChildState.FAILED:
            return glyphs.failed, palette.failed
        case ChildState.STOPPED:
            return glyphs.stopped, palette.warning
        case _:
            assert_never(state)
