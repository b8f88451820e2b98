"""Tells from the words before the cursor what the person is naming."""

import re
from dataclasses import dataclass
from enum import StrEnum

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
