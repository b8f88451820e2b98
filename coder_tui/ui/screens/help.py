"""All keys, generated from the table that makes the bindings."""

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from coder_tui.ui.keys import KEYS, Context, bindings, shown

_KEY_COLUMN = 20


def help_text(first: Context) -> Content:
    """Sections by context, the current one first."""
    order = [first, *(context for context in Context if context is not first)]
    return Content("\n\n").join([_section(context) for context in order])


def _section(context: Context) -> Content:
    lines = [Content.styled(context.value, "bold $text-accent")]
    for row in KEYS:
        if row.context is context and row.keys and row.in_help:
            keys = shown(row.keys)
            lines.append(Content.assemble((f"{keys:<{_KEY_COLUMN}} ", "bold"), row.title))
    return Content("\n").join(lines)


class HelpScreen(ModalScreen[None]):
    """A page of keys over the current screen."""

    DEFAULT_CSS = """
    HelpScreen {
        align: center middle; background: $background 60%;
        VerticalScroll {
            width: 72; max-width: 100%; height: auto; max-height: 90%; padding: 0 2; background: $surface;
            border: round $primary; border-title-color: $text-primary; border-title-style: bold;
            scrollbar-size-vertical: 1;
        }
        Static { height: auto; }
    }
    """
    BINDINGS = bindings(Context.HELP)

    def __init__(self, first: Context) -> None:
        super().__init__()
        self._first = first

    def compose(self) -> ComposeResult:
        scroll = VerticalScroll(Static(help_text(self._first), markup=False))
        scroll.border_title = Content("Keys")
        yield scroll
