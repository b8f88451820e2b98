"""Completes the word at the cursor: asks behind the screen, never holds a key up for long, loses none.

Tells from the words before the cursor what the person is naming.
"""

import asyncio
import re
from dataclasses import dataclass
from enum import StrEnum

from textual import events

from coder_tui.ui.prompt.completion_list import Candidate, CompletionList
from coder_tui.ui.prompt.prompt import Prompt
from coder_tui.ui.prompt.sources import CommandSource, FileSource, HistorySource

_FILE = re.compile(r"""(?:^|(?<=[\s(\[{'`,;]))@(?P<quote>"?)(?P<query>[^\s"'`]*|(?<=")[^"]*)$""")
_COMMAND = re.compile(r"/(?P<query>[\w:-]*)$")
_REST_OF_WORD = re.compile(r"[^\s\"]*\"?")
# A colon alone may also stand behind the name of a server.
_LINES = re.compile(r":\d+-?\d*$")


class Naming(StrEnum):
    FILE = "file"
    COMMAND = "command"
    HISTORY = "history"


@dataclass(frozen=True, slots=True)
class Trigger:
    """`query` was typed from `start`, which is where `@` or `/` stands; `end` is where the word ends."""

    naming: Naming
    query: str
    row: int
    start: int
    end: int


def find_trigger(line: str, row: int, column: int) -> Trigger | None:
    """None where nothing is being named."""
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
"""Seconds that a key of the list waits for suggestions: a quick typist means them too."""
_KEYS = frozenset({"tab", "enter", "up", "down", "escape", "ctrl+c"})
_HINTS = {
    Naming.FILE: "Tab, Enter take  Esc close  then :10-20 for lines",
    Naming.COMMAND: "Tab take  Enter run  Esc close",
    Naming.HISTORY: "type to search  Tab, Enter take  Esc back to the draft",
}


@dataclass(frozen=True, slots=True)
class Sources:
    files: FileSource
    commands: CommandSource
    history: HistorySource


class Completer:
    """Serves one prompt. `look` is called after every key, `take` before it."""

    def __init__(self, prompt: Prompt, popup: CompletionList, sources: Sources) -> None:
        self._prompt = prompt
        self._popup = popup
        self._sources = sources
        self._trigger: Trigger | None = None
        self._shown: Trigger | None = None
        self._refused: tuple[Naming, int, int] | None = None
        self._filling: asyncio.Task[None] | None = None
        self._has_moved = False

    @property
    def is_open(self) -> bool:
        return self._popup.is_open

    @property
    def is_settled(self) -> bool:
        """Whether nothing is being looked for."""
        return self._filling is None or self._filling.done()

    def look(self) -> None:
        """See what is being named now; cheap where nothing changed."""
        trigger = self._current()
        if trigger is None or _place(trigger) != self._refused:
            self._refused = None
        if self._refused is not None or trigger is None:
            self._close()
        elif trigger != self._trigger:
            self._trigger = trigger
            if self.is_settled:
                self._filling = asyncio.create_task(self._fill())

    def search_history(self) -> None:
        """The draft is put aside, and what is typed now is looked for."""
        if not self._prompt.is_aside:
            self._prompt.put_aside()
        elif self._popup.is_open:
            self._popup.move(1)

    async def take(self, event: events.Key | events.Paste) -> bool:
        """Whether the key was meant for the list."""
        if isinstance(event, events.Paste) or self._trigger is None or event.key not in _KEYS:
            return False
        await self._settle()
        match event.key:
            case "tab" | "enter":
                return self._taken(is_enter=event.key == "enter")
            case "up" | "down" if self._popup.is_open:
                self._has_moved = True
                self._popup.move(-1 if event.key == "up" else 1)
            case "escape" if self._popup.is_open or self._prompt.is_aside:
                self._refuse()
            case "ctrl+c" if self._prompt.is_aside:
                self._refuse()
            case "up" | "down" if self._prompt.is_aside:
                pass
            case _:
                return False
        return True

    def click(self, index: int) -> None:
        self._popup.choose(index)
        if self._popup.chosen is not None:
            self._put(self._popup.chosen)
            self.look()

    async def close(self) -> None:
        if self._filling is not None:
            self._filling.cancel()
        await self._sources.files.close()

    def _current(self) -> Trigger | None:
        row, column = self._prompt.cursor_location
        if self._prompt.is_aside:
            return Trigger(Naming.HISTORY, self._prompt.text, 0, 0, len(self._prompt.text))
        if not self._prompt.selection.is_empty:
            return None
        return find_trigger(self._prompt.document.get_line(row), row, column)

    async def _fill(self) -> None:
        """One search at a time; what was typed meanwhile is looked for next, and nothing in between."""
        while (trigger := self._trigger) is not None and trigger != self._shown:
            candidates = await self._candidates(trigger)
            if trigger == self._trigger:
                self._shown, self._has_moved = trigger, False
                self._popup.show(candidates, _HINTS[trigger.naming])

    async def _candidates(self, trigger: Trigger) -> tuple[Candidate, ...]:
        match trigger.naming:
            case Naming.FILE:
                return await self._sources.files.candidates(trigger.query)
            case Naming.COMMAND:
                return self._sources.commands.candidates(trigger.query)
            case Naming.HISTORY:
                return self._sources.history.candidates(trigger.query)

    async def _settle(self) -> None:
        if self._filling is not None and not self._filling.done():
            await asyncio.wait({self._filling}, timeout=PATIENCE)

    def _taken(self, *, is_enter: bool) -> bool:
        chosen = self._popup.chosen
        if chosen is None or self._trigger is None or self._shown != self._trigger:
            return self._prompt.is_aside  # what is being looked for is no message
        trigger = self._trigger
        if is_enter and trigger.naming is not Naming.HISTORY and self._means_sending(trigger, chosen):
            return False
        self._put(chosen)
        # A command that needs nothing more runs with the same key.
        return not (is_enter and trigger.naming is Naming.COMMAND and chosen.is_final)

    def _means_sending(self, trigger: Trigger, chosen: Candidate) -> bool:
        is_done = self._written(trigger) == chosen.text
        return is_done or (not trigger.query and not self._has_moved)

    def _written(self, trigger: Trigger) -> str:
        return self._prompt.document.get_line(trigger.row)[trigger.start : trigger.end]

    def _put(self, chosen: Candidate) -> None:
        trigger = self._trigger
        if trigger is None:
            return
        if trigger.naming is Naming.HISTORY:
            self._prompt.take_instead(chosen.text)
        else:
            line = self._prompt.document.get_line(trigger.row)
            is_followed = line[trigger.end : trigger.end + 1].isspace()
            space = " " if (chosen.is_final or trigger.naming is Naming.COMMAND) and not is_followed else ""
            start, end = (trigger.row, trigger.start), (trigger.row, trigger.end)
            result = self._prompt.replace(chosen.text + space, start, end, maintain_selection_offset=False)
            self._prompt.move_cursor(result.end_location)
            if trigger.naming is Naming.FILE:
                self._sources.files.use(chosen.label)
        self._close()

    def _refuse(self) -> None:
        if self._prompt.is_aside:
            self._prompt.bring_back()
        elif self._trigger is not None:
            self._refused = _place(self._trigger)
        self._close()

    def _close(self) -> None:
        self._trigger = self._shown = None
        if self._popup.is_open:
            self._popup.show((), "")


def _place(trigger: Trigger) -> tuple[Naming, int, int]:
    return trigger.naming, trigger.row, trigger.start
