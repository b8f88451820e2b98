"""Carries a change inside one line over to the file's own wording of that line."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rapidfuzz.distance import Indel

from coder_tui.tools.editing import fold

_LONGEST = 2_000
_TOKEN = re.compile(r"\w+|[^\w\s]")


def tokens_of(line: str) -> list[str]:
    """Return the words and signs of a line, without the blanks between them."""
    return _TOKEN.findall(fold.plain(line))


def carried(old: str, new: str, own: str) -> str:
    """Return `own` changed as `old` was to `new`; the three come without their leads.

    `old` and `own` are the same line but for blanks and typographic characters. What old and new share keeps
    the file's characters. Blanks that the model did not change keep the file's blanks.
    """
    if old.rstrip() == own.rstrip() or max(len(old), len(new), len(own)) > _LONGEST:
        return new
    if fold.spaceless(old) != fold.spaceless(own):
        return new
    before, after, file = _Spaced(old, _filled(old)), _Spaced(new, _filled(new)), _Spaced(own, _filled(own))
    file = _Spaced(own, _standing_for(before, file))
    pieces: list[str] = []
    shared: int | None = None
    for at, (source, is_shared) in enumerate(_sources(before, after)):
        gap = after.gap(at)
        if source is not None and gap == before.gap(source):
            gap = file.gap(source)
        if not is_shared or source is None:
            pieces += [gap, after.character(at)]
        elif shared != source - 1 or file.spans[shared] != file.spans[source]:
            # One character of the file may stand for two of the model's: it is written once.
            pieces += [gap, file.character(source)]
        shared = source if is_shared else None
    return "".join([*pieces, file.tail if after.tail == before.tail else after.tail])


@dataclass(frozen=True, slots=True)
class _Spaced:
    """A text with the spans of its characters that are not blank."""

    text: str
    spans: list[tuple[int, int]]

    def character(self, index: int) -> str:
        return self.text[slice(*self.spans[index])]

    def gap(self, index: int) -> str:
        """Return the blanks before a character, or after the last one."""
        start = self.spans[index - 1][1] if index else 0
        end = self.spans[index][0] if index < len(self.spans) else len(self.text)
        return self.text[start:end]

    @property
    def tail(self) -> str:
        return self.gap(len(self.spans))

    @property
    def filled(self) -> str:
        return "".join(self.text[start:end] for start, end in self.spans)


def _filled(text: str) -> list[tuple[int, int]]:
    return [(at, at + 1) for at, character in enumerate(text) if fold.spaceless(character)]


def _standing_for(old: _Spaced, own: _Spaced) -> list[tuple[int, int]]:
    """Return for every character of `old` the span of `own` that it stands for."""
    plain = [span for at, span in enumerate(own.spans) for _ in fold.spaceless(own.character(at))]
    spans: list[tuple[int, int]] = []
    count = 0
    for at in range(len(old.spans)):
        size = len(fold.spaceless(old.character(at)))
        spans.append((plain[count][0], plain[count + size - 1][1]))
        count += size
    return spans


def _sources(old: _Spaced, new: _Spaced) -> Iterator[tuple[int | None, bool]]:
    """Yield for each character of `new` the one of `old` that it replaces, and whether it is the same."""
    dropped: int | None = None
    for step in Indel.opcodes(old.filled, new.filled):
        if step.tag == "delete":
            dropped = step.src_start
            continue
        if step.tag == "equal":
            yield from ((at, True) for at in range(step.src_start, step.src_end))
        else:
            yield (step.src_start if dropped is None else dropped), False
            yield from ((None, False) for _ in range(step.dest_start + 1, step.dest_end))
        dropped = None
