"""The few symbols of the screen, with a plain set for terminals that measure them wrongly.

How much of a model's thinking is shown.
"""

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Glyphs:
    ok: str = "✓"
    failed: str = "✗"
    denied: str = "⊘"
    stopped: str = "■"
    running: str = "▶"
    waiting: str = "?"
    pending: str = "○"
    user: str = "▌"
    reply: str = "◆"
    thinking: str = "◇"
    edge: str = "│"
    rule: str = "─"
    cross: str = "┼"
    bullet: str = "•"
    quote: str = "▎"
    folded: str = "▸"
    more: str = "…"
    wrapped: str = "↳"
    info: str = "·"
    warning: str = "!"
    blank: str = "·"
    tab: str = "→"
    hatch: str = "╱"
    carriage_return: str = "␍"
    picture: str = "▣"
    times: str = "×"


UNICODE = Glyphs()
ASCII = Glyphs(
    ok="+",
    failed="x",
    denied="/",
    stopped="#",
    running=">",
    pending="o",
    user="|",
    reply="*",
    thinking="~",
    edge="|",
    rule="-",
    cross="+",
    bullet="-",
    quote="|",
    folded=">",
    more="...",
    wrapped="\\",
    info="-",
    blank=".",
    tab=">",
    hatch="/",
    carriage_return="^M",
    picture="#",
    times="x",
)


class ThinkingLevel(StrEnum):
    HIDDEN = "hidden"
    SUMMARY = "summary"
    FULL = "full"

    @property
    def next(self) -> "ThinkingLevel":
        levels = list(ThinkingLevel)
        return levels[(levels.index(self) + 1) % len(levels)]
