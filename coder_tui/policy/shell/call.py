"""One call of a program, and the ways in which its words are judged."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from coder_tui.policy.secrets import may_name_a_secret
from coder_tui.policy.shell.flags import Arguments, flag_table, take_apart
from coder_tui.policy.shell.notes import Notes
from coder_tui.policy.shell.words import Word


@dataclass(frozen=True, slots=True)
class Call:
    words: tuple[Word, ...]

    @property
    def name(self) -> str:
        return self.words[0].text

    @property
    def arguments(self) -> tuple[Word, ...]:
        return self.words[1:]


Judge = Callable[[Call, Notes], None]
Programs = Mapping[str, Judge]


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
    """A program that only reads, as long as every flag is in the table."""
    table = flag_table(flags, has_numbers=has_numbers)

    def judge(call: Call, notes: Notes) -> None:
        found = take_apart(call.arguments, table, notes)
        check_globs(call, notes, is_any_flag_harmless=is_any_flag_harmless)
        read_operands(call, found, operands, notes, pattern_flags)

    return judge


def read_operands(
    call: Call, found: Arguments, operands: Operands, notes: Notes, pattern_flags: tuple[str, ...] = ()
) -> None:
    match operands:
        case Operands.NONE:
            if found.operands:
                notes.doubt(f"{call.name} takes no operands that are known to be harmless")
        case Operands.TEXT:
            check_text(found.operands, notes)
        case Operands.NAMES:
            for word in found.operands or _folder_at_hand(call):
                notes.read(word)
        case Operands.CONTENT:
            read_contents(found.operands, notes)
        case Operands.PATTERN:
            skipped = 0 if found.has(*pattern_flags) else 1
            check_text(found.operands[:skipped], notes)
            read_contents(found.operands[skipped:], notes)


def _folder_at_hand(call: Call) -> list[Word]:
    return [Word(".")] if call.name in {"ls", "tree"} else []


def check_text(words: list[Word], notes: Notes) -> None:
    for word in words:
        if word.doubt:
            notes.doubt(word.doubt)
        elif word.glob:
            # The names that it becomes are shown.
            notes.read(word)


def read_contents(words: list[Word], notes: Notes) -> None:
    for word in words:
        # Most patterns are looked up; one for hidden names may find what comes into being meanwhile.
        if word.glob.rpartition("/")[2].startswith(".") and may_name_a_secret(word.glob):
            notes.doubt(f"{word.glob} may stand for a file with secrets")
        notes.read(word)


def check_globs(call: Call, notes: Notes, *, is_any_flag_harmless: bool) -> None:
    if is_any_flag_harmless:
        return
    for word in call.arguments:
        if word.may_become_a_flag:
            notes.doubt(f"{word.glob} may stand for a file whose name is a flag")
