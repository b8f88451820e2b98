"""Replaces text that occurs exactly as given: once, or everywhere when asked to."""

from coder_tui.tools.editing.outcome import Replaced, Strategy, several_places
from coder_tui.tools.editing.script import LineFeedView, changes_line_ends, newline_at, restore, to_line_feeds
from coder_tui.workspace.files.text import TextFile

_MOST_PLACES = 1_000


def replace_exact(file: TextFile, old: str, new: str, *, replace_all: bool) -> Replaced | None:
    """Return the new text, None when `old` does not occur. Refuses several places unless all are meant."""
    view = LineFeedView.of(file)
    is_literal = changes_line_ends(old, new)
    old, new = to_line_feeds(old), new if is_literal else to_line_feeds(new)
    places = _places(view.text, old, overlapping=not replace_all)
    if not places:
        return None
    if len(places) > 1 and not replace_all:
        raise several_places([view.line(place) for place in places])
    if is_literal and file.text.startswith("\r", view.raw(places[0] + len(old))):
        new = new.removesuffix("\r")
    strategy = Strategy.MULTI_OCCURRENCE if replace_all else Strategy.EXACT
    last = view.line(places[-1] + max(len(old.removesuffix("\n")) - 1, 0))
    text = _spliced(file, view, places, old, new, is_literal=is_literal)
    splits_lead = not replace_all and _splits_lead(view.text, places[0])
    return Replaced(text, len(places), strategy, view.line(places[0]), last, splits_lead)


def _splits_lead(text: str, place: int) -> bool:
    line_start = text.rfind("\n", 0, place) + 1
    return text[place] in " \t" and line_start < place and not text[line_start:place].strip(" \t")


def _spliced(
    file: TextFile, view: LineFeedView, places: list[int], old: str, new: str, *, is_literal: bool
) -> str:
    """Cut the file's own text at the places; what old and new share there is not touched."""
    head = 0 if is_literal else _shared(old, new)
    tail = 0 if is_literal else _shared(old[head:][::-1], new[head:][::-1])
    middle = new[head : len(new) - tail]
    pieces: list[str] = []
    done = 0
    for place in places:
        start, end = view.raw(place + head), view.raw(place + len(old) - tail)
        inserted = restore(file.text[start:end], middle)
        if "\n" in inserted and not is_literal:
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
