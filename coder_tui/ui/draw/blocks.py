"""Draw display blocks as strips: one renderer per type, and the table of them.

Blocks are untrusted. Each renderer passes their texts through `safe_text` itself.
"""

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import Any, assert_never

from rich.cells import cell_len
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
from coder_tui.protocol.subagents import ChildLine, ChildState
from coder_tui.protocol.todos import TodoStatus
from coder_tui.text.safe_text import safe_line, safe_text
from coder_tui.text.terminal import plain_output
from coder_tui.ui.draw.markdown import draw_markdown
from coder_tui.ui.draw.palette import Palette
from coder_tui.ui.draw.strips import (
    TAB,
    broken,
    cut_text,
    filled,
    plain_rows,
    plain_strip,
    prefix_rows,
    table_strips,
    to_strip,
    wrapped,
)
from coder_tui.ui.glyphs import Glyphs

MOST_CHARACTERS = 40_000
MOST_LINES = 1000
MOST_ROWS = 200
MOST_OF_NOTE = 4000


def bounded(block: DisplayBlock) -> DisplayBlock:
    """Return the block itself if it can be drawn at once, else a part of it; the pager shows all of it."""
    match block:
        case TextBlock(text) | MarkdownBlock(text) if _is_long(text):
            return replace(block, text=_ends(text))
        case TerminalBlock(command, output) if _is_long(command) or _is_long(output):
            return replace(block, command=_ends(command), output=_ends(output))
        case DiffBlock(diff=diff) if _is_long(diff):
            return replace(block, diff=_beginning(diff))
        case TableBlock(rows=rows) if len(rows) > MOST_ROWS:
            last = (f"{len(rows) - MOST_ROWS} more rows: open the block to read them",)
            return replace(block, rows=(*rows[:MOST_ROWS], last))
        case _:
            return block


def cut_short(text: str) -> str:
    """Cut off a note, which no pager can show in full."""
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
    return f"{head}\n({missing} characters not shown: open the block to read them)\n{tail}"


def _beginning(diff: str) -> str:
    """Return the first lines; a single very long line is cut off where it is drawn."""
    lines = diff.split("\n", MOST_LINES)[:MOST_LINES]
    size = 0
    for number, line in enumerate(lines):
        size += min(len(line), MOST_CHARACTERS // 10)
        if size > MOST_CHARACTERS:
            return "\n".join(lines[: max(number, 4)])
    return "\n".join(lines)


def draw_image(block: ImageBlock, width: int, palette: Palette) -> list[Strip]:
    words = safe_line(block.describe(palette.glyphs.times))
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
    """Draw the command in full: this is where the user reads what runs."""
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
        glyph, mark, words = _glyph_and_style(item.status, palette)
        lead = Text(f"{glyph} ", mark)
        for line in wrapped(Text(safe_line(item.content), words), width - 2):
            rows.append(to_strip(lead + line, width, palette.base))
            lead = Text("  ")
    return rows


def _glyph_and_style(status: TodoStatus, palette: Palette) -> tuple[str, Style, Style]:
    match status:
        case TodoStatus.COMPLETED:
            return palette.glyphs.ok, palette.ok, palette.dim
        case TodoStatus.IN_PROGRESS:
            return palette.glyphs.running, palette.running, palette.strong
        case TodoStatus.PENDING:
            return palette.glyphs.pending, palette.dim, palette.base
        case _:
            assert_never(status)


INDENT = 2
WIDEST_NAME = 20


def draw_subagents(block: SubagentsBlock, width: int, palette: Palette) -> list[Strip]:
    """Draw each sub-agent with its full report."""
    rows: list[Strip] = []
    for child in block.children:
        rows.append(_row(child, child.task, _columns(block), width, palette))
        report = draw_markdown_block(MarkdownBlock(child.summary), width - INDENT, palette)
        rows += prefix_rows(plain_strip("", INDENT, palette.base), report)
    return rows


def draw_tree(block: SubagentsBlock, width: int, palette: Palette) -> list[Strip]:
    """Draw one row for each sub-agent, without its report."""
    columns = _columns(block)
    return [_row(child, _news(child), columns, width, palette) for child in block.children]


def _news(child: ChildLine) -> str:
    if child.state.is_over:
        return child.summary.strip().partition("\n")[0] or child.task
    return child.doing or child.task


def _columns(block: SubagentsBlock) -> tuple[int, int]:
    """Return the cells for names and states, so that the text behind them is aligned."""
    names = (cell_len(safe_line(child.agent)) for child in block.children)
    states = (len(child.state) for child in block.children)
    return min(WIDEST_NAME, max(names, default=0)), max(states, default=0)


def _row(child: ChildLine, words: str, columns: tuple[int, int], width: int, palette: Palette) -> Strip:
    glyph, ink = state_glyph(child.state, palette.glyphs), _state_style(child.state, palette)
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
    """Format a cost; most sub-agents cost less than a cent, which is more than nothing."""
    if not cost:
        return ""
    return f"${cost:.2f}" if cost >= 0.01 else "<$0.01"


def state_glyph(state: ChildState, glyphs: Glyphs) -> str:
    return {
        ChildState.QUEUED: glyphs.pending,
        ChildState.RUNNING: glyphs.running,
        ChildState.WAITING: glyphs.waiting,
        ChildState.OK: glyphs.ok,
        ChildState.FAILED: glyphs.failed,
        ChildState.STOPPED: glyphs.stopped,
    }[state]


def _state_style(state: ChildState, palette: Palette) -> Style:
    return {
        ChildState.QUEUED: palette.dim,
        ChildState.RUNNING: palette.running,
        ChildState.WAITING: palette.warning,
        ChildState.OK: palette.ok,
        ChildState.FAILED: palette.failed,
        ChildState.STOPPED: palette.warning,
    }[state]


Renderer = Callable[[Any, int, Palette], list[Strip]]
"""(block, width, palette) -> rows of exactly that width."""


def load() -> None:
    """Load what draws diffs: a dozen modules that the first paint does not need."""
    import_module("coder_tui.ui.diff.block")


def _draw_diff(block: DiffBlock, width: int, palette: Palette) -> list[Strip]:
    from coder_tui.ui.diff.block import draw_diff

    return draw_diff(block, width, palette)


RENDERERS: dict[type, Renderer] = {
    TextBlock: draw_text,
    MarkdownBlock: draw_markdown_block,
    DiffBlock: _draw_diff,
    TerminalBlock: draw_terminal,
    TodosBlock: draw_todos,
    TableBlock: draw_table,
    SubagentsBlock: draw_subagents,
    ImageBlock: draw_image,
}


def draw_block(block: DisplayBlock, width: int, palette: Palette) -> list[Strip]:
    return RENDERERS[type(block)](block, width, palette)


def source_of(block: DisplayBlock) -> str:
    """Return a block's text, for counting and copying."""
    match block:
        case TextBlock(text=text) | MarkdownBlock(text=text):
            return text
        case DiffBlock(diff=diff):
            return diff
        case TerminalBlock(output=output):
            return output
        case TodosBlock(items=items):
            return "\n".join(item.content for item in items)
        case TableBlock(columns=columns, rows=rows):
            return "\n".join("\t".join(row) for row in (columns, *rows))
        case ImageBlock():
            return block.describe()
        case SubagentsBlock(children=children):
            return "\n".join(
                f"{child.agent}: {child.state}  {child.summary or child.task}" for child in children
            )
        case _:
            assert_never(block)
