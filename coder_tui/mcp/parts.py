"""Keeps what a server sent within what a line to the program can carry."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

from coder_tui.mcp.wire import Part, PartKind

LARGEST = 12_000_000
"""Characters of all texts together, and of all pictures together."""
LARGEST_STRUCTURED = 1_000_000
MOST_PARTS = 1_000
MOST_ENTRIES = 1_000
"""Of one list, over all of its pages."""
LARGEST_LIST = 4_000_000
"""Characters of all entries together."""
_CUT = "\n[cut: the server sent more than {limit} characters]"

Entry = TypeVar("Entry")


def affordable(entries: Iterable[Entry], kind: str, note: Callable[[str], None]) -> Iterator[Entry]:
    """The first of a list: all that it holds becomes one line to the program, which every server shares."""
    left = LARGEST_LIST
    for place, entry in enumerate(entries):
        left -= len(repr(entry))
        if place == MOST_ENTRIES or left < 0:
            note(f"only the first {place} {kind} are used: the rest is too many, or too long")
            return
        yield entry


def bounded(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    return tuple(_bounded(parts))


def _bounded(parts: tuple[Part, ...]) -> Iterator[Part]:
    texts = data = LARGEST
    for part in parts[:MOST_PARTS]:
        if len(part.text) > texts:
            part = replace(part, text=part.text[:texts] + _CUT.format(limit=LARGEST))
        if len(part.data) > data:
            words = f"[left out: {part.media_type or 'data'} of {len(part.data) * 3 // 4} bytes]"
            part = Part(PartKind.TEXT, words, uri=part.uri)
        texts, data = max(0, texts - len(part.text)), max(0, data - len(part.data))
        yield part
    if len(parts) > MOST_PARTS:
        yield Part(PartKind.TEXT, f"[left out: {len(parts) - MOST_PARTS} more parts]")


def small(structured: Any) -> Any:
    """What is structured cannot be cut, so it is left out where it is too large; its text says the same."""
    if structured is None or (size := len(json.dumps(structured))) <= LARGEST_STRUCTURED:
        return structured
    return {"left_out": f"structured data of {size} characters"}
