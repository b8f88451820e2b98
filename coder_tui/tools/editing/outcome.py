"""The names under which a result tells how its place was found.

What a replacement comes to: the new text and how its place was found, or why it was refused.
"""

from dataclasses import dataclass
from enum import StrEnum

from coder_tui.protocol.errors import ErrorType, ToolError


class Strategy(StrEnum):
    """In the order in which they are tried; several may share one mechanism."""

    EXACT = "exact"
    LINE_TRIMMED = "line_trimmed"
    BLOCK_ANCHOR = "block_anchor"
    WHITESPACE_NORMALIZED = "whitespace_normalized"
    INDENTATION_FLEXIBLE = "indentation_flexible"
    ESCAPE_NORMALIZED = "escape_normalized"
    TRIMMED_BOUNDARY = "trimmed_boundary"
    CONTEXT_AWARE = "context_aware"
    MULTI_OCCURRENCE = "multi_occurrence"

    @property
    def meaning(self) -> str:
        return _MEANINGS[self]


_MEANINGS = {
    Strategy.EXACT: "matched exactly",
    Strategy.LINE_TRIMMED: "matched ignoring blanks around lines",
    Strategy.BLOCK_ANCHOR: "matched by first and last line; other lines differ",
    Strategy.WHITESPACE_NORMALIZED: "matched ignoring white space and typographic characters",
    Strategy.INDENTATION_FLEXIBLE: "matched ignoring indentation",
    Strategy.ESCAPE_NORMALIZED: "matched after line numbers, escapes or fences were removed",
    Strategy.TRIMMED_BOUNDARY: "matched without the blank lines around it",
    Strategy.CONTEXT_AWARE: "matched by most of its lines; others differ",
    Strategy.MULTI_OCCURRENCE: "matched exactly, every occurrence",
}


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
