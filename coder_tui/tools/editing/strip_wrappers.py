"""Remove what models wrap around copied text: line numbers, escapes, fences, entities, blank edges."""

import html
import json
import re
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from coder_tui.tools.editing.tiers import Strategy

_NUMBER = re.compile(r"\s*L?(\d+)(\t|→| ?: ?| ?\| ?|-|  ?)")
_NAME = re.compile(r"(?P<name>[\w@+-][\w./@+-]*)(?P<mark>[:-])(?=\d+(?P=mark))")
"""What grep writes before the number of a line."""
_ESCAPE = re.compile(r"\\([ntr'\"`\\$])|\\\n")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}
_FENCE = "```"


_PATCH_BEGINS = (
    "*** Begin Patch",
    "--- ",
    "diff --git ",
    "*** Update File",
    "*** Add File",
    "*** Delete File",
)


def unwrapped_patch(text: str) -> str:
    """Return the patch out of JSON, quotes or an indented block; the text itself if it is in none."""
    bare = text.strip()
    if bare.startswith(("{", '"')) and bare.endswith(("}", '"')):
        bare = next((found for found in _strings_in(bare) if found.lstrip().startswith(_PATCH_BEGINS)), bare)
        return bare if bare != text.strip() else text
    for quotes in ('"""', "'''", '"', "'", "`"):
        inside = bare.removeprefix(quotes).removesuffix(quotes)
        if len(inside) == len(bare) - 2 * len(quotes) and inside.lstrip().startswith(_PATCH_BEGINS):
            return inside.strip("\n")
    first = text.lstrip("\n")
    is_indented = first[:1] in (" ", "\t") and bare.startswith(_PATCH_BEGINS)
    return textwrap.dedent(first) if is_indented else text


def _strings_in(text: str) -> Iterator[str]:
    try:
        waiting = [json.loads(text, strict=False)]
    except (ValueError, RecursionError):
        return
    while waiting:
        found = waiting.pop()
        if isinstance(found, str):
            yield found
        elif isinstance(found, dict | list):
            waiting += found.values() if isinstance(found, dict) else found


@dataclass(frozen=True, slots=True)
class Reading:
    """The two strings as they may have been meant."""

    old: str
    new: str
    strategy: Strategy | None = None
    is_numbered: bool = False
    """Whether numbers or signs were removed: then the rest is whole lines, not a part of one."""


def readings(old: str, new: str) -> Iterator[Reading]:
    """Yield other ways to read two strings; each counts only if its old text is in the file."""
    unwrapped: list[Callable[[str, str], tuple[str, str] | None]]
    unwrapped = [_without_numbers, _without_escapes, _without_fences, _without_entities, _without_minus]
    for unwrap in unwrapped:
        pair = unwrap(old, new)
        if pair and pair != (old, new) and pair[0].strip() and pair[0] != pair[1]:
            yield Reading(
                *pair, Strategy.ESCAPE_NORMALIZED, is_numbered=unwrap in (_without_numbers, _without_minus)
            )


def without_blank_edges(old: str, new: str) -> Reading | None:
    """Drop the blank lines at the edges of the old text, and as many of the new text's."""
    old_lines, new_lines = old.split("\n"), new.split("\n")
    start, end = _blanks(old_lines), _blanks(old_lines[::-1])
    if not old.strip() or not start + end:
        return None
    kept = old_lines[start : len(old_lines) - end]
    new_start = min(start, _blanks(new_lines))
    new_end = min(end, _blanks(new_lines[new_start:][::-1]))
    cut = new_lines[new_start : len(new_lines) - new_end]
    shorter = Reading("\n".join(kept), "\n".join(cut), Strategy.TRIMMED_BOUNDARY)
    return shorter if shorter.old != shorter.new else None


def _blanks(lines: list[str]) -> int:
    return next((at for at, line in enumerate(lines) if line.strip()), len(lines))


def _without_numbers(old: str, new: str) -> tuple[str, str] | None:
    """Remove line numbers if every line of the old text has one and they count up by one."""
    old, new = _without_name(old, new)
    old_lines = old.split("\n")
    last = len(old_lines) - (not old_lines[-1])
    matches = [_NUMBER.match(line) or _NUMBER.match(f"{line} ") for line in old_lines[:last]]
    found = [match for match in matches if match]
    if not found or len(found) < len(matches):
        return None
    numbers = [int(match[1]) for match in found]
    marks = {match[2].strip(" ") or match[2] for match in found}
    is_grep = marks <= {":", "-"} and ":" in marks
    if numbers != list(range(numbers[0], numbers[0] + len(numbers))) or (len(marks) > 1 and not is_grep):
        return None
    mark = "[:-]" if len(marks) > 1 else re.escape(marks.pop())
    has_blank = all(match[2].endswith(" ") and match[2].strip() for match in found)
    # A line at the margin shows that the blanks of the others are their indentation.
    has_blank = has_blank and not re.search(rf"^[ \t]*L?\d+ ?{mark}[^ \n]", new, re.MULTILINE)
    return _cut_numbers(old, mark, has_blank=has_blank), _cut_numbers(new, mark, has_blank=has_blank)


def _without_name(old: str, new: str) -> tuple[str, str]:
    """Remove the name of the file if grep wrote it before every line of the old text."""
    names = {(match["name"] if (match := _NAME.match(line)) else "") for line in old.split("\n") if line}
    if len(names) > 1 or not (name := "".join(names)):
        return old, new
    pattern = re.compile(rf"^{re.escape(name)}[:-](?=\d+[:-])", re.MULTILINE)
    return pattern.sub("", old), pattern.sub("", new)


def _cut_numbers(text: str, mark: str, *, has_blank: bool) -> str:
    # A blank line may have lost the blank after its number.
    blank = "(?: |$)" if has_blank else ""
    before = "" if mark.isspace() else " ?"
    return re.sub(rf"^[ \t]*L?\d+{before}{mark}{blank}", "", text, flags=re.MULTILINE)


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


def _without_minus(old: str, new: str) -> tuple[str, str] | None:
    """Remove the signs of removed lines from the old text, if each of its lines has one or a blank."""
    lines = [line for line in old.split("\n") if line]
    if (
        len(lines) < 2
        or not any(line[0] == "-" for line in lines)
        or not all(line[0] in "- " for line in lines)
    ):
        return None
    others = [line for line in new.split("\n") if line]
    is_signed = all(line[0] in "+ " for line in others)
    is_diff = any(line[0] == "+" for line in others) or {*others} & {line for line in lines if line[0] == " "}
    return (_without_signs(old), _without_signs(new)) if is_signed and is_diff else None


def _without_signs(text: str) -> str:
    return "\n".join(line[1:] for line in text.split("\n"))


def _without_entities(old: str, new: str) -> tuple[str, str] | None:
    if "&" not in old:
        return None
    return html.unescape(old), html.unescape(new)
