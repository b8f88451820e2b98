"""A command in full, what it printed, and how it ended."""

from rich.segment import Segment
from textual.strip import Strip

from coder_tui.protocol.display import TerminalBlock
from coder_tui.text.safe_text import safe_text
from coder_tui.text.terminal_text import plain_output
from coder_tui.ui.drawing.palette import Palette
from coder_tui.ui.drawing.strips import TAB, broken, filled, plain_rows

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
