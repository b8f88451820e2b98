"""Read `@path` and `@path:10-20` in the user's text."""

import re
from dataclasses import dataclass

# A name with spaces is quoted. An address such as me@example.org is no mention.
_MENTION = re.compile(r"""(?:^|(?<=[\s(\[{'"`,;]))@(?:"(?P<quoted>[^"\n]+)"|(?P<plain>[^\s"'`(\[{]+))""")
_RANGE = re.compile(r":(?P<first>\d+)(?:-(?P<last>\d+))?$")
_CLOSING = ".,;:!?)]}>"
# Fenced code has no mentions: a decorator in it, or a diff of one, names no file.
_FENCED = re.compile(
    r"^(?P<fence>`{3,}|~{3,})[^\n]*\n(?:.*?^(?P=fence)[`~]*[ \t]*$|.*\Z)", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Mention:
    """A path as written, and a range of lines. `first` is 0 for the whole file."""

    path: str
    first: int = 0
    last: int = 0

    @property
    def label(self) -> str:
        if not self.first:
            return self.path
        return f"{self.path}:{self.first}" + (f"-{self.last}" if self.last != self.first else "")


def find_mentions(text: str) -> tuple[tuple[Mention, ...], ...]:
    """Return the possible meanings of each `@`, most likely first: a sentence may end right after a name.

    Fenced code has no mentions.
    """
    prose = _FENCED.sub(lambda match: " " * len(match[0]), text)
    return tuple(_readings(match) for match in _MENTION.finditer(prose))


def mention(path: str) -> str:
    """Format a path as a mention."""
    is_plain = _MENTION.fullmatch(f"@{path}") is not None and path[-1:] not in _CLOSING
    return f"@{path}" if is_plain and not _RANGE.search(path) else f'@"{path}"'


def _readings(match: re.Match[str]) -> tuple[Mention, ...]:
    if match["quoted"]:
        # The lines of a quoted name come after the quotes, where the pattern does not match.
        behind = _RANGE_BEHIND.match(match.string, match.end())
        return (_ranged(match["quoted"], behind),)
    written = match["plain"]
    shorter = written.rstrip(_CLOSING)
    texts = dict.fromkeys(text for text in (written, shorter) if text)
    return tuple(dict.fromkeys(reading for text in texts for reading in _plain(text)))


_RANGE_BEHIND = re.compile(r":(?P<first>\d+)(?:-(?P<last>\d+))?")


def _plain(text: str) -> tuple[Mention, ...]:
    """Return the mention with its range, and without one, because a name may look like a range."""
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
