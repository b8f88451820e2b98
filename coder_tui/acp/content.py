"""Converts what a call shows into an editor's content: text, diffs and locations in files.

Editors want a change as two texts. Those are whole files if the file on the disk still matches the diff.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, assert_never

from acp.helpers import ToolCallContentVariant, text_block, tool_content, tool_diff_content
from acp.schema import ToolCallLocation

from coder_tui.diffs.compare import stretches
from coder_tui.diffs.unified import parse_unified
from coder_tui.protocol import display
from coder_tui.protocol.comparison import Change, Comparison, FileState, Gap, Same, Section, split_lines
from coder_tui.protocol.display import DisplayBlock
from coder_tui.text.safe_text import safe_text

LARGEST = 1_000_000
"""Most bytes of a file that is sent in full, in both versions."""


@dataclass(frozen=True, slots=True)
class TextPair:
    """Both versions of a file or of a part of it. `old` is None for a new file; `line` counts from 1."""

    path: Path
    old: str | None
    new: str
    line: int | None = None


def text_pairs(
    comparisons: Iterable[Comparison], directory: Path, *, is_done: bool, is_cut: bool = False
) -> tuple[TextPair, ...]:
    """Return the old and new texts. Blocks.

    `is_done` means that the disk has the new text. A diff that is cut off or does not match is sent in parts.
    """
    found: list[TextPair] = []
    for comparison in comparisons:
        name = comparison.path if is_done else comparison.old_path or comparison.path
        disk = None if is_cut else _lines_of(directory / name)
        found += _pairs(comparison, directory / comparison.path, disk, is_done=is_done)
    return tuple(found)


def _pairs(comparison: Comparison, file: Path, disk: list[str] | None, *, is_done: bool) -> list[TextPair]:
    line = next((change.new + 1 for change in comparison.changes), None)
    match comparison.state:
        case FileState.CREATED:
            return [TextPair(file, None, "".join(_side(comparison.sections, is_new=True)), line)]
        case FileState.DELETED:
            return [TextPair(file, "".join(_side(comparison.sections, is_new=False)), "", line)]
        case FileState.CHANGED | FileState.RENAMED:
            whole = _whole(comparison, disk, is_done=is_done) if disk is not None else None
            return [TextPair(file, *whole, line)] if whole else _pieces(comparison, file)
        case _:
            assert_never(comparison.state)


def _whole(comparison: Comparison, disk: list[str], *, is_done: bool) -> tuple[str, str] | None:
    """Return both texts in full, or None if the file on the disk does not match the diff."""
    other: list[str] = []
    at = 0
    for section in comparison.sections:
        start = section.new if is_done else section.old
        here = tuple(_side((section,), is_new=is_done))
        end = start + (section.count if isinstance(section, Gap) else len(here))
        if start < at or (here and tuple(disk[start:end]) != here):
            return None
        other += disk[at:start]
        other += disk[start:end] if isinstance(section, Gap) else _side((section,), is_new=not is_done)
        at = end
    other += disk[at:]
    known, made = "".join(disk), "".join(other)
    return (made, known) if is_done else (known, made)


def _pieces(comparison: Comparison, file: Path) -> list[TextPair]:
    """Return what the diff itself shows, one pair for each part of it."""
    pieces: list[TextPair] = []
    for stretch in stretches(comparison.sections):
        old, new = ("".join(_side(stretch, is_new=is_new)) for is_new in (False, True))
        pieces.append(TextPair(file, old, new, stretch[0].new + 1))
    return pieces


def _side(sections: tuple[Section, ...], *, is_new: bool) -> Iterator[str]:
    for section in sections:
        match section:
            case Same(lines=lines):
                yield from lines
            case Change(deleted=deleted, added=added):
                yield from added if is_new else deleted
            case Gap():
                pass
            case _:
                assert_never(section)


def _lines_of(file: Path) -> list[str] | None:
    try:
        if file.stat().st_size > LARGEST:
            return None
        return split_lines(file.read_bytes().decode())
    except (OSError, ValueError):
        return None


LONGEST = 20_000
"""Most characters of one text. An editor keeps all of them while the conversation is open."""
_PATHS = ("path", "file_path", "paths", "files", "source", "destination")
_LINES = ("line", "offset", "start_line")


def valid_text(text: str) -> str:
    """Replace lone surrogates, which no message can contain."""
    return text.encode(errors="replace").decode()


def valid_json(value: Any) -> Any:
    """Return a JSON value without lone surrogates."""
    return json.loads(valid_text(json.dumps(value, ensure_ascii=False)))


def content_of(block: DisplayBlock, directory: Path, *, is_done: bool) -> list[ToolCallContentVariant]:
    """Convert a block. Blocks: reads files for diffs. `is_done` means that the disk has the new text."""
    if isinstance(block, display.DiffBlock):
        return _diff(block, directory, is_done=is_done)
    return [_text(block)] if not isinstance(block, display.TodosBlock) else []


def _diff(block: display.DiffBlock, directory: Path, *, is_done: bool) -> list[ToolCallContentVariant]:
    """Convert a diff. If it was cut off, it says so: nobody should approve what they did not see."""
    comparisons = parse_unified(block.diff, block.path)
    additions = sum(comparison.additions for comparison in comparisons)
    deletions = sum(comparison.deletions for comparison in comparisons)
    is_cut = (additions, deletions) != (block.additions, block.deletions)
    pairs = text_pairs(comparisons, directory, is_done=is_done, is_cut=is_cut)
    shown: list[ToolCallContentVariant] = [
        tool_diff_content(str(pair.path), valid_text(pair.new), pair.old and valid_text(pair.old))
        for pair in pairs
    ]
    if is_cut:
        whole_change = f"{block.additions} lines are added and {block.deletions} deleted in total"
        shown.insert(0, markdown(f"**Only part of the change is shown: {whole_change}.**"))
    return shown or [fenced(block.diff, "diff")]


def _text(block: DisplayBlock) -> ToolCallContentVariant:
    match block:
        case display.MarkdownBlock(text):
            return markdown(text)
        case display.TextBlock(text):
            return fenced(text)
        case display.TerminalBlock(command, output, code):
            ended = "" if code is None else f"exit code {code}"
            return fenced("\n".join(filter(None, (f"$ {command}", output.strip("\n"), ended))), "console")
        case display.TableBlock(columns, rows):
            return fenced("\n".join("  ".join(row) for row in (columns, *rows)))
        case display.ImageBlock():
            return fenced(block.describe())
        case display.SubagentsBlock(children):
            return fenced(
                "\n".join(f"{each.agent}, {each.state}: {each.summary or each.task}" for each in children)
            )
        case display.TodosBlock(items):
            return fenced("\n".join(item.content for item in items))
        case display.DiffBlock(diff=diff):
            return fenced(diff, "diff")
        case _:
            assert_never(block)


def markdown(text: str) -> ToolCallContentVariant:
    """Return text that the editor renders as Markdown."""
    return tool_content(text_block(_cut(safe_text(text))))


def fenced(text: str, language: str = "") -> ToolCallContentVariant:
    """Return text as a code block, because editors render Markdown."""
    shown = _cut(safe_text(text)).strip("\n")
    longest = max((len(run) for run in re.findall(r"`{3,}", shown)), default=2)
    fence = "`" * (longest + 1)
    return tool_content(text_block(f"{fence}{language}\n{shown}\n{fence}"))


def _cut(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    half = LONGEST // 2
    return f"{text[:half]}\n… {len(text) - LONGEST:,} characters omitted …\n{text[-half:]}"


def arguments_of(text: str) -> Any:
    """Parse what the model wrote as JSON, or return it as text if it is not JSON."""
    try:
        return valid_json(json.loads(text))
    except (ValueError, RecursionError):
        return valid_text(text)


def locations_of(arguments: Any, directory: Path) -> list[ToolCallLocation]:
    """Return the files that a call names, so that the editor can follow along."""
    if not isinstance(arguments, dict):
        return []
    lines = (arguments.get(name) for name in _LINES)
    line = next((each for each in lines if isinstance(each, int) and each > 0), None)
    names = dict.fromkeys(name for key in _PATHS for name in _names(arguments.get(key)))
    return [location(Path(name), directory, line if len(names) == 1 else None) for name in names]


def _names(value: object) -> Iterator[str]:
    match value:
        case str() if value and "\0" not in value:
            yield value
        case list():
            for each in value:
                yield from _names(each)
        case {"path": str(path)}:
            yield from _names(path)
        case _:
            return


def location(path: Path, directory: Path, line: int | None = None) -> ToolCallLocation:
    return ToolCallLocation(path=valid_text(os.path.normpath(directory / path)), line=line)
