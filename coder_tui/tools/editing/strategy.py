"""The names under which a result tells how its place was found."""

from enum import StrEnum


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
