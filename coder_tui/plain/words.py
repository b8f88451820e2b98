"""What the append-only mode says of blocks, calls and requests: words and numbers, no drawing."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never

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
from coder_tui.protocol.events import ToolFinished
from coder_tui.protocol.outcomes import Outcome
from coder_tui.protocol.requests import (
    ApprovalReply,
    ApprovalRequest,
    Decision,
    PlanDecision,
    PlanReply,
    Reply,
)
from coder_tui.text.safe_text import safe_line, safe_text

FIRST_LINES, LAST_LINES = 10, 20
SHORT = 4
_STATES = {
    Outcome.OK: "done",
    Outcome.FAILED: "failed",
    Outcome.DENIED: "denied",
    Outcome.CANCELLED: "stopped",
}


@dataclass(frozen=True, slots=True)
class Choice:
    """A line of a numbered menu; one that `needs_words` asks for a sentence first."""

    words: str
    reply: Reply
    needs_words: bool = False


def block_text(block: DisplayBlock) -> str:
    """All of it, safe to print."""
    match block:
        case TextBlock(text) | MarkdownBlock(text):
            return safe_text(text).strip("\n")
        case DiffBlock(diff=diff):
            return safe_text(diff).strip("\n")
        case TerminalBlock(command, output, code):
            ended = "" if code is None else f"exit code {code}"
            return safe_text("\n".join(part for part in (f"$ {command}", output.strip("\n"), ended) if part))
        case TodosBlock(items):
            return "\n".join(f"{item.status.replace('_', ' ')}: {safe_line(item.content)}" for item in items)
        case TableBlock(columns, rows):
            return "\n".join(", ".join(map(safe_line, row)) for row in (columns, *rows))
        case ImageBlock():
            return f"picture: {safe_line(block.words())}"
        case SubagentsBlock(children):
            return "\n".join(
                f"{safe_line(child.agent)}, {child.state}: {safe_text(child.summary or child.task)}"
                for child in children
            )
        case _:
            assert_never(block)


def finished_text(event: ToolFinished) -> str:
    """A change and what went wrong are read out, anything else that worked only when it is short."""
    text = block_text(event.display)
    lines = text.count("\n") + 1
    is_folded = event.outcome is Outcome.OK and not isinstance(event.display, DiffBlock)
    if is_folded and lines > SHORT:
        return f"({lines} lines; /show prints them)"
    return shortened(text)


def shortened(text: str) -> str:
    """Beginning and end of a long text; the rest can be asked for."""
    lines = text.split("\n")
    hidden = len(lines) - FIRST_LINES - LAST_LINES
    if hidden <= 1:
        return text
    middle = f"({hidden} lines left out; /show prints all)"
    return "\n".join([*lines[:FIRST_LINES], middle, *lines[-LAST_LINES:]])


def call_line(event: ToolFinished) -> str:
    seconds = f", {event.duration_ms / 1000:.1f} seconds" if event.duration_ms >= 100 else ""
    return safe_line(f"[{event.tool}] {event.summary}: {_STATES[event.outcome]}{seconds}")


def request_lines(request: ApprovalRequest) -> Iterator[str]:
    who = f"{request.agent} asks: " if request.agent else ""
    yield safe_line(f"{who}{request.title}")
    yield from (f"    {line}" for line in block_text(request.preview).split("\n"))
    facts = [*map(str, request.findings), *request.facts]
    facts.append(_undo_words(request))
    if request.sandbox:
        facts.append(f"sandbox: {request.sandbox}")
    if request.rule:
        facts.append(f"rule: {request.rule}")
    yield from (f"  - {safe_line(fact)}" for fact in facts)


def _undo_words(request: ApprovalRequest) -> str:
    if request.is_undoable:
        return "this can be undone"
    if request.is_command:
        return "of this, /undo takes back files here at most, none that are ignored or huge"
    return "this cannot be undone"


def options_of(request: ApprovalRequest) -> tuple[Choice, ...]:
    always = (
        Choice(
            f"allow always: {safe_line(grant.label)}",
            ApprovalReply(Decision.ALLOW_ALWAYS, grant=grant),
        )
        for grant in request.grants
    )
    return (
        Choice("allow once", ApprovalReply(Decision.ALLOW_ONCE)),
        Choice("deny", ApprovalReply(Decision.DENY)),
        Choice("deny and say why", ApprovalReply(Decision.DENY), needs_words=True),
        Choice("stop the turn" if request.is_in_turn else "cancel", ApprovalReply(Decision.CANCEL_TURN)),
        *always,
    )


def plan_options() -> tuple[Choice, ...]:
    return (
        Choice("carry it out", PlanReply(PlanDecision.APPROVE)),
        Choice("do not, keep planning", PlanReply(PlanDecision.REFUSE)),
        Choice("do not, and say why", PlanReply(PlanDecision.REFUSE), needs_words=True),
    )


def menu_lines(options: tuple[Choice, ...]) -> Iterator[str]:
    for number, option in enumerate(options, 1):
        yield f"  {number}  {option.words}"
    yield f"Type a number from 1 to {len(options)}, then Enter:"
