"""The sub-agents of a call: a row for each that says its state; below it what it reported."""

from typing import assert_never

from rich.style import Style
from rich.text import Text
from textual.strip import Strip

from coder_tui.protocol.display import SubagentsBlock
from coder_tui.protocol.subagents import ChildLine, ChildState
from coder_tui.text.safe_text import safe_line, safe_text
from coder_tui.ui.drawing.palette import Palette
from coder_tui.ui.drawing.strips import beside, cut_text, plain_rows, plain_strip, to_strip

INDENT = 2


def draw_subagents(block: SubagentsBlock, width: int, palette: Palette) -> list[Strip]:
    """All that they reported."""
    rows: list[Strip] = []
    for child in block.children:
        rows.append(_row(child, child.task, width, palette))
        lines = safe_text(child.summary).rstrip("\n").split("\n") if child.summary else []
        report = plain_rows(
            lines, width - INDENT, palette.base, palette.glyphs.more, is_whole=palette.is_whole
        )
        rows += beside(plain_strip("", INDENT, palette.base), report)
    return rows


def draw_tree(block: SubagentsBlock, width: int, palette: Palette) -> list[Strip]:
    """One row each, whatever they do or said."""
    return [_row(child, _news(child), width, palette) for child in block.children]


def _news(child: ChildLine) -> str:
    if child.state.is_over:
        return child.summary.strip().partition("\n")[0] or child.task
    return child.doing or child.task


def _row(child: ChildLine, words: str, width: int, palette: Palette) -> Strip:
    glyph, ink = _look(child.state, palette)
    right = _figures(child)
    left = Text.assemble(
        (f"{glyph} ", ink),
        (safe_line(child.agent), palette.strong),
        (f" {child.state}", ink),
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
