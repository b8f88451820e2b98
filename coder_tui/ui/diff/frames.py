"""What stands between the lines of a diff: names of files, folds, remarks."""

from dataclasses import dataclass
from typing import assert_never

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.strip import Strip

from coder_tui.diffs.model import Comparison, FileState, Gap
from coder_tui.diffs.rows import Piece
from coder_tui.text.safe_text import safe_line, safe_text
from coder_tui.ui.diff.rows import DiffLook
from coder_tui.ui.draw.palette import Palette
from coder_tui.ui.draw.strips import broken, cut, cut_text, filled, plain_strip, to_strip


@dataclass(frozen=True, slots=True)
class Heading:
    file: Comparison


@dataclass(frozen=True, slots=True)
class Remark:
    """Words of the person on a hunk."""

    hunk: str
    words: str


def has_heading(file: Comparison) -> bool:
    """Whether there is something to say that its lines do not."""
    return file.state is not FileState.CHANGED or bool(file.notes) or not file.hunks


def file_words(file: Comparison) -> str:
    """A file by its name and what became of it."""
    match file.state:
        case FileState.CHANGED:
            return file.path
        case FileState.CREATED:
            return f"{file.path}  new file"
        case FileState.DELETED:
            return f"{file.path}  deleted"
        case FileState.RENAMED:
            return f"{file.path}  renamed from {file.old_path}"
        case _:
            assert_never(file.state)


def draw_frame(
    item: Heading | Piece | Remark, look: DiffLook, palette: Palette, *, can_open: bool
) -> list[Strip]:
    match item:
        case Heading(file=file):
            return [_heading(file, look.width, palette), *_notes(file, look.width, palette)]
        case Remark(words=words):
            lines = safe_text(words).split("\n")
            rows = [row for line in lines for row in broken(f"{palette.glyphs.quote} {line}", look.width)]
            return [plain_strip(row, look.width, palette.warning) for row in rows]
        case Piece(part=Gap() as gap):
            return [_fold(gap, look.width, palette, can_open=can_open)]
        case _:
            return []


def _heading(file: Comparison, width: int, palette: Palette) -> Strip:
    ground = Style(bgcolor=palette.code_block.bgcolor)
    counts = Text(end="")
    counts.append(f" +{file.additions}", palette.ok + ground)
    counts.append(f" -{file.deletions}", palette.warning + ground)
    name = Text(safe_line(file_words(file)), palette.heading + ground, end="")
    cut_text(name, max(1, width - counts.cell_len), palette.glyphs.more)
    return to_strip(Text.assemble(name, counts, end=""), width, palette.code_block)


def _notes(file: Comparison, width: int, palette: Palette) -> list[Strip]:
    notes = [safe_line(note) for note in file.notes]
    if not file.hunks and not notes:
        notes = (
            ["No line differs."] if file.sections or file.state is FileState.RENAMED else ["An empty file."]
        )
    return [plain_strip(row, width, palette.dim) for note in notes for row in broken(note, width)]


def _fold(gap: Gap, width: int, palette: Palette, *, can_open: bool) -> Strip:
    glyphs = palette.glyphs
    mark = glyphs.folded if can_open else glyphs.more
    lines = "line" if gap.count == 1 else "lines"
    count = f" {gap.count} unchanged {lines}" if gap.count else ""
    heading = f"  {safe_line(gap.heading.strip())}" if gap.heading else ""
    words = cut(f"{glyphs.rule * 2} {mark}{count}{heading} ", width, glyphs.more)
    rule = Segment(glyphs.rule * (width - len(words)), palette.dim)
    return filled([Segment(words, palette.dim), rule], width, palette.dim)
