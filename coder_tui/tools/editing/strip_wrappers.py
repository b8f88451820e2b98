"""Remove what models wrap around copied text: line numbers, escapes, fences, entities, blank edges."""

import html
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from coder_tui.tools.editing.tiers import Strategy

_NUMBER = re.compile(r"\s*L?(\d+)(\t|→|: ?|\| ?|  ?)")
_ESCAPE = re.compile(r"\\([ntr'\"`\\$])|\\\n")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}
_FENCE = "```"


@dataclass(frozen=True, slots=True)
class Reading:
    """The two strings as they may have been meant."""

    old: str
    new: str
    strategy: Strategy | None = None
    is_numbered: bool = False
    """Whether line numbers were removed: then the rest is whole lines, not a part of one."""


def readings(old: str, new: str) -> Iterator[Reading]:
    """Yield other ways to read two strings; each counts only if its old text is in the file."""
    unwrapped: list[Callable[[str, str], tuple[str, str] | None]]
    unwrapped = [_without_numbers, _without_escapes, _without_fences, _without_entities]
    for unwrap in unwrapped:
        pair = unwrap(old, new)
        if pair and pair != (old, new) and pair[0].strip() and pair[0] != pair[1]:
            yield Reading(*pair, Strategy.ESCAPE_NORMALIZED, is_numbered=unwrap is _without_numbers)


def without_blank_edges(old: str, new: str) -> Reading | None:
    """Drop blank lines that both strings have at their edges."""
    old_lines, new_lines = old.split("\n"), new.split("\n")
    start = _shared_blanks(old_lines, new_lines)
    end = _shared_blanks(old_lines[start:][::-1], new_lines[start:][::-1])
    if not start and not end:
        return None
    cut = slice(start, -end or None)
    shorter = Reading("\n".join(old_lines[cut]), "\n".join(new_lines[cut]), Strategy.TRIMMED_BOUNDARY)
    return shorter if shorter.old.strip() and shorter.old != shorter.new else None


def _shared_blanks(old: list[str], new: list[str]) -> int:
    count = 0
    for one, other in zip(old, new, strict=False):
        if one.strip() or other.strip():
            break
        count += 1
    return count


def _without_numbers(old: str, new: str) -> tuple[str, str] | None:
    """Remove line numbers if every line of the old text has one and they count up by one."""
    old_lines = old.split("\n")
    last = len(old_lines) - (not old_lines[-1])
    matches = [_NUMBER.match(line) or _NUMBER.match(f"{line} ") for line in old_lines[:last]]
    found = [match for match in matches if match]
    if not found or len(found) < len(matches):
        return None
    numbers = [int(match[1]) for match in found]
    separators = {match[2].strip(" ") or match[2] for match in found}
    if numbers != list(range(numbers[0], numbers[0] + len(numbers))) or len(separators) > 1:
        return None
    return _cut_numbers(old, found[0][2]), _cut_numbers(new, found[0][2])


def _cut_numbers(text: str, separator: str) -> str:
    mark = re.escape(separator.rstrip(" ") or separator)
    # A blank line may have lost the blank after its number.
    blank = "(?: |$)" if separator.endswith(" ") and separator.strip() else ""
    return re.sub(rf"^[ \t]*L?\d+{mark}{blank}", "", text, flags=re.MULTILINE)


def _without_escapes(old: str, new: str) -> tuple[str, str] | None:
    if "\\" not in old:
        return None
    return _unescape(old), _unescape(new)


def _unescape(text: str) -> str:
    return _ESCAPE.sub(lambda match: _ESCAPED.get(match[1], match[1]) if match[1] else "\n", text)


def _without_fences(old: str, new: str) -> tuple[str, str] | None:
    inside = _inside_fence(old)
    if inside is None:
        return None
    inside_new = _inside_fence(new)
    return inside, new if inside_new is None else inside_new


def _inside_fence(text: str) -> str | None:
    opening, _, rest = text.strip().partition("\n")
    if not opening.startswith(_FENCE) or not rest.endswith(_FENCE):
        return None
    return rest.removesuffix(_FENCE).rstrip(" \t").removesuffix("\n")


def _without_entities(old: str, new: str) -> tuple[str, str] | None:
    if "&" not in old:
        return None
    return html.unescape(old), html.unescape(new)
