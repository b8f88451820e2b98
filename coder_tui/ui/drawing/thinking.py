"""How much of a model's thinking is shown."""

from enum import StrEnum


class ThinkingLevel(StrEnum):
    HIDDEN = "hidden"
    SUMMARY = "summary"
    FULL = "full"

    @property
    def next(self) -> "ThinkingLevel":
        levels = list(ThinkingLevel)
        return levels[(levels.index(self) + 1) % len(levels)]
