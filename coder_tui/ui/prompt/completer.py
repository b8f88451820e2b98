"""Completes files and commands at the cursor, and searches earlier messages (Ctrl+R). No key is lost."""

import asyncio
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from textual import events

from coder_tui.text.fuzzy import FuzzyIndex
from coder_tui.text.mentions import mention
from coder_tui.text.safe_text import safe_line
from coder_tui.ui.prompt.completion_list import Candidate, CompletionList
from coder_tui.ui.prompt.prompt import Prompt

if TYPE_CHECKING:
    from coder_tui.commands.base import Command
    from coder_tui.workspace.search.file_index import FileIndex


MOST = 50
_LABEL = 200


class FileSource:
    """Files in the folder that `directory` returns, which may change with the session."""

    def __init__(
        self, directory: Callable[[], Path], resources: Callable[[], tuple[str, ...]] = tuple
    ) -> None:
        self._directory = directory
        self._resources = resources
        self._index: FileIndex | None = None
        self._indexed: Path | None = None

    async def paths(self, query: str, most: int) -> tuple[str, ...]:
        """Return paths, best match first."""
        return tuple(each.path for each in await (await self._files()).suggest(query, most))

    async def candidates(self, query: str) -> tuple[Candidate, ...]:
        found = await (await self._files()).suggest(query, MOST)
        files = tuple(
            Candidate(mention(each.path), each.path, each.positions, is_final=not each.path.endswith("/"))
            for each in found
        )
        return (*files, *self._resources_for(query))

    def _resources_for(self, query: str) -> tuple[Candidate, ...]:
        """Return resources of MCP servers; none before something is typed."""
        names = self._resources()
        if not names or not query:
            return ()
        index = FuzzyIndex([safe_line(name) for name in names])
        return tuple(
            Candidate(mention(names[match.index]), index.texts[match.index], match.positions, source="mcp")
            for match in index.search(query, MOST)
        )

    def use(self, path: str) -> None:
        """Remember that the user chose this one."""
        if self._index is not None:
            self._index.use(path)

    async def close(self) -> None:
        if self._index is not None:
            await self._index.close()

    async def _files(self) -> "FileIndex":
        from coder_tui.workspace.search.file_index import FileIndex
        from coder_tui.workspace.search.search import Search, search_program

        directory = self._directory()
        if self._index is None or self._indexed != directory:
            await self.close()
            self._index, self._indexed = FileIndex(directory, Search(search_program())), directory
        return self._index


def command_candidates(commands: "Iterable[Command]", query: str) -> tuple[Candidate, ...]:
    by_name = {command.name: command for command in commands}
    index = FuzzyIndex(tuple(by_name))
    found = ((by_name[index.texts[match.index]], match) for match in index.search(query, MOST))
    return tuple(
        Candidate(
            text=f"/{command.name}",
            label=f"/{command.name} {command.argument}".rstrip(),
            positions=tuple(at + 1 for at in match.positions),
            detail=command.summary,
            source=str(command.source),
            is_from_others=command.source.is_from_others,
            # A command that needs an argument cannot run yet.
            is_final=not command.argument or command.argument.startswith("["),
        )
        for command, match in found
    )


def history_candidates(sent: Sequence[str], query: str) -> tuple[Candidate, ...]:
    """Return what was sent before, newest first."""
    entries = tuple(reversed(sent))
    index = FuzzyIndex([entry[:_LABEL].replace("\n", " ") for entry in entries])
    found = index.search(query, MOST)
    # Newest first among exact matches: the age matters more than the position.
    whole = [match for match in found if _is_run(match.positions)]
    rest = [match for match in found if not _is_run(match.positions)]
    ordered = sorted(whole, key=lambda match: match.index) + rest
    return tuple(
        Candidate(entries[match.index], index.texts[match.index], match.positions) for match in ordered
    )


def _is_run(positions: tuple[int, ...]) -> bool:
    return not positions or positions[-1] - positions[0] == len(positions) - 1


_FILE = re.compile(r"""(?:^|(?<=[\s(\[{'`,;]))@(?P<quote>"?)(?P<query>[^\s"'`]*|(?<=")[^"]*)$""")
_COMMAND = re.compile(r"/(?P<query>[\w:-]*)$")
_REST_OF_WORD = re.compile(r"[^\s\"]*\"?")
# A colon alone may also follow the name of a server.
_LINES = re.compile(r":\d+-?\d*$")


class Naming(StrEnum):
    FILE = "file"
    COMMAND = "command"
    HISTORY = "history"


@dataclass(frozen=True, slots=True)
class Trigger:
    """`query` was typed from `start`, the place of `@` or `/`; `end` is where the word ends."""

    naming: Naming
    query: str
    row: int
    start: int
    end: int


def find_trigger(line: str, row: int, column: int) -> Trigger | None:
    """Find what the user is naming at the cursor; None if nothing."""
    before = line[:column]
    if row == 0 and (found := _COMMAND.match(before)):
        return Trigger(Naming.COMMAND, found["query"], row, 0, _end_of_word(line, column))
    found = _FILE.search(before)
    if found is None or _LINES.search(found["query"]):
        return None
    return Trigger(Naming.FILE, found["query"], row, found.start(), _end_of_word(line, column))


def _end_of_word(line: str, column: int) -> int:
    rest = _REST_OF_WORD.match(line, column)
    return rest.end() if rest else column


PATIENCE = 0.5
"""Seconds that a key of the list waits for suggestions: a fast typist expects them, too."""
_KEYS = frozenset({"tab", "enter", "up", "down", "escape", "ctrl+c"})
_HINTS = {
    Naming.FILE: "Tab, Enter accept  Esc close  then :10-20 for lines",
    Naming.COMMAND: "Tab accept  Enter run  Esc close",
    Naming.HISTORY: "type to search  Tab, Enter accept  Esc back to the draft",
}


class Completer:
    """Serves one prompt. `update` is called after every key, `handle_input` before it."""

    def __init__(
        self,
        prompt: Prompt,
        popup: CompletionList,
        files: FileSource,
        commands: "Callable[[], Iterable[Command]]",
    ) -> None:
        self._prompt = prompt
        self._popup = popup
        self._files = files
        self._commands = commands
        self._trigger: Trigger | None = None
        self._shown: Trigger | None = None
        self._dismissed: tuple[Naming, int, int] | None = None
        self._filling: asyncio.Task[None] | None = None
        self._has_moved = False

    @property
    def is_open(self) -> bool:
        return self._popup.is_open

    @property
    def is_settled(self) -> bool:
        """Whether no search is running."""
        return self._filling is None or self._filling.done()

    def update(self) -> None:
        """Find what is being named now; cheap if nothing changed."""
        trigger = self._current()
        if trigger is None or _place(trigger) != self._dismissed:
            self._dismissed = None
        if self._dismissed is not None or trigger is None:
            self._close()
        elif trigger != self._trigger:
            self._trigger = trigger
            if self.is_settled:
                self._filling = asyncio.create_task(self._fill())

    def search_history(self) -> None:
        """Put the draft aside and search for what is typed; if already searching, go to the next entry."""
        if not self._prompt.aside.is_active:
            self._prompt.aside.start()
        elif self._popup.is_open:
            self._popup.move(1)

    async def handle_input(self, event: events.Key | events.Paste) -> bool:
        """Return whether the key was meant for the list."""
        if isinstance(event, events.Paste) or self._trigger is None or event.key not in _KEYS:
            return False
        await self._settle()
        match event.key:
            case "tab" | "enter":
                return self._accept(is_enter=event.key == "enter")
            case "up" | "down" if self._popup.is_open:
                self._has_moved = True
                self._popup.move(-1 if event.key == "up" else 1)
            case "escape" if self._popup.is_open or self._prompt.aside.is_active:
                self._dismiss()
            case "ctrl+c" if self._prompt.aside.is_active:
                self._dismiss()
            case "up" | "down" if self._prompt.aside.is_active:
                pass
            case _:
                return False
        return True

    def click(self, index: int) -> None:
        self._popup.choose(index)
        if self._popup.chosen is not None:
            self._insert(self._popup.chosen)
            self.update()

    async def close(self) -> None:
        if self._filling is not None:
            self._filling.cancel()
        await self._files.close()

    def _current(self) -> Trigger | None:
        row, column = self._prompt.cursor_location
        if self._prompt.aside.is_active:
            return Trigger(Naming.HISTORY, self._prompt.text, 0, 0, len(self._prompt.text))
        if not self._prompt.selection.is_empty:
            return None
        return find_trigger(self._prompt.document.get_line(row), row, column)

    async def _fill(self) -> None:
        """Search one query at a time; after it, only the newest one."""
        while (trigger := self._trigger) is not None and trigger != self._shown:
            candidates = await self._candidates(trigger)
            if trigger == self._trigger:
                self._shown, self._has_moved = trigger, False
                self._popup.show(candidates, _HINTS[trigger.naming])

    async def _candidates(self, trigger: Trigger) -> tuple[Candidate, ...]:
        match trigger.naming:
            case Naming.FILE:
                return await self._files.candidates(trigger.query)
            case Naming.COMMAND:
                return command_candidates(self._commands(), trigger.query)
            case Naming.HISTORY:
                return history_candidates(self._prompt.sent.entries, trigger.query)

    async def _settle(self) -> None:
        if self._filling is not None and not self._filling.done():
            await asyncio.wait({self._filling}, timeout=PATIENCE)

    def _accept(self, *, is_enter: bool) -> bool:
        chosen = self._popup.chosen
        if chosen is None or self._trigger is None or self._shown != self._trigger:
            return self._prompt.aside.is_active  # a query is not a message
        trigger = self._trigger
        if is_enter and trigger.naming is not Naming.HISTORY and self._means_sending(trigger, chosen):
            return False
        self._insert(chosen)
        # A command that needs nothing more runs with the same key.
        return not (is_enter and trigger.naming is Naming.COMMAND and chosen.is_final)

    def _means_sending(self, trigger: Trigger, chosen: Candidate) -> bool:
        is_done = self._written(trigger) == chosen.text
        return is_done or (not trigger.query and not self._has_moved)

    def _written(self, trigger: Trigger) -> str:
        return self._prompt.document.get_line(trigger.row)[trigger.start : trigger.end]

    def _insert(self, chosen: Candidate) -> None:
        trigger = self._trigger
        if trigger is None:
            return
        if trigger.naming is Naming.HISTORY:
            self._prompt.aside.accept(chosen.text)
        else:
            line = self._prompt.document.get_line(trigger.row)
            is_followed = line[trigger.end : trigger.end + 1].isspace()
            space = " " if (chosen.is_final or trigger.naming is Naming.COMMAND) and not is_followed else ""
            start, end = (trigger.row, trigger.start), (trigger.row, trigger.end)
            result = self._prompt.replace(chosen.text + space, start, end, maintain_selection_offset=False)
            self._prompt.move_cursor(result.end_location)
            if trigger.naming is Naming.FILE:
                self._files.use(chosen.label)
        self._close()

    def _dismiss(self) -> None:
        if self._prompt.aside.is_active:
            self._prompt.aside.cancel()
        elif self._trigger is not None:
            self._dismissed = _place(self._trigger)
        self._close()

    def _close(self) -> None:
        self._trigger = self._shown = None
        if self._popup.is_open:
            self._popup.show((), "")


def _place(trigger: Trigger) -> tuple[Naming, int, int]:
    return trigger.naming, trigger.row, trigger.start
