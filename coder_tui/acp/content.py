"""What a call shows, as an editor shows it: text, diffs, places in files.

A diff as two texts, which is how editors want a change: whole files where the disk still fits it.
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

from coder_tui.diffs.model import Change, Comparison, FileState, Gap, Same, Section, split_lines
from coder_tui.diffs.unified import parse_unified
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
from coder_tui.text.safe_text import safe_text

LARGEST = 1_000_000
"""Bytes of a file that is sent whole, twice."""


@dataclass(frozen=True, slots=True)
class TextPair:
    """`old` is None for a file that is new; `line` counts from 1."""

    path: Path
    old: str | None
    new: str
    line: int | None = None


def text_pairs(
    comparisons: Iterable[Comparison], directory: Path, *, is_done: bool, is_cut: bool = False
) -> tuple[TextPair, ...]:
    """Blocks. `is_done`: the disk has the new text. What is cut, or does not fit it, goes in pieces."""
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
    """Both texts; None where the file is not what the diff was made from, or what it made."""
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
    """What the diff itself shows, one piece for each stretch of it."""
    pieces: list[TextPair] = []
    for stretch in _stretches(comparison.sections):
        old, new = ("".join(_side(stretch, is_new=is_new)) for is_new in (False, True))
        pieces.append(TextPair(file, old, new, stretch[0].new + 1))
    return pieces


def _stretches(sections: tuple[Section, ...]) -> Iterator[tuple[Section, ...]]:
    stretch: list[Section] = []
    for section in sections:
        if not isinstance(section, Gap):
            stretch.append(section)
        elif stretch:
            yield tuple(stretch)
            stretch = []
    if stretch:
        yield tuple(stretch)


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
"""Characters of one text; an editor keeps all of them for as long as the conversation is open."""
_PATHS = ("path", "file_path", "paths", "files", "source", "destination")
_LINES = ("line", "offset", "start_line")


def whole(text: str) -> str:
    """Without halves of characters, which no message can carry."""
    return text.encode(errors="replace").decode()


def plain(value: Any) -> Any:
    """A JSON value without halves of characters."""
    return json.loads(whole(json.dumps(value, ensure_ascii=False)))


def content_of(block: DisplayBlock, directory: Path, *, is_done: bool) -> list[ToolCallContentVariant]:
    """Blocks: a diff is completed from the file. `is_done` says on which side of it the disk is."""
    if isinstance(block, DiffBlock):
        return _diff(block, directory, is_done=is_done)
    return [_text(block)] if not isinstance(block, TodosBlock) else []


def _diff(block: DiffBlock, directory: Path, *, is_done: bool) -> list[ToolCallContentVariant]:
    """A diff that was cut is told to be: nobody shall approve what they did not see."""
    comparisons = parse_unified(block.diff, block.path)
    additions = sum(comparison.additions for comparison in comparisons)
    deletions = sum(comparison.deletions for comparison in comparisons)
    is_cut = (additions, deletions) != (block.additions, block.deletions)
    pairs = text_pairs(comparisons, directory, is_done=is_done, is_cut=is_cut)
    shown: list[ToolCallContentVariant] = [
        tool_diff_content(str(pair.path), whole(pair.new), None if pair.old is None else whole(pair.old))
        for pair in pairs
    ]
    if is_cut:
        whole_change = f"{block.additions} lines are added and {block.deletions} deleted in all"
        shown.insert(0, said(f"**Only a part of the change is shown here: {whole_change}.**"))
    return shown or [fenced(block.diff, "diff")]


def _text(block: DisplayBlock) -> ToolCallContentVariant:
    match block:
        case MarkdownBlock(text):
            return said(text)
        case TextBlock(text):
            return fenced(text)
        case TerminalBlock(command, output, code):
            ended = "" if code is None else f"exit code {code}"
            return fenced("\n".join(filter(None, (f"$ {command}", output.strip("\n"), ended))), "console")
        case TableBlock(columns, rows):
            return fenced("\n".join("  ".join(row) for row in (columns, *rows)))
        case ImageBlock():
            return fenced(block.words())
        case SubagentsBlock(children):
            return fenced(
                "\n".join(f"{each.agent}, {each.state}: {each.summary or each.task}" for each in children)
            )
        case TodosBlock(items):
            return fenced("\n".join(item.content for item in items))
        case DiffBlock(diff=diff):
            return fenced(diff, "diff")
        case _:
            assert_never(block)


def said(text: str) -> ToolCallContentVariant:
    """Markdown."""
    return tool_content(text_block(_cut(safe_text(text))))


def fenced(text: str, language: str = "") -> ToolCallContentVariant:
    """Text as it is, although editors read Markdown."""
    shown = _cut(safe_text(text)).strip("\n")
    longest = max((len(run) for run in re.findall(r"`{3,}", shown)), default=2)
    fence = "`" * (longest + 1)
    return tool_content(text_block(f"{fence}{language}\n{shown}\n{fence}"))


def _cut(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    half = LONGEST // 2
    return f"{text[:half]}\n… {len(text) - LONGEST:,} characters are left out …\n{text[-half:]}"


def arguments_of(text: str) -> Any:
    """What the model wrote, as JSON where it is some."""
    try:
        return plain(json.loads(text))
    except (ValueError, RecursionError):
        return whole(text)


def places_of(arguments: Any, directory: Path) -> list[ToolCallLocation]:
    """The files that a call names, so that an editor can follow along."""
    if not isinstance(arguments, dict):
        return []
    lines = (arguments.get(name) for name in _LINES)
    line = next((each for each in lines if isinstance(each, int) and each > 0), None)
    names = dict.fromkeys(name for key in _PATHS for name in _names(arguments.get(key)))
    return [place(Path(name), directory, line if len(names) == 1 else None) for name in names]


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


def place(path: Path, directory: Path, line: int | None = None) -> ToolCallLocation:
    return ToolCallLocation(path=whole(os.path.normpath(directory / path)), line=line)
