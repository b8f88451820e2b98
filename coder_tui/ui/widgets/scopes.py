"""How far "always" would reach: each scope with the exact rule it adds, and where that is kept."""

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from coder_tui.protocol.requests import Grant, GrantForm, GrantScope
from coder_tui.text.safe_text import safe_line
from coder_tui.ui.drawing.strips import cut
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.widgets.detail_rows import DetailRows
from coder_tui.ui.widgets.request_words import Detail, Weight
from coder_tui.ui.widgets.seen_scroll import SeenScroll

MOST_SCOPES = 9
"""They are picked by one digit."""

_NAMED = 3
_LONGEST = 40
_KEPT = {
    GrantScope.SESSION: "until this session ends",
    GrantScope.PROJECT: "kept in .coder-tui/config.toml of this project",
    GrantScope.USER: "kept in your own settings, for all projects",
}
_READ = {
    GrantForm.EXACT: "exactly",
    GrantForm.FOLDER: "in and below",
    GrantForm.GLOB: "matching",
}


class Scopes(SeenScroll):
    """A rule is never shortened: it scrolls."""

    DEFAULT_CSS = "Scopes { display: none; #scopes-head { height: 1; text-style: bold; } }"

    def __init__(
        self, grants: tuple[Grant, ...], covered: tuple[tuple[str, ...], ...], chrome: Chrome
    ) -> None:
        super().__init__(id="scopes")
        self._grants = grants[:MOST_SCOPES]
        self._covered = covered
        self._chrome = chrome
        self._head = Static(Content("Do not ask again for"), id="scopes-head", markup=False)
        self._rows = DetailRows(self._details(None), glyphs=chrome)

    def compose(self) -> ComposeResult:
        yield self._head
        yield self._rows

    def mark(self, picked: int | None) -> None:
        self._rows.show(self._details(picked))

    def _details(self, picked: int | None) -> tuple[Detail, ...]:
        rows = []
        for index, grant in enumerate(self._grants):
            rows.append(self._detail(index, grant, is_picked=index == picked))
            if covered := self._coverage(index):
                rows.append(Detail("", covered, weight=Weight.CLAIM))
        return tuple(rows)

    def _detail(self, index: int, grant: Grant, *, is_picked: bool) -> Detail:
        mark = self._chrome.ready if is_picked else self._chrome.hold
        weight = Weight.MARKED if is_picked else Weight.PLAIN
        reason = f"{rule(grant)} {self._chrome.dot} {_KEPT[grant.scope]}"
        return Detail(f"{index + 1} {mark}", safe_line(grant.label), reason, weight, is_below=True)

    def _coverage(self, index: int) -> str:
        """What it would have let pass so far, so that its reach is seen in the person's own work."""
        covered = self._covered[index] if index < len(self._covered) else ()
        if not covered:
            return ""
        named = ", ".join(
            cut(safe_line(summary), _LONGEST, self._chrome.more) for summary in covered[:_NAMED]
        )
        rest = f" and {len(covered) - _NAMED} more" if len(covered) > _NAMED else ""
        return f"would have covered {named}{rest}"


def rule(grant: Grant) -> str:
    """The rule in words; every pattern in full."""
    patterns = " and ".join(f'"{pattern}"' for pattern in grant.patterns)
    return safe_line(f"{grant.key} {_READ[grant.form]} {patterns}")
