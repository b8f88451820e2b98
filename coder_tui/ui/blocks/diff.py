"""A unified diff in the transcript: line numbers, signs that are always printed, colours that help."""

from collections.abc import Iterator

from textual.strip import Strip

from coder_tui.diffs.layout import laid_out
from coder_tui.diffs.model import Comparison, Gap
from coder_tui.diffs.unified import parse_unified
from coder_tui.protocol.display import DiffBlock
from coder_tui.text.safe_text import safe_line, safe_text
from coder_tui.ui.drawing.diff_colours import all_colours, no_colours
from coder_tui.ui.drawing.diff_frames import file_words
from coder_tui.ui.drawing.diff_inks import diff_inks
from coder_tui.ui.drawing.diff_rows import DiffLook, Painter
from coder_tui.ui.drawing.diff_text import Marking
from coder_tui.ui.drawing.glyphs import UNICODE
from coder_tui.ui.drawing.palette import Palette
from coder_tui.ui.drawing.strips import plain_rows, plain_strip

_GUTTER = 5
MOST_COLOURED = 400
"""Lines: beyond it a diff is drawn in plain ink, so that ten thousand lines appear at once."""


def draw_diff(block: DiffBlock, width: int, palette: Palette) -> list[Strip]:
    return [strip for strip, _ in hunk_rows(block, width, palette)]


def has_room_for_two(width: int, least: int) -> bool:
    """Whether each of two columns would have so many for code."""
    return DiffLook(width, Marking(UNICODE), _GUTTER, is_split=True).room >= least


def hunk_rows(
    block: DiffBlock, width: int, palette: Palette, *, is_split: bool = False, wraps: bool = True
) -> list[tuple[Strip, str]]:
    """Rows with the hunk that each belongs to, none for what is around them."""
    files = parse_unified(block.diff, block.path)
    is_coloured = block.diff.count("\n") <= MOST_COLOURED
    has_ends = any(file.mixes_line_ends for file in files)
    marking = Marking(palette.glyphs, line_ends=has_ends, is_whole=palette.is_whole)
    look = DiffLook(width, marking, _GUTTER, is_split=is_split, wraps=wraps)
    rows: list[tuple[Strip, str]] = []
    for file in files:
        painter = Painter(look.for_file(file, has_ends=has_ends), diff_inks(palette))
        if len(files) > 1:
            rows.append((plain_strip(safe_line(file_words(file)), width, palette.strong), ""))
        rows += _draw(file, painter, palette, is_coloured=is_coloured)
    return rows


def _draw(
    file: Comparison, painter: Painter, palette: Palette, *, is_coloured: bool
) -> Iterator[tuple[Strip, str]]:
    width, more = painter.look.width, palette.glyphs.more
    colours = all_colours(file, palette) if is_coloured else no_colours
    notes = [f"{'':>{_GUTTER}} {safe_text(note)}" for note in file.notes]
    for row in plain_rows(notes, width, palette.dim, more, is_whole=palette.is_whole):
        yield row, ""
    for piece in laid_out(file, None, is_split=painter.look.is_split):
        if isinstance(piece.part, Gap):
            words = f"{more:>{_GUTTER}} {safe_line(piece.part.heading)}".rstrip()
            yield plain_strip(words, width, palette.dim), ""
        else:
            is_paired = is_coloured or painter.look.is_split
            lines = piece.rows() if is_paired else piece.unpaired_rows()
            for row in painter.strips(lines, colours):
                yield row, piece.hunk
