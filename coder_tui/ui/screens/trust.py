"""The question whether a project's own settings may be used; guarded as approvals are."""

import asyncio
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import assert_never

from textual.app import ComposeResult

from coder_tui.config.instructions import ANY_CONTENT
from coder_tui.config.inventory import FileState, ProjectInventory
from coder_tui.config.project import ProjectFile, ProjectFileError, read_project_file
from coder_tui.ui.approval_guard import ApprovalGuard, Choice
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.keys import Context, bindings
from coder_tui.ui.screens.guarded import SCROLL_FIRST, GuardedScreen
from coder_tui.ui.widgets.trust_dialog import TrustDialog

MOST_SHOWN = 200_000
"""Bytes of all files together."""
LETTERS = {"n": Choice.DENY, "v": Choice.SHOW, "y": Choice.REMIND}


class TrustAnswer(StrEnum):
    TRUST = "trust"
    REFUSE = "refuse"
    LATER = "later"
    """Neither yes nor no: it is asked again at the next start."""
    DOCKED = "docked"
    """No answer at all: the person was typing, or there was no room."""


class TrustScreen(GuardedScreen[TrustAnswer]):
    """Shows what the project brings along."""

    BINDINGS = bindings(Context.TRUST)
    help_context = Context.TRUST

    def __init__(
        self,
        inventory: ProjectInventory,
        chrome: Chrome,
        spill: Callable[[str], None],
        clock: Callable[[], float],
    ) -> None:
        """`spill` takes typed characters to the draft."""
        self._inventory = inventory
        self._dialog = TrustDialog(inventory, chrome)
        self._spill = spill
        self._has_files = False
        super().__init__(self._dialog, ApprovalGuard(LETTERS, 0, clock()), clock)

    def compose(self) -> ComposeResult:
        yield self._dialog

    def dock(self) -> None:
        self._close(TrustAnswer.DOCKED)

    def choose(self, choice: Choice) -> None:
        match choice:
            case Choice.CANCEL if self._dialog.has_class("-files"):
                self._show_files(is_open=False)
            case Choice.ALLOW if not self._dialog.is_end_seen:
                self._show_files(is_open=False)
                self._dialog.note(SCROLL_FIRST)
            case Choice.ALLOW:
                self._close(TrustAnswer.TRUST)
            case Choice.DENY:
                self._close(TrustAnswer.REFUSE)
            case Choice.SHOW:
                self.run_worker(self._toggle_files(), group="files", exclusive=True)
            case Choice.REMIND:
                self._dialog.note("Ctrl+Y trusts it.")
            case Choice.CANCEL | Choice.ALWAYS | Choice.EXPLAIN | Choice.EDIT | Choice.WHY | Choice.HUNK:
                self._close(TrustAnswer.LATER)
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

    def _close(self, answer: TrustAnswer) -> None:
        if typed := self.guard.release():
            self._spill(typed)
        self.dismiss(answer)


def file_texts(inventory: ProjectInventory) -> tuple[tuple[str, str], ...]:
    """Each file that is not trusted yet, with its text or why there is none. Blocks."""
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
            texts.append((file.name, "(changed since it was listed, so it stays untrusted)"))
        elif len(found.data) > room:
            texts.append((file.name, f"({len(found.data)} bytes, too much to show here)"))
        else:
            room -= len(found.data)
            texts.append((file.name, found.data.decode("utf-8", "replace")))
    return tuple(texts)


def _read(workspace: Path, file: FileState) -> ProjectFile | None:
    if file.sha256 != ANY_CONTENT:
        return read_project_file(workspace, file.name)
    # Instructions may lie further out in the repository.
    place = (workspace / file.name).parent.resolve() / Path(file.name).name
    return read_project_file(place.parent, place.name)
