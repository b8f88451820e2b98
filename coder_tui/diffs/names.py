"""The names in a hunk, as they stand in the new version of the file."""

import re
from collections.abc import Iterator

from coder_tui.diffs.model import Change, Comparison, Same

_NAME = re.compile(r"[^\W\d]\w+")
# No server has anything to say of them, and hardly a language lets one name something so.
_RESERVED = """
and as async await break case class const continue def do done elif else esac except export fi finally fn for
from func function if import in is let not or pass raise return switch then throw try var void while with
yield
"""

Named = tuple[str, int, int, str]
"""A name, its line and character from 0, and the line's text."""


def names_in(file: Comparison, hunk: str) -> tuple[Named, ...]:
    """Each name once, where it stands first; a single letter is none, and so is a word of the language."""
    found: dict[str, Named] = {}
    reserved = frozenset(_RESERVED.split())
    for number, line in _new_lines(file, hunk):
        for match in _NAME.finditer(line):
            if match[0] not in reserved:
                found.setdefault(match[0], (match[0], number, match.start(), line.strip()))
    return tuple(found.values())


def _new_lines(file: Comparison, hunk: str) -> Iterator[tuple[int, str]]:
    marked = file.hunk(hunk)
    for section in file.sections[marked.start : marked.stop]:
        match section:
            case Change(new=new, added=lines) | Same(new=new, lines=lines):
                yield from enumerate(lines, new)
