"""Reads `@path` and `@path:10-20` in what a person wrote."""

import re
from dataclasses import dataclass

# A name with blanks stands in quotes. An address such as me@example.org names no file.
_MENTION = re.compile(r"""(?:^|(?<=[\s(\[{'"`,;]))@(?:"(?P<quoted>[^"\n]+)"|(?P<plain>[^\s"'`(\[{]+))""")
_RANGE = re.compile(r":(?P<first>\d+)(?:-(?P<last>\d+))?$")
_CLOSING = ".,;:!?)]}>"
# Code is quoted, not addressed: a decorator in it, or a diff of one, names no file.
_FENCED = re.compile(
    r"^(?P<fence>`{3,}|~{3,})[^\n]*\n(?:.*?^(?P=fence)[`~]*[ \t]*$|.*\Z)", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Mention:
    """A name as it was written, and which lines of it; `first` is 0 where all are meant."""

    path: str
    first: int = 0
    last: int = 0

    @property
    def label(self) -> str:
        if not self.first:
            return self.path
        return f"{self.path}:{self.first}" + (f"-{self.last}" if self.last != self.first else "")


def find_mentions(text: str) -> tuple[tuple[Mention, ...], ...]:
    """For each `@` what it may mean, likeliest first: a sentence may end right behind a name.

    What stands in fenced code is no mention.
    """
    prose = _FENCED.sub(lambda match: " " * len(match[0]), text)
    return tuple(_readings(match) for match in _MENTION.finditer(prose))


def mention(path: str) -> str:
    """How a path is written, so that it is read as one."""
    is_plain = _MENTION.fullmatch(f"@{path}") is not None and path[-1:] not in _CLOSING
    return f"@{path}" if is_plain and not _RANGE.search(path) else f'@"{path}"'


def _readings(match: re.Match[str]) -> tuple[Mention, ...]:
    if match["quoted"]:
        # Lines of a quoted name stand behind the quotes, where the pattern does not look.
        behind = _RANGE_BEHIND.match(match.string, match.end())
        return (_ranged(match["quoted"], behind),)
    written = match["plain"]
    shorter = written.rstrip(_CLOSING)
    texts = dict.fromkeys(text for text in (written, shorter) if text)
    return tuple(dict.fromkeys(reading for text in texts for reading in _plain(text)))


_RANGE_BEHIND = re.compile(r":(?P<first>\d+)(?:-(?P<last>\d+))?")


def _plain(text: str) -> tuple[Mention, ...]:
    """With the range taken off; and as it is, because a name may look so."""
    found = _RANGE.search(text)
    if found is None or not found.start():
        return (Mention(text),)
    return (_ranged(text[: found.start()], found), Mention(text))


def _ranged(path: str, found: re.Match[str] | None) -> Mention:
    if found is None:
        return Mention(path)
    first = max(1, int(found["first"]))
    last = int(found["last"] or first)
    return Mention(path, min(first, max(1, last)), max(first, last))
