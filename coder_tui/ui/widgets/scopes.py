"""How far "always" would reach: each scope with the exact rule it adds."""

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from coder_tui.protocol.requests import Grant
from coder_tui.text.safe_text import safe_line
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.widgets.seen_scroll import SeenScroll

MOST_SCOPES = 9
"""They are picked by one digit."""


class Scopes(SeenScroll):
    """A rule is never shortened: it scrolls."""

    DEFAULT_CSS = "Scopes { display: none; Static { height: auto; } }"

    def __init__(self, grants: tuple[Grant, ...], chrome: Chrome) -> None:
        super().__init__(id="scopes")
        self._grants = grants[:MOST_SCOPES]
        self._chrome = chrome
        self._lines = Static(self._text(None), markup=False)

    def compose(self) -> ComposeResult:
        yield self._lines

    def mark(self, picked: int | None) -> None:
        self._lines.update(self._text(picked))

    def _text(self, picked: int | None) -> Content:
        head = Content.styled("Always, for this session:", "bold")
        return Content("\n").join([head, *(self._line(index, picked) for index in range(len(self._grants)))])

    def _line(self, index: int, picked: int | None) -> Content:
        grant = self._grants[index]
        mark = self._chrome.ready if index == picked else self._chrome.hold
        style = "bold $text-primary" if index == picked else "$foreground"
        patterns = " ".join(f'"{pattern}"' for pattern in grant.patterns)
        rule = safe_line(f"{grant.key} {patterns}")
        line = f"{index + 1} {mark} {safe_line(grant.label)}  {self._chrome.dot} rule {rule}"
        return Content.styled(line, style)
