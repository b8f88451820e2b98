"""What a project brings along, item by item, with the question whether to trust it."""

from pathlib import Path

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from coder_tui.config.inventory import ItemKind, ProjectInventory, ProjectItem
from coder_tui.protocol.display import TextBlock
from coder_tui.text.safe_text import safe_line
from coder_tui.ui.approval_guard import Choice
from coder_tui.ui.drawing.strips import cut
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.widgets.block_view import BlockView
from coder_tui.ui.widgets.choices import Answer
from coder_tui.ui.widgets.detail_rows import DetailRows
from coder_tui.ui.widgets.guarded_dialog import TITLE_MARGIN, GuardedDialog
from coder_tui.ui.widgets.request_words import Detail, Weight
from coder_tui.ui.widgets.seen_scroll import SeenScroll
from coder_tui.ui.widgets.status_bar import short_path

INTRO = "This folder brings its own settings. Until you trust them, they can only make things stricter."
ANSWERS = (
    Answer(Choice.ALLOW, "^Y", "trust"),
    Answer(Choice.SHOW, "v", "show the files"),
    Answer(Choice.DENY, "n", "no, do not ask again"),
    Answer(Choice.CANCEL, "Esc", "not now"),
)


_KIND_WIDTH = max(map(len, ItemKind))


class ItemList(SeenScroll):
    """What trust would switch on, then what is only worth knowing."""

    DEFAULT_CSS = """
    ItemList {
        .intro { height: auto; color: $text-muted; }
        .head { height: 1; margin: 1 0 0 0; text-style: bold; }
        .file { height: auto; color: $text-primary; }
    }
    """

    def __init__(self, inventory: ProjectInventory, chrome: Chrome) -> None:
        super().__init__(id="items")
        self._chrome = chrome
        self._questions = inventory.questions
        self._known = tuple(item for item in inventory.items if not item.needs_trust)

    def compose(self) -> ComposeResult:
        yield Static(INTRO, classes="intro", markup=False)
        yield from self._section("Trust switches on", self._questions, Weight.WARNING)
        yield from self._section("Worth knowing, whatever you answer", self._known, Weight.PLAIN)

    def _section(self, head: str, items: tuple[ProjectItem, ...], weight: Weight) -> ComposeResult:
        if items:
            yield Static(head, classes="head", markup=False)
        for file in dict.fromkeys(item.file for item in items):
            yield Static(Content(safe_line(file)), classes="file", markup=False)
            rows = item_rows(tuple(item for item in items if item.file == file), weight)
            yield DetailRows(rows, glyphs=self._chrome, label_width=_KIND_WIDTH)


class FileList(SeenScroll):
    """The files themselves, as they were when they were listed."""

    DEFAULT_CSS = (
        "FileList { display: none; .head { height: auto; text-style: bold; color: $text-primary; } }"
    )

    def __init__(self, chrome: Chrome) -> None:
        super().__init__(id="files")
        self._chrome = chrome

    async def show(self, texts: tuple[tuple[str, str], ...]) -> None:
        """Each name with its text."""
        for name, text in texts:
            await self.mount(Static(Content(safe_line(name)), classes="head", markup=False))
            await self.mount(BlockView(TextBlock(text), glyphs=self._chrome))


class TrustDialog(GuardedDialog):
    DEFAULT_CSS = """
    TrustDialog {
        AnswerRow { border-top: solid $border-blurred; }
        &.-files { FileList { display: block; } ItemList { display: none; } }
    }
    """

    def __init__(self, inventory: ProjectInventory, chrome: Chrome) -> None:
        super().__init__(chrome, ANSWERS)
        self._workspace = Path(inventory.workspace)
        self._items = ItemList(inventory, chrome)
        self.files = FileList(chrome)

    @property
    def scrolled(self) -> SeenScroll:
        return self.files if self.has_class("-files") else self._items

    @property
    def is_end_seen(self) -> bool:
        return self._items.is_end_seen

    def compose(self) -> ComposeResult:
        yield self._items
        yield self.files
        yield self._note
        yield self.row

    def on_resize(self) -> None:
        width = max(1, self.outer_size.width - TITLE_MARGIN)
        question = f"Trust this project?  {safe_line(short_path(self._workspace))}"
        self.border_title = Content(cut(question, width, self._chrome.more))


def item_rows(items: tuple[ProjectItem, ...], weight: Weight) -> tuple[Detail, ...]:
    """Kind, sentence and line of each; a kind that stands above is not said again."""
    rows = []
    before: ItemKind | None = None
    for item in items:
        kind = "" if item.kind is before else str(item.kind)
        line = f"line {item.line}" if item.line else ""
        rows.append(Detail(kind, safe_line(item.sentence), line, weight))
        before = item.kind
    return tuple(rows)
