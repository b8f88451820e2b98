"""Asks whether to trust a project, before its settings are used. The dialog is guarded like an approval."""

import asyncio
import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, assert_never

from textual.app import App, ComposeResult
from textual.content import Content
from textual.widgets import Static

from coder_tui.config.inventory import FileState, ItemKind, ProjectInventory, ProjectItem
from coder_tui.config.project import ANY_CONTENT, ProjectFile, ProjectFileError, read_project_file
from coder_tui.protocol.display import TextBlock
from coder_tui.protocol.errors import UserError
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.text.safe_text import safe_line
from coder_tui.ui.chrome.banners import TooSmall
from coder_tui.ui.chrome.status_bar import short_path
from coder_tui.ui.draw.strips import cut
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.keys import Context, bindings
from coder_tui.ui.launch import AnswerKeys, Launch
from coder_tui.ui.requests.details import Detail, Weight
from coder_tui.ui.requests.dialog_frame import Answer, GuardedDialog, MustReadScroll
from coder_tui.ui.requests.guarded_screen import SCROLL_FIRST, DialogContext, GuardedScreen
from coder_tui.ui.requests.key_guard import ApprovalGuard, Choice
from coder_tui.ui.requests.preview import BlockView, DetailRows

if TYPE_CHECKING:
    from coder_tui.ui.session.screen import SessionScreen


INTRO = "This folder has its own settings. Until you trust it, they can only add restrictions."
ANSWERS = (
    Answer(Choice.ALLOW, "^Y", "trust"),
    Answer(Choice.SHOW, "v", "show the files"),
    Answer(Choice.DENY, "n", "no, do not ask again"),
    Answer(Choice.CANCEL, "Esc", "not now"),
)


_KIND_WIDTH = max(map(len, ItemKind))


class ItemList(MustReadScroll):
    """Lists what trust would turn on, then what does not depend on it."""

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
        yield from self._section("Trusting it turns on", self._questions, Weight.WARNING)
        yield from self._section("Not affected by your answer", self._known, Weight.PLAIN)

    def _section(self, head: str, items: tuple[ProjectItem, ...], weight: Weight) -> ComposeResult:
        if items:
            yield Static(head, classes="head", markup=False)
        for file in dict.fromkeys(item.file for item in items):
            yield Static(Content(safe_line(file)), classes="file", markup=False)
            rows = item_rows(tuple(item for item in items if item.file == file), weight)
            yield DetailRows(rows, glyphs=self._chrome, label_width=_KIND_WIDTH)


class FileList(MustReadScroll):
    """Shows the project's files as they were when they were listed."""

    DEFAULT_CSS = (
        "FileList { display: none; .head { height: auto; text-style: bold; color: $text-primary; } }"
    )

    def __init__(self, chrome: Chrome) -> None:
        super().__init__(id="files")
        self._chrome = chrome

    async def show(self, texts: tuple[tuple[str, str], ...]) -> None:
        """Show each name with its text."""
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
    def scrolled(self) -> MustReadScroll:
        return self.files if self.has_class("-files") else self._items

    @property
    def is_end_seen(self) -> bool:
        return self._items.is_end_seen

    def compose(self) -> ComposeResult:
        yield self._items
        yield self.files
        yield self._note
        yield self.row

    def heading(self, width: int) -> str:
        question = f"Trust this project?  {safe_line(short_path(self._workspace))}"
        return cut(question, width, self._chrome.more)


def item_rows(items: tuple[ProjectItem, ...], weight: Weight) -> tuple[Detail, ...]:
    """Return the kind, sentence and line of each item. A kind is not repeated in the next row."""
    rows = []
    before: ItemKind | None = None
    for item in items:
        kind = "" if item.kind is before else str(item.kind)
        line = f"line {item.line}" if item.line else ""
        rows.append(Detail(kind, safe_line(item.sentence), line, weight))
        before = item.kind
    return tuple(rows)


MOST_SHOWN = 200_000
"""Most bytes of all files together."""
LETTERS = {"n": Choice.DENY, "v": Choice.SHOW, "y": Choice.REMIND}


class TrustAnswer(StrEnum):
    TRUST = "trust"
    REFUSE = "refuse"
    LATER = "later"
    """Neither yes nor no: the program asks again at the next start."""


class TrustScreen(GuardedScreen[TrustAnswer]):
    """Shows what the project's own files would change."""

    BINDINGS = bindings(Context.TRUST)
    help_context = Context.TRUST
    _dialog: TrustDialog

    def __init__(self, inventory: ProjectInventory, context: DialogContext) -> None:
        self._inventory = inventory
        self._has_files = False
        guard = ApprovalGuard(LETTERS, 0, context.clock())
        super().__init__(TrustDialog(inventory, context.chrome), guard, context)

    def choose(self, choice: Choice) -> None:
        match choice:
            case Choice.CANCEL if self._dialog.has_class("-files"):
                self._show_files(is_open=False)
            case Choice.ALLOW if not self._dialog.is_end_seen:
                self._show_files(is_open=False)
                self._dialog.note(SCROLL_FIRST)
            case Choice.ALLOW:
                self.close(TrustAnswer.TRUST)
            case Choice.DENY:
                self.close(TrustAnswer.REFUSE)
            case Choice.SHOW:
                self.run_worker(self._toggle_files(), group="files", exclusive=True)
            case Choice.REMIND:
                self._dialog.note("Press Ctrl+Y to trust it.")
            case Choice.CANCEL | Choice.ALWAYS | Choice.EXPLAIN | Choice.EDIT | Choice.WHY | Choice.HUNK:
                self.close(TrustAnswer.LATER)
            case _:
                assert_never(choice)

    async def _toggle_files(self) -> None:
        if not self._has_files:
            self._has_files = True
            await self._dialog.files.show(await asyncio.to_thread(file_texts, self._inventory))
        self._show_files(is_open=not self._dialog.has_class("-files"))

    def _show_files(self, *, is_open: bool) -> None:
        self._dialog.set_class(is_open, "-files")
        self.show_state()


def file_texts(inventory: ProjectInventory) -> tuple[tuple[str, str], ...]:
    """Return each untrusted file with its text, or why it cannot be shown. Blocks."""
    texts = []
    room = MOST_SHOWN
    for file in inventory.files:
        if file.is_trusted:
            continue
        try:
            found = _read(Path(inventory.workspace), file)
        except ProjectFileError as error:
            texts.append((file.name, f"({error})"))
            continue
        if found is None or file.sha256 not in (found.sha256, ANY_CONTENT):
            texts.append((file.name, "(changed since it was listed, so it is not trusted)"))
        elif len(found.data) > room:
            texts.append((file.name, f"({len(found.data)} bytes, too large to show here)"))
        else:
            room -= len(found.data)
            texts.append((file.name, found.data.decode("utf-8", "replace")))
    return tuple(texts)


def _read(workspace: Path, file: FileState) -> ProjectFile | None:
    if file.sha256 != ANY_CONTENT:
        return read_project_file(workspace, file.name)
    # Instructions may be in a parent folder of the workspace.
    place = (workspace / file.name).parent.resolve() / Path(file.name).name
    return read_project_file(place.parent, place.name)


WAITS = "This project needs your trust. You will be asked once your draft is sent or empty."


async def ask_for_trust(app: App[Any], screen: "SessionScreen", launch: Launch) -> None:
    """Return once the user has answered or there is nothing to ask.

    If the answer cannot be stored, the project is not trusted and the user sees why.
    """
    try:
        inventory = await launch.trust.question()
        if inventory is not None:
            answer = await _answer(app, screen, inventory)
            if answer is TrustAnswer.TRUST:
                await launch.trust.accept(inventory)
            elif answer is TrustAnswer.REFUSE:
                await launch.trust.refuse(inventory)
    except UserError as error:
        screen.transcript.add_note(NoticeLevel.WARNING, str(error))


async def _answer(app: App[Any], screen: "SessionScreen", inventory: ProjectInventory) -> TrustAnswer:
    is_announced = False
    while not TooSmall.is_too_small(app.size):
        if not screen.prompt.is_empty and not is_announced:
            is_announced = True
            screen.transcript.add_note(NoticeLevel.INFO, WAITS)
        await screen.widgets.presenter.wait_for_quiet()
        context = DialogContext(screen.chrome, screen.prompt.type_text, time.monotonic, AnswerKeys.LETTERS)
        closed = await app.push_screen_wait(TrustScreen(inventory, context))
        if closed.reply is not None:
            return closed.reply
    return TrustAnswer.LATER
