"""What a replacement comes to: the new text and how its place was found, or why it was refused."""

from dataclasses import dataclass

from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.editing.strategy import Strategy

_MOST_LINES_NAMED = 20


@dataclass(frozen=True, slots=True)
class Replaced:
    """`first_line` to `last_line` is where the old text was, counted from 1."""

    text: str
    replacements: int
    strategy: Strategy
    first_line: int
    last_line: int
    splits_lead: bool = False
    """Whether the old text begins within the blanks that a line begins with: its indentation is not right."""


def several_places(lines: list[int], how: str = "") -> ToolError:
    """Refuse to guess which of several places is meant."""
    named = lines[:_MOST_LINES_NAMED]
    listed = ", ".join(str(line) for line in named) + (", …" if len(lines) > len(named) else "")
    return ToolError(
        ErrorType.AMBIGUOUS_MATCH,
        f"old_string occurs {len(lines)} times{how}, at lines {listed}.",
        "Add lines around it until it is unique, or set replace_all.",
        {"lines": named},
    )
