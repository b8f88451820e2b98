"""Replaces text that occurs exactly as given: once, or everywhere when asked to."""

import re
from dataclasses import dataclass
from enum import StrEnum

from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.editing.view import LineFeedView, newline_at, to_line_feeds
from coder_tui.workspace.files import TextFile, show

_MOST_LINES_NAMED = 20
_MOST_PLACES = 1_000
_LOST = "\ufffd"


class Strategy(StrEnum):
    """How the place was found, in the words of the result."""

    EXACT = "exact"
    MULTI_OCCURRENCE = "multi_occurrence"


@dataclass(frozen=True, slots=True)
class Replaced:
    text: str
    replacements: int
    strategy: Strategy


def replace_exact(file: TextFile, old: str, new: str, *, replace_all: bool) -> Replaced | None:
    """Return the new text, None when `old` does not occur. Refuses several places unless all are meant."""
    view = LineFeedView.of(file)
    old, new = to_line_feeds(old), to_line_feeds(new)
    places = _places(view.text, old, overlapping=not replace_all)
    if not places:
        return None
    if len(places) > 1 and not replace_all:
        raise _ambiguous(view, places)
    strategy = Strategy.MULTI_OCCURRENCE if replace_all else Strategy.EXACT
    return Replaced(_spliced(file, view, places, old, new), len(places), strategy)


def _spliced(file: TextFile, view: LineFeedView, places: list[int], old: str, new: str) -> str:
    """Cut the file's own text at the places; what old and new share there is not touched."""
    head = _shared(old, new)
    tail = _shared(old[head:][::-1], new[head:][::-1])
    middle = new[head : len(new) - tail]
    pieces: list[str] = []
    done = 0
    for place in places:
        start, end = view.raw(place + head), view.raw(place + len(old) - tail)
        inserted = _restore(file.text[start:end], middle)
        if "\n" in inserted:
            inserted = inserted.replace("\n", newline_at(file, view.raw(place)))
        pieces += [file.text[done:start], inserted]
        done = end
    return "".join([*pieces, file.text[done:]])


def _places(text: str, old: str, *, overlapping: bool) -> list[int]:
    """Find `old`; places that overlap are many places too, but only some need be known to refuse them."""
    places: list[int] = []
    at = text.find(old)
    while at >= 0 and not (overlapping and len(places) > _MOST_PLACES):
        places.append(at)
        at = text.find(old, at + (1 if overlapping else len(old)))
    return places


def _shared(one: str, other: str) -> int:
    length = min(len(one), len(other))
    low, high = 0, length
    while low < high:
        half = (low + high + 1) // 2
        if one[:half] == other[:half]:
            low = half
        else:
            high = half - 1
    return low


def _restore(raw: str, new: str) -> str:
    """Put undecodable bytes back where the model repeats the sign that stood for them."""
    if raw == show(raw) or _LOST not in new:
        return new
    originals = [character for character in raw if show(character) == _LOST]
    if len(originals) != new.count(_LOST):
        raise ToolError(
            ErrorType.INVALID_TOOL_PARAMS,
            "invalid args: new_string: the place holds bytes that are not text, and they would be lost",
            "Leave the lines with \ufffd out of the change.",
        )
    remaining = iter(originals)
    return re.sub(_LOST, lambda match: next(remaining), new)


def _ambiguous(view: LineFeedView, places: list[int]) -> ToolError:
    lines = [view.line(place) for place in places[:_MOST_LINES_NAMED]]
    named = ", ".join(str(line) for line in lines) + (", …" if len(places) > len(lines) else "")
    return ToolError(
        ErrorType.AMBIGUOUS_MATCH,
        f"old_string occurs {len(places)} times, at lines {named}.",
        "Add lines around it until it is unique, or set replace_all.",
        {"lines": lines},
    )
