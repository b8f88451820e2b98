"""What a person does with a block of the transcript: copy it, read all of it, open it in an editor.

Opens the list of sub-agents, and the page on which one's conversation is read.
"""

import asyncio
import os
import re
from collections.abc import Callable, Collection, Coroutine, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from textual.screen import Screen

from coder_tui.protocol.display import DiffBlock, SubagentsBlock
from coder_tui.protocol.subagents import ChildLine
from coder_tui.ui.draw.call_entry import CallEntry
from coder_tui.ui.draw.entries import Entry
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.launch import Launch
from coder_tui.ui.textual_internals import keep_for_pasting, write_to_terminal
from coder_tui.ui.transcript.browsing import source_of_block

if TYPE_CHECKING:
    from textual.worker import Worker

    from coder_tui.agent.session import Session
    from coder_tui.ui.transcript.pager import PagerScreen


class ChildReading:
    """Serves one session screen; `reader` copies and edits what is read."""

    def __init__(self, screen: Screen[None], chrome: Chrome, reader: "BlockReader") -> None:
        self._screen = screen
        self._chrome = chrome
        self._reader = reader

    def open_list(self, session: "Session", only: Collection[str] | None = None) -> None:
        """All of the session, or those of one call."""
        from coder_tui.ui.lists.subagents import SubagentsScreen

        def read(line: ChildLine) -> None:
            from coder_tui.ui.lists.subagents import ChildPage

            page = ChildPage(line, session, self._chrome, self._reader.copy, self._reader.edit)
            self._screen.app.push_screen(page)

        self._screen.app.push_screen(SubagentsScreen(self._chrome, session, read, only))


READ_AT_ONCE = 200_000
"""Characters; more of them are made ready beside the screen."""
_HUNK = re.compile(r"^@@ [^+]*\+(\d+)", re.MULTILINE)


class BlockReader:
    """Serves one session screen; `say` shows a sentence for a moment."""

    def __init__(
        self,
        screen: Screen[None],
        launch: Launch,
        chrome: Chrome,
        session: "Callable[[], Session | None]",
        say: Callable[[str], None],
    ) -> None:
        self._screen = screen
        self._launch = launch
        self._chrome = chrome
        self._session = session
        self._say = say
        self._children = ChildReading(screen, chrome, self)
        self._last_code = ("", 0)
        self._editing: Worker[None] | None = None

    def copy(self, text: str) -> None:
        self._screen.run_worker(self._copy(text, ""), group="copy")

    def copy_code(self, text: str) -> None:
        """Each press takes the next piece of code of the same block."""
        # Parsing Markdown is not needed before the first paint.
        from coder_tui.ui.draw.markdown import code_blocks

        codes = code_blocks(text)
        if not codes:
            self._say("There is no code in this block.")
            return
        number = self._last_code[1] + 1 if self._last_code[0] == text else 0
        self._last_code = (text, number)
        place = number % len(codes)
        which = f" (code {place + 1} of {len(codes)})" if len(codes) > 1 else ""
        self._screen.run_worker(self._copy(codes[place], which), group="copy")

    def list_children(self, only: Collection[str] | None = None) -> None:
        """The sub-agents of the session, or some of them, to be read or stopped."""
        session = self._session()
        if session is None:
            self._say("The session is still being opened.")
        else:
            self._children.open_list(session, only)

    def read(self, block: Sequence[Entry]) -> None:
        if isinstance(block[0], CallEntry) and isinstance(block[0].display, SubagentsBlock):
            self.list_children({child.child_id for child in block[0].display.children})
            return
        from coder_tui.ui.draw.whole import whole_entries
        from coder_tui.ui.transcript.pager import PagerScreen

        pager = PagerScreen(title_of(block), self._chrome, self.copy, self.edit)
        source = source_of_block(block)
        if len(source) > READ_AT_ONCE:
            self._screen.run_worker(self._fill(pager, block, source), group="read")
        else:
            pager.show(whole_entries(block), source)
        self._screen.app.push_screen(pager)
        if isinstance(block[0], CallEntry) and block[0].call_id:
            self._screen.run_worker(self._complete(pager, block, block[0].call_id), group="read")

    def read_text(self, title: str, text: str) -> None:
        """Any other text, safe already."""
        from coder_tui.ui.draw.whole import plain_entries
        from coder_tui.ui.transcript.pager import PagerScreen

        pager = PagerScreen(title, self._chrome, self.copy, self.edit)
        pager.show(plain_entries(text), text)
        self._screen.app.push_screen(pager)

    def open(self, block: Sequence[Entry]) -> None:
        """The file that a change was made to, where it is still there; else the text of the block."""
        change = block[0].display if isinstance(block[0], CallEntry) else None
        session = self._session()
        if isinstance(change, DiffBlock) and session is not None and change.path:
            file = session.directory / change.path
            if file.is_file():
                self._start(self._open_at(file, first_changed_line(change.diff)))
                return
        self.edit(source_of_block(block))

    def edit(self, text: str) -> None:
        self._start(self._edit(text))

    def open_place(self, path: str, line: int, column: int) -> None:
        """Show a place of a file in the person's editor."""
        if self._editing is None or self._editing.is_finished:
            self._editing = self._screen.run_worker(self._open(path, line, column), group="read")

    async def stop(self) -> None:
        """The program is about to end: no editor may keep the terminal."""
        if self._editing is not None and not self._editing.is_finished:
            self._editing.cancel()

    def _start(self, editing: Coroutine[None, None, None]) -> None:
        if self._editing is None or self._editing.is_finished:
            self._editing = self._screen.run_worker(editing, group="read")
        else:
            editing.close()

    async def _copy(self, text: str, which: str) -> None:
        from coder_tui.ui.clipboard import Clipboard

        app = self._screen.app
        clipboard = Clipboard(lambda sequence: write_to_terminal(app, sequence), self._launch.directory)
        keep_for_pasting(app, text)
        words = await clipboard.copy(text)
        self._say(f"{words.removesuffix('.')}{which}.")

    async def _complete(self, pager: "PagerScreen", block: Sequence[Entry], call_id: str) -> None:
        """A command may have printed more than its block holds."""
        session = self._session()
        output = None if session is None else await session.record.whole_output(call_id)
        if output is not None and pager.is_attached:
            await self._fill(pager, block, output, output)

    async def _fill(
        self, pager: "PagerScreen", block: Sequence[Entry], source: str, output: str | None = None
    ) -> None:
        """Megabytes take a while to be made safe."""
        from coder_tui.ui.draw.whole import whole_entries

        pager.show(await asyncio.to_thread(whole_entries, block, output), source)

    async def _open_at(self, file: Path, line: int) -> None:
        from coder_tui.ui.external_editor import ExternalEditor

        editor = ExternalEditor(os.environ, self._launch.edits, self._launch.directory)
        if problem := await editor.open_at(self._screen.app, file, line, 1):
            self._say(problem)

    async def _edit(self, text: str) -> None:
        from coder_tui.protocol.requests import Editable
        from coder_tui.ui.external_editor import Edited, ExternalEditor, NoEditor, NotEdited

        editor = ExternalEditor(os.environ, self._launch.edits, self._launch.directory)
        match await editor.edit(self._screen.app, Editable("block", text, ".md")):
            case Edited():
                self._say("The transcript stays as it was; what you changed is not kept.")
            case NoEditor(reason):
                self._say(reason)
            case NotEdited():
                pass

    async def _open(self, path: str, line: int, column: int) -> None:
        from coder_tui.ui.external_editor import ExternalEditor

        editor = ExternalEditor(os.environ, self._launch.edits, self._launch.directory)
        session = self._session()
        root = self._launch.directory if session is None else session.directory
        if reason := await editor.open_at(self._screen.app, root / path, line, column):
            self._say(reason)


def first_changed_line(diff: str) -> int:
    """In the file as it is after the change."""
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
