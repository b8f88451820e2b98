"""One call of a program: parse its arguments by a table of flags, and judge them.

A table is a string: `-l` takes nothing, `-n=` takes any value, `--color?` may have one after `=`, `-f<`
names a file that it reads, `-o>` one that it writes, `--pre!` is known to be dangerous. A flag that is not
listed is a doubt, and so is an abbreviation, because programs complete those.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache

from coder_tui.policy.paths import may_name_a_secret
from coder_tui.policy.shell.notes import CommandNotes, Word


class FlagValue(StrEnum):
    NOTHING = ""
    VALUE = "="
    MAYBE = "?"
    READ = "<"
    WRITTEN = ">"
    DANGER = "!"


_MARKS = "".join(kind.value for kind in FlagValue)
# Whatever their value expands to, they treat it as a pattern.
_PATTERN_FLAGS = frozenset({"--include", "--exclude", "--exclude-dir", "--glob", "--ignore"})
# Not `+5`: only some programs read it as a number, others as an operand.
_NUMBER = re.compile(r"-[0-9]+")
# A pattern may begin with a dash, and every program wants one after these.
_PATTERNS_FOLLOW = frozenset({"-e", "--regexp"})


@dataclass(frozen=True, slots=True)
class FlagTable:
    kinds: dict[str, FlagValue]
    has_numbers: bool = False
    """Whether `-20` is a count."""
    is_single_dash: bool = False
    """Whether long flags have one dash (`go`, `java`), so that there are no clusters."""
    stops_at_operand: bool = False
    """Whether flags end at the first operand."""


@lru_cache(maxsize=512)
def flag_table(
    text: str, *, has_numbers: bool = False, is_single_dash: bool = False, stops_at_operand: bool = False
) -> FlagTable:
    kinds = {}
    for item in text.split():
        is_marked = len(item) > 2 and item[-1] in _MARKS
        kinds[item[:-1] if is_marked else item] = FlagValue(item[-1]) if is_marked else FlagValue.NOTHING
    return FlagTable(kinds, has_numbers, is_single_dash, stops_at_operand)


@dataclass(slots=True)
class Arguments:
    """A program's arguments, split into operands and flags with their values."""

    operands: list[Word] = field(default_factory=list)
    given: dict[str, list[Word]] = field(default_factory=dict)

    def has(self, *names: str) -> bool:
        return any(name in self.given for name in names)

    def value(self, *names: str) -> str:
        return next((self.given[name][-1].text for name in names if name in self.given), "")


def parse_arguments(words: Sequence[Word], table: FlagTable, notes: CommandNotes) -> Arguments:
    """Parse arguments by `table`. Unknown flags become doubts in `notes`."""
    found, rest = Arguments(), list(words)
    while rest:
        word = rest.pop(0)
        if word.text == "--":
            found.operands += rest
            break
        if table.has_numbers and _NUMBER.fullmatch(word.text):
            found.given.setdefault("-NUM", []).append(word)
        elif not word.is_flag:
            found.operands.append(word)
            if table.stops_at_operand:
                found.operands += rest
                break
        elif word.text.startswith("--") or table.is_single_dash:
            _take_long(word, rest, table, found, notes)
        else:
            _take_cluster(word, rest, table, found, notes)
    return found


def _take_long(word: Word, rest: list[Word], table: FlagTable, found: Arguments, notes: CommandNotes) -> None:
    name, has_value, value = word.text.partition("=")
    takes = table.kinds.get(name)
    if takes is None:
        notes.doubt(f"{name} is not known to be a harmless flag")
        return
    if word.doubt:
        notes.doubt(word.doubt)
    if word.glob and name not in _PATTERN_FLAGS:
        notes.doubt(f"a pattern after {name} may become several words")
    match takes:
        case FlagValue.DANGER:
            _warn(name, notes)
        case FlagValue.NOTHING if has_value:
            notes.doubt(f"{name} takes no value")
        case FlagValue.VALUE | FlagValue.READ | FlagValue.WRITTEN:
            given = Word(value) if has_value else _following(name, rest, notes)
            _note(name, takes, given, found, notes)
        case _:
            found.given.setdefault(name, []).append(Word(value))


def _take_cluster(
    word: Word, rest: list[Word], table: FlagTable, found: Arguments, notes: CommandNotes
) -> None:
    if word.doubt or word.glob:
        notes.doubt(word.doubt or "a pattern among the flags may become any flag")
    for index, letter in enumerate(word.text[1:], start=1):
        name = f"-{letter}"
        takes = table.kinds.get(name)
        if takes is None:
            notes.doubt(f"{name} is not known to be a harmless flag")
            return
        tail = word.text[index + 1 :]
        match takes:
            case FlagValue.NOTHING:
                found.given.setdefault(name, []).append(Word(""))
            case FlagValue.DANGER:
                _warn(name, notes)
                return
            case FlagValue.MAYBE:
                found.given.setdefault(name, []).append(Word(tail))
                return
            case _:
                given = Word(tail) if tail else _following(name, rest, notes)
                _note(name, takes, given, found, notes)
                return


def _following(name: str, rest: list[Word], notes: CommandNotes) -> Word:
    """Return the next word as the value of a flag. Some versions want it attached, and read a flag there."""
    word = rest.pop(0) if rest else Word("")
    if word.is_flag and name not in _PATTERNS_FOLLOW and not _NUMBER.fullmatch(word.text):
        notes.doubt(f"{word.text} after {name} may be a flag or a value")
    return word


def _warn(name: str, notes: CommandNotes) -> None:
    notes.doubt(f"{name} can run a program or write a file")
    notes.runs("", f"{name} can run a program or write a file")


def _note(name: str, takes: FlagValue, value: Word, found: Arguments, notes: CommandNotes) -> None:
    found.given.setdefault(name, []).append(value)
    if value.doubt:
        notes.doubt(value.doubt)
    if value.glob:
        notes.doubt(f"a pattern after {name} may become several words")
    if takes is FlagValue.READ:
        notes.read(value, f"{name} names it")
    elif takes is FlagValue.WRITTEN:
        notes.write(value, f"{name} names it")


@dataclass(frozen=True, slots=True)
class Call:
    words: tuple[Word, ...]

    @property
    def name(self) -> str:
        return self.words[0].text

    @property
    def arguments(self) -> tuple[Word, ...]:
        return self.words[1:]


Judge = Callable[[Call, CommandNotes], None]


class Operands(StrEnum):
    """What a program's operands are."""

    NONE = "none"
    TEXT = "text"
    CONTENT = "files whose content it shows"
    NAMES = "files of which it shows only names and facts"
    PATTERN = "a pattern, then files"


def reader(
    flags: str = "",
    operands: Operands = Operands.CONTENT,
    *,
    has_numbers: bool = False,
    is_any_flag_harmless: bool = False,
    pattern_flags: tuple[str, ...] = (),
) -> Judge:
    """Return the judge of a program that only reads, as long as every flag is in the table."""
    table = flag_table(flags, has_numbers=has_numbers)

    def judge(call: Call, notes: CommandNotes) -> None:
        found = parse_arguments(call.arguments, table, notes)
        check_globs(call, notes, is_any_flag_harmless=is_any_flag_harmless)
        read_operands(call, found, operands, notes, pattern_flags)

    return judge


def read_operands(
    call: Call, found: Arguments, operands: Operands, notes: CommandNotes, pattern_flags: tuple[str, ...] = ()
) -> None:
    match operands:
        case Operands.NONE:
            if found.operands:
                notes.doubt(f"{call.name} takes no operands known to be harmless")
        case Operands.TEXT:
            check_text(found.operands, notes)
        case Operands.NAMES:
            for word in found.operands or _current_folder(call):
                notes.read(word)
        case Operands.CONTENT:
            read_contents(found.operands, notes)
        case Operands.PATTERN:
            skipped = 0 if found.has(*pattern_flags) else 1
            check_text(found.operands[:skipped], notes)
            read_contents(found.operands[skipped:], notes)


def _current_folder(call: Call) -> list[Word]:
    return [Word(".")] if call.name in {"ls", "tree"} else []


def check_text(words: list[Word], notes: CommandNotes) -> None:
    for word in words:
        if word.doubt:
            notes.doubt(word.doubt)
        elif word.glob:
            # The file names that it expands to are shown.
            notes.read(word)


def read_contents(words: list[Word], notes: CommandNotes) -> None:
    for word in words:
        # Most patterns are looked up on disk. One for hidden names may match files that appear later.
        if word.glob.rpartition("/")[2].startswith(".") and may_name_a_secret(word.glob):
            notes.doubt(f"{word.glob} may stand for a file with secrets")
        notes.read(word)


def check_globs(call: Call, notes: CommandNotes, *, is_any_flag_harmless: bool) -> None:
    if is_any_flag_harmless:
        return
    for word in call.arguments:
        if word.may_become_a_flag:
            notes.doubt(f"{word.glob} may stand for a file whose name is a flag")
