"""Reads blocks of the transcript: copies them, shows them in full, opens them in an editor."""

import asyncio
import os
import re
from collections.abc import Callable, Collection, Coroutine, Sequence
from functools import partial
from typing import TYPE_CHECKING

from coder_tui.protocol.display import DiffBlock, SubagentsBlock
from coder_tui.protocol.requests import Editable
from coder_tui.protocol.subagents import ChildLine
from coder_tui.ui.clipboard import Clipboard
from coder_tui.ui.draw.call_entry import CallEntry
from coder_tui.ui.draw.entries import Entry
from coder_tui.ui.external_editor import Edited, ExternalEditor, NoEditor, NotEdited
from coder_tui.ui.session.body import NOT_YET
from coder_tui.ui.textual_internals import keep_for_pasting, write_to_terminal
from coder_tui.ui.transcript.scroll import source_of_block

if TYPE_CHECKING:
    from textual.worker import Worker

    from coder_tui.ui.session.parts import SessionWidgets
    from coder_tui.ui.session.screen import SessionScreen
    from coder_tui.ui.transcript.pager import PagerScreen


READ_AT_ONCE = 200_000
"""Characters; longer texts are prepared in a thread."""
_HUNK = re.compile(r"^@@ [^+]*\+(\d+)", re.MULTILINE)


class BlockReader:
    """Serves one session screen."""

    def __init__(self, screen: "SessionScreen", widgets: "SessionWidgets") -> None:
        self._screen = screen
        self._widgets = widgets
        self._show = widgets.hints.show
        self._last_code = ("", 0)
        self._editing: Worker[None] | None = None

    def copy(self, text: str) -> None:
        self._screen.run_worker(self._copy(text, ""), group="copy")

    def copy_code(self, text: str) -> None:
        """Copy a piece of code; each further press copies the next one of the same block."""
        # Parsing Markdown is not needed before the first paint.
        from coder_tui.ui.draw.markdown import code_blocks

        codes = code_blocks(text)
        if not codes:
            self._show("This block has no code.")
            return
        number = self._last_code[1] + 1 if self._last_code[0] == text else 0
        self._last_code = (text, number)
        place = number % len(codes)
        which = f" (code {place + 1} of {len(codes)})" if len(codes) > 1 else ""
        self._screen.run_worker(self._copy(codes[place], which), group="copy")

    def list_subagents(self, only: Collection[str] | None = None) -> None:
        """List the sub-agents of the session, or some of them, to read or stop them."""
        session = self._widgets.sender.session
        if session is None:
            self._show(NOT_YET)
            return
        from coder_tui.ui.lists.background import ChildPage, SubagentsScreen

        app, chrome = self._screen.app, self._screen.chrome

        def read(line: ChildLine) -> None:
            app.push_screen(ChildPage(line, session, chrome, self.copy, self.edit))

        app.push_screen(SubagentsScreen(chrome, session, read, only))

    def read(self, block: Sequence[Entry]) -> None:
        if isinstance(block[0], CallEntry) and isinstance(block[0].display, SubagentsBlock):
            self.list_subagents({child.child_id for child in block[0].display.children})
            return
        from coder_tui.ui.transcript.pager import PagerScreen, whole_entries

        page = PagerScreen(title_of(block), self._screen.chrome, self.copy, self.edit)
        source = source_of_block(block)
        if len(source) > READ_AT_ONCE:
            self._screen.run_worker(self._fill(page, block, source), group="read")
        else:
            page.pager.show(whole_entries(block), source)
        self._screen.app.push_screen(page)
        if isinstance(block[0], CallEntry) and block[0].call_id:
            self._screen.run_worker(self._complete(page, block, block[0].call_id), group="read")

    def read_text(self, title: str, text: str) -> None:
        """Show any other text, which must be safe already."""
        from coder_tui.ui.transcript.pager import PagerScreen, plain_entries

        page = PagerScreen(title, self._screen.chrome, self.copy, self.edit)
        page.pager.show(plain_entries(text), text)
        self._screen.app.push_screen(page)

    def open(self, block: Sequence[Entry]) -> None:
        """Open the file that was changed, if it still exists; else the text of the block."""
        change = block[0].display if isinstance(block[0], CallEntry) else None
        if isinstance(change, DiffBlock) and change.path and (self._screen.directory / change.path).is_file():
            self.open_place(change.path, first_changed_line(change.diff), 1)
        else:
            self.edit(source_of_block(block))

    def edit(self, text: str) -> None:
        self.start_editor(partial(self._edit, text))

    def open_place(self, path: str, line: int, column: int) -> None:
        """Open a place in a file in the user's editor."""
        self.start_editor(partial(self._open, path, line, column))

    def start_editor(self, edit: Callable[[], Coroutine[None, None, None]]) -> None:
        """Run an editor, unless one has the terminal already."""
        if self._editing is None or self._editing.is_finished:
            self._editing = self._screen.run_worker(edit(), group="read")

    @property
    def editor(self) -> ExternalEditor:
        launch = self._screen.launch
        return ExternalEditor(os.environ, launch.edits, launch.directory)

    def stop(self) -> None:
        """Stop the editor before the program ends, so that it gives the terminal back."""
        if self._editing is not None and not self._editing.is_finished:
            self._editing.cancel()

    async def _copy(self, text: str, which: str) -> None:
        app, clipboard = self._screen.app, Clipboard(self._screen.launch.directory)
        keep_for_pasting(app, text)
        words = await clipboard.copy(text, partial(write_to_terminal, app))
        self._show(f"{words.removesuffix('.')}{which}.")

    async def _complete(self, page: "PagerScreen", block: Sequence[Entry], call_id: str) -> None:
        """Show all that a command printed, which may be more than its block holds."""
        session = self._widgets.sender.session
        output = None if session is None else await session.report.whole_output(call_id)
        if output is not None and page.is_attached:
            await self._fill(page, block, output, output)

    async def _fill(
        self, page: "PagerScreen", block: Sequence[Entry], source: str, output: str | None = None
    ) -> None:
        """Fill the page from a thread: making megabytes safe takes a while."""
        from coder_tui.ui.transcript.pager import whole_entries

        page.pager.show(await asyncio.to_thread(whole_entries, block, output), source)

    async def _edit(self, text: str) -> None:
        match await self.editor.edit(self._screen.app, Editable("block", text, ".md")):
            case Edited():
                self._show("The transcript stays as it was. Your changes are not saved.")
            case NoEditor(reason):
                self._show(reason)
            case NotEdited():
                pass

    async def _open(self, path: str, line: int, column: int) -> None:
        reason = await self.editor.open_at(self._screen.app, self._screen.directory / path, line, column)
        if reason:
            self._show(reason)


def first_changed_line(diff: str) -> int:
    """Return the first changed line, counted in the file after the change."""
    head = _HUNK.search(diff)
    if head is None:
        return 1
    line = int(head[1])
    for row in diff[head.end() :].split("\n")[1:]:
        if not row.startswith(" "):
            break
        line += 1
    return max(1, line)


def title_of(block: Sequence[Entry]) -> str:
    match block[0]:
        case CallEntry(tool=tool, summary=summary):
            return f"{tool}  {summary}".rstrip()
        case other:
            return other.source.strip("\n #>*").partition("\n")[0]
