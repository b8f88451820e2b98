"""The symbols of the screen, with an ASCII set for terminals that measure them wrong, and thinking levels."""

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Glyphs:
    """The signs in drawn blocks."""

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


@dataclass(frozen=True, slots=True)
class Chrome(Glyphs):
    """Also the signs around them. No sign is the only clue: a word or a position always says the same."""

    branch: str = "⎇ "
    full: str = "█"
    empty: str = "░"
    hold: str = "○"
    ready: str = "●"
    prompt: str = "❯"
    down: str = "↓"
    dash: str = "—"
    dot: str = "·"
    to: str = "–"
    hidden: str = "•"


UNICODE = Chrome()
ASCII = Chrome(
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
    branch="git:",
    full="#",
    empty=".",
    hold="o",
    ready="*",
    prompt=">",
    down="v",
    dash="-",
    dot="-",
    to="-",
    hidden="*",
)


def chrome(*, use_ascii: bool) -> Chrome:
    return ASCII if use_ascii else UNICODE


class ThinkingLevel(StrEnum):
    HIDDEN = "hidden"
    SUMMARY = "summary"
    FULL = "full"

    @property
    def next(self) -> "ThinkingLevel":
        levels = list(ThinkingLevel)
        return levels[(levels.index(self) + 1) % len(levels)]
