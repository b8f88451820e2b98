"""Fills a command's prompt: its text, and its shell inserts so that arguments stay arguments."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from coder_tui.skills.command_files import Dialect
from coder_tui.text.mentions import mention

_INSERT = re.compile(r"(?<![\w!`\\])!`([^`\n]+)`")
_PLACE = {
    Dialect.MARKDOWN: re.compile(r"\$(ARGUMENTS|[1-9])(?![0-9A-Za-z_])"),
    Dialect.TOML: re.compile(r"\{\{\s*(args)\s*\}\}"),
}
_FILE = re.compile(r"@\{([^{}\n]+)\}")
_PLAIN = re.compile(r"[\w@%+=:,./-]+")
# Behind one of these a quote is no longer what it seems.
_UNSURE = re.compile(r"\$\(|\$\{|\$'|`|<<|(?<!\S)#")
_IN_DOUBLE = re.compile(r'([\\"$`])')


class TemplateError(Exception):
    """The command cannot be filled so that its arguments stay arguments."""


@dataclass(frozen=True, slots=True)
class Text:
    text: str


@dataclass(frozen=True, slots=True)
class Insert:
    """A command whose output takes its place."""

    command: str


Part = Text | Insert


@dataclass(frozen=True, slots=True)
class Given:
    """What stood behind the command's name."""

    text: str

    @property
    def words(self) -> list[str]:
        try:
            return shlex.split(self.text)
        except ValueError:  # a quote without its other half, as in "don't"
            return self.text.split()

    def value(self, place: str) -> str:
        if not place.isdecimal():
            return self.text
        words, number = self.words, int(place)
        return words[number - 1] if number <= len(words) else ""

    def quoted(self, place: str) -> str:
        """For a shell: words stay words, and nothing else."""
        if place == "ARGUMENTS":
            return shlex.join(self.words)
        return shlex.quote(self.value(place))


def filled(body: str, dialect: Dialect, given: Given) -> tuple[Part, ...]:
    """Inserts are found before anything is filled in: an argument cannot bring one along."""
    pattern = _PLACE[dialect]
    parts: list[Part] = []
    for part in _parts(body, dialect):
        match part:
            case Text(text):
                text = pattern.sub(lambda place: given.value(place[1]), text)
                parts.append(Text(_files(text) if dialect is Dialect.TOML else text))
            case Insert(command):
                parts.append(Insert(_in_shell(command, pattern, given)))
    return tuple(parts)


def _files(text: str) -> str:
    return _FILE.sub(lambda found: mention(found[1].strip()), text)


def _parts(body: str, dialect: Dialect) -> Iterator[Part]:
    found = _INSERT.finditer(body) if dialect is Dialect.MARKDOWN else ()
    spans = [(each.start(), each.end(), each[1]) for each in found] or list(_braced(body, dialect))
    end = 0
    for start, after, command in spans:
        yield Text(body[end:start])
        yield Insert(command.strip())
        end = after
    yield Text(body[end:])


def _braced(body: str, dialect: Dialect) -> Iterator[tuple[int, int, str]]:
    """`!{…}` with braces inside, as long as they come in pairs."""
    start = body.find("!{") if dialect is Dialect.TOML else -1
    while start >= 0:
        depth, end = 1, start + 2
        while end < len(body) and depth:
            depth += {"{": 1, "}": -1}.get(body[end], 0)
            end += 1
        if depth:
            raise TemplateError("a shell insert !{…} has no end")
        yield start, end, body[start + 2 : end - 1]
        start = body.find("!{", end)


def _in_shell(command: str, pattern: re.Pattern[str], given: Given) -> str:
    """As a shell reads it: an argument in quotes of the author's is escaped for those."""
    pieces: list[str] = []
    end = 0
    for place in pattern.finditer(command):
        before = command[: place.start()]
        pieces += (command[end : place.start()], _escaped(before, place[1], given))
        end = place.end()
    return "".join((*pieces, command[end:]))


def _escaped(before: str, place: str, given: Given) -> str:
    value = given.value(place)
    if "\0" in value:
        raise TemplateError("an argument has a NUL character")
    if _PLAIN.fullmatch(value):
        return value
    if _UNSURE.search(before):
        raise TemplateError(
            f"its shell insert puts an argument where it cannot be quoted safely: {before[-40:]}…; "
            "plain words are taken there, blanks and signs are not"
        )
    match _quote_at_end(before):
        case "'":
            return value.replace("'", "'\\''")
        case '"':
            return _IN_DOUBLE.sub(r"\\\1", value)
        case _:
            return given.quoted(place)


def _quote_at_end(text: str) -> str:
    """The quote that is still open where the text ends; nothing where none is."""
    quote, is_escaped = "", False
    for char in text:
        if is_escaped:
            is_escaped = False
        elif char == "\\" and quote != "'":
            is_escaped = True
        elif not quote and char in "'\"":
            quote = char
        elif char == quote:
            quote = ""
    if is_escaped:
        raise TemplateError("its shell insert has a backslash right before an argument")
    return quote
