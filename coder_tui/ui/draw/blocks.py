"""Display blocks as strips: one renderer per type, and the table of them.

A renderer takes a block as it came, untrusted, and lets its texts through `safe_text` itself.

A picture as one row: a terminal tells what it is and how large.

Markdown from a tool.

A table from a tool.

A command in full, what it printed, and how it ended.

Plain text, its own lines kept.

The todo list of a call.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any, assert_never

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
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
from coder_tui.protocol.todos import TodoStatus
from coder_tui.text.safe_text import safe_line, safe_text
from coder_tui.text.terminal import plain_output
from coder_tui.ui.draw.markdown import draw_markdown
from coder_tui.ui.draw.palette import Palette
from coder_tui.ui.draw.strips import TAB, broken, filled, plain_rows, to_strip, wrapped
from coder_tui.ui.draw.tables import table_strips


def draw_image(block: ImageBlock, width: int, palette: Palette) -> list[Strip]:
    words = safe_line(block.words(palette.glyphs.times))
    text = Text.assemble((f"{palette.glyphs.picture} ", palette.strong), (words, palette.base))
    return [to_strip(line, width, palette.base) for line in wrapped(text, width)]


def draw_markdown_block(block: MarkdownBlock, width: int, palette: Palette) -> list[Strip]:
    return draw_markdown(safe_text(block.text), width, palette)


def draw_table(block: TableBlock, width: int, palette: Palette) -> list[Strip]:
    heading = [Text(safe_line(name), palette.strong) for name in block.columns]
    rows = [[Text(safe_line(cell), palette.base) for cell in row] for row in block.rows]
    return table_strips(heading, rows, width, palette)


_PROMPT = "$ "


def draw_terminal(block: TerminalBlock, width: int, palette: Palette) -> list[Strip]:
    rows = _command(block.command, width, palette) if block.command else []
    output = plain_output(block.output).rstrip("\n")
    if output:
        lines = output.split("\n")
        rows += plain_rows(lines, width, palette.base, palette.glyphs.more, is_whole=palette.is_whole)
    if block.exit_code:
        rows += plain_rows([f"exit {block.exit_code}"], width, palette.failed, palette.glyphs.more)
    return rows


def _command(command: str, width: int, palette: Palette) -> list[Strip]:
    """Never shortened: what runs is read here."""
    rows = []
    lead = _PROMPT
    for line in safe_text(command).split("\n"):
        for piece in broken(line.expandtabs(TAB), width - len(_PROMPT)):
            parts = [Segment(lead, palette.dim), Segment(piece, palette.strong)]
            rows.append(filled(parts, width, palette.base))
            lead = " " * len(_PROMPT)
    return rows


def draw_text(block: TextBlock, width: int, palette: Palette) -> list[Strip]:
    text = safe_text(block.text).rstrip("\n")
    if not text:
        return []
    return list(
        plain_rows(text.split("\n"), width, palette.base, palette.glyphs.more, is_whole=palette.is_whole)
    )


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


Renderer = Callable[[Any, int, Palette], list[Strip]]
"""(block, width, palette) -> rows of exactly that width."""


def load() -> None:
    """Load what draws diffs: a dozen modules that the first paint does not need."""
    import_module("coder_tui.ui.diff.block")


def _draw_diff(block: DiffBlock, width: int, palette: Palette) -> list[Strip]:
    from coder_tui.ui.diff.block import draw_diff

    return draw_diff(block, width, palette)


def _draw_subagents(block: SubagentsBlock, width: int, palette: Palette) -> list[Strip]:
    from coder_tui.ui.draw.block_subagents import draw_subagents

    return draw_subagents(block, width, palette)


def draw_tree(block: SubagentsBlock, width: int, palette: Palette) -> list[Strip]:
    """A row for each sub-agent, without what it reported."""
    from coder_tui.ui.draw import block_subagents as subagents

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
