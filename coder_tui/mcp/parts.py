"""Keeps what a server sent within what a line to the program can carry."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from coder_tui.mcp.wire import Part, PartKind

LARGEST = 12_000_000
"""Characters of all texts together, and of all pictures together."""
MOST_PARTS = 1_000
_CUT = "\n[cut: the server sent more than {limit} characters]"


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
    return structured if structured is None or len(json.dumps(structured)) <= LARGEST else None
