"""One fault that several servers report is one problem: told once, with all who found it."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from coder_tui.protocol.diagnostics import Diagnostic, Severity

_GRAVEST_FIRST = list(Severity)
# Servers quote names each in their own way.
_QUOTES = re.compile("[`'\"‘’“”]")
_BETWEEN = ", "
_Mark = tuple[str, int, str, str]


def merged(items: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Those of one line with the same code or words; what one source says twice are two problems."""
    given = tuple(items)
    if len({item.source for item in given}) < 2:
        return given
    kept: list[Diagnostic] = []
    sources: list[set[str]] = []
    places: dict[_Mark, list[int]] = {}
    for item in given:
        numbers = (number for mark in _marks(item) for number in places.get(mark, ()))
        same = next((number for number in numbers if item.source not in sources[number]), None)
        if same is None:
            same = len(kept)
            kept.append(item)
            sources.append({item.source})
        else:
            kept[same] = _joined(kept[same], item)
            sources[same].add(item.source)
        for mark in _marks(item):
            places.setdefault(mark, []).append(same)
    return tuple(kept)


def _marks(item: Diagnostic) -> Iterator[_Mark]:
    if item.code:
        yield item.path, item.line, "code", item.code
    yield item.path, item.line, "words", _QUOTES.sub("", item.message).casefold().rstrip(" .")


def _joined(one: Diagnostic, other: Diagnostic) -> Diagnostic:
    return replace(
        one,
        severity=min(one.severity, other.severity, key=_GRAVEST_FIRST.index),
        code=one.code or other.code,
        source=_BETWEEN.join(filter(None, (one.source, other.source))),
        is_new=one.is_new and other.is_new,
    )
