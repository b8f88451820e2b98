"""What the approval dialog says about a request besides its preview: title and facts, safe to show."""

from pathlib import Path
from typing import assert_never

from rich.cells import cell_len
from textual.content import Content

from coder_tui.protocol.display import (
    DiffBlock,
    DisplayBlock,
    MarkdownBlock,
    TableBlock,
    TerminalBlock,
    TextBlock,
    TodosBlock,
)
from coder_tui.protocol.requests import ApprovalRequest
from coder_tui.text.safe_text import has_unsafe, safe_line
from coder_tui.ui.drawing.strips import cut
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.widgets.status_bar import short_path

CLAIM = 'the model says: "'
"""How a fact begins that is the model's own word; the program has not checked it."""

LONGEST_FACT = 200
LONGEST_CLAIM = 100


def title(request: ApprovalRequest, place: str, width: int, chrome: Chrome) -> str:
    """One line: the question gives way to its place in the queue, and the folder goes first."""
    question = safe_line(request.title)
    extent = _extent(request.preview)
    tail = "  ".join(part for part in (place, "" if extent in question else extent) if part)
    if cell_len(f"{question}  {tail}") <= width:
        return f"{question}  {tail}".rstrip()
    tail = place
    room = width - cell_len(tail) - 2 if tail else width
    return f"{cut(question, room, chrome.more)}  {tail}".rstrip()


def facts(request: ApprovalRequest, chrome: Chrome) -> Content:
    """What the program knows comes first, so that no length of a claim can push it out of view."""
    parts: list[tuple[str, str]] = []
    if has_unsafe(request.title) or has_unsafe(_raw(request.preview)):
        parts.append(("holds invisible or control characters, shown as signs", "bold $text-warning"))
    kept, lost = ("old version kept", "$text-success"), ("no undo", "$text-warning")
    parts.append(kept if request.is_undoable else lost)
    if request.rule:
        parts.append((cut(f"rule: {safe_line(request.rule)}", LONGEST_FACT, chrome.more), ""))
    known = [fact for fact in request.facts if not fact.startswith(CLAIM)]
    parts += [(cut(safe_line(fact), LONGEST_FACT, chrome.more), "") for fact in known]
    parts += [(_claim(fact, chrome), "italic") for fact in request.facts if fact.startswith(CLAIM)]
    dot = Content(f" {chrome.dot} ")
    return dot.join([Content.styled(text, style) if style else Content(text) for text, style in parts])


def _claim(fact: str, chrome: Chrome) -> str:
    words = safe_line(fact.removeprefix(CLAIM).removesuffix('"'))
    return f'{CLAIM}{cut(words, LONGEST_CLAIM, chrome.more)}"'


def _extent(preview: DisplayBlock) -> str:
    """Where a command runs, how much an edit changes."""
    match preview:
        case TerminalBlock(directory=directory):
            return f"in {safe_line(short_path(Path(directory)))}" if directory else ""
        case DiffBlock(additions=additions, deletions=deletions):
            return f"+{additions} -{deletions}"
        case TextBlock() | MarkdownBlock() | TodosBlock() | TableBlock():
            return ""
        case _:
            assert_never(preview)


def _raw(preview: DisplayBlock) -> str:
    """The text that would be run or written, where there is one."""
    match preview:
        case TerminalBlock():
            return preview.command
        case DiffBlock():
            return preview.diff
        case TextBlock() | MarkdownBlock():
            return preview.text
        case TodosBlock() | TableBlock():
            return ""
        case _:
            assert_never(preview)
