"""The signs of the chrome, beside those of drawn blocks: one set for Unicode, one for plain terminals."""

from dataclasses import asdict, dataclass

from coder_tui.ui.draw import glyphs as drawn


@dataclass(frozen=True, slots=True)
class Chrome(drawn.Glyphs):
    """No sign stands alone: a word or a position always says the same."""

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
    **asdict(drawn.ASCII),
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
