"""A diff alone on a screen, and ways to look at it."""

from collections.abc import Sequence

from textual.app import App, ComposeResult
from textual.pilot import Pilot

from coder_tui.diffs.compare import compare
from coder_tui.protocol.comparison import Comparison
from coder_tui.ui.diff.view import DiffView
from coder_tui.ui.glyphs import UNICODE, Glyphs
from coder_tui.ui.themes import load_themes

OLD = '''"""Arithmetic."""
import math


def add(a, b):
    return a + b


def sub(a, b):
    return a - b


def mul(a, b):
    """Multiply two numbers and return the product of both of them."""
    return a * b


def div(a, b):
    return a / b


def power(base, exponent):\t
    result = math.pow(base, exponent)  # floats only, which is a pity since integers would be exact here
    return result


def 名前(値):
    return "日本語 テキスト" + str(値)


def last(): return 1'''
GUARD = '    if b == 0:\n        raise ValueError("cannot divide by zero")\n'
NEW = (
    OLD.replace("import math\n", "from decimal import Decimal\n")
    .replace("    return a - b", "\treturn a - b  ")
    .replace(
        "    return a / b",
        '    if b == 0:\n        raise ValueError("cannot divide by zero")\n    return a / b',
    )
    .replace("exponent):\t", "exponent):")
    .replace("math.pow(base, exponent)", "base ** exponent")
    .replace("テキスト", "文字列")
    .replace("return 1", "return 2\n")
)


WIDE, NARROW = (124, 40), (80, 40)
LONG_OLD = "".join(f"value {n}\n" for n in range(1, 101))
LONG_NEW = LONG_OLD.replace("value 30\n", "value thirty\n").replace("value 80\n", "value eighty\n")


def one(old: str | None, new: str | None, path: str = "f.txt") -> list[Comparison]:
    return [compare(old, new, path)]


class DiffApp(App[None]):
    CSS = "DiffView { background: $background; }"

    def __init__(
        self,
        files: Sequence[Comparison],
        theme: str = "coder-dark",
        *,
        glyphs: Glyphs = UNICODE,
    ) -> None:
        super().__init__()
        self.view = DiffView(files, glyphs=glyphs)
        self.moves: list[str] = []
        self._first_theme = theme

    def compose(self) -> ComposeResult:
        yield self.view

    def on_mount(self) -> None:
        for theme in load_themes().themes:
            self.register_theme(theme)
        self.theme = self._first_theme
        self.view.focus()

    def on_diff_view_moved(self, message: DiffView.Moved) -> None:
        self.moves.append(message.hunk)


def drawn(app: DiffApp) -> list[str]:
    """What the terminal shows, blank ends cut, down to the last row that has something."""
    strips = app.screen._compositor.render_strips()
    return "\n".join(strip.text.rstrip() for strip in strips).rstrip("\n").split("\n")


async def until_colored(pilot: Pilot[None]) -> None:
    """Wait until nothing is left to color."""
    app = pilot.app
    assert isinstance(app, DiffApp)
    await pilot.pause()
    while app.view.coloring.is_running:
        await pilot.pause()
    await pilot.pause()
