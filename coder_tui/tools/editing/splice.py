"""Apply a model's change to the file's lines: what it did not change keeps its bytes.

New lines take over the file's style: its indentation and its characters. A change inside a line is applied to
the file's own version of that line.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from rapidfuzz.distance import Indel

from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.editing import normalize
from coder_tui.tools.editing.script import FileLines, Mark, Script, ScriptLine, restore
from coder_tui.tools.editing.tiers import Indentation, Placement, Tier

_LONGEST = 2_000
_TOKEN = re.compile(r"\w+|[^\w\s]")


def tokens_of(line: str) -> list[str]:
    """Return the words and signs of a line, without the blanks between them."""
    return _TOKEN.findall(normalize.plain(line))


def carry_change(old: str, new: str, own: str) -> str:
    """Return `own` changed as `old` was to `new`; all three without indentation.

    `old` and `own` are the same line except for blanks and typographic characters. What old and new share
    keeps the file's characters. Blanks that the model did not change keep the file's blanks.
    """
    if old.rstrip() == own.rstrip() or max(len(old), len(new), len(own)) > _LONGEST:
        return new
    if normalize.spaceless(old) != normalize.spaceless(own):
        return new
    before, after, file = _Spaced(old, _filled(old)), _Spaced(new, _filled(new)), _Spaced(own, _filled(own))
    file = _Spaced(own, _corresponding_spans(before, file))
    pieces: list[str] = []
    shared: int | None = None
    for at, (source, is_shared) in enumerate(_sources(before, after)):
        gap = after.gap(at)
        if source is not None and gap == before.gap(source):
            gap = file.gap(source)
        if not is_shared or source is None:
            pieces += [gap, after.character(at)]
        elif shared != source - 1 or file.spans[shared] != file.spans[source]:
            # One character of the file may stand for two of the model's; it is written once.
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
    return [(at, at + 1) for at, character in enumerate(text) if normalize.spaceless(character)]


def _corresponding_spans(old: _Spaced, own: _Spaced) -> list[tuple[int, int]]:
    """Return for every character of `old` the span of `own` that corresponds to it."""
    plain = [span for at, span in enumerate(own.spans) for _ in normalize.spaceless(own.character(at))]
    spans: list[tuple[int, int]] = []
    count = 0
    for at in range(len(old.spans)):
        size = len(normalize.spaceless(old.character(at)))
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


@dataclass(frozen=True, slots=True)
class MatchedLine:
    """A line of the old side and the line of the file that it matches."""

    index: int
    old: str
    own: str
    is_dropped: bool = False

    @property
    def leads(self) -> tuple[str, str]:
        return normalize.lead(self.old), normalize.lead(self.own)


class FileStyle:
    """How the file's style differs from the model's, learned from the matched lines."""

    def __init__(self, matched: list[MatchedLine]) -> None:
        self._matched = [line for line in matched if line.old.strip()]
        self._indentation = Indentation.learn(line.leads for line in self._matched)
        self._plain = str.maketrans(_plain_characters(matched))
        self._moved = {line.old.strip(): line.own.strip() for line in self._matched if line.is_dropped}
        self._has_stray_blanks = bool(self._matched) and all(_ends_stray(line) for line in self._matched)

    def indentation(self, model_lead: str, index: int, pair: MatchedLine | None) -> str:
        """Return the indentation of a new line that comes before old line `index` or replaces `pair`."""
        known = self._indentation.translate(model_lead)
        if known is not None:
            return known
        if pair is not None and pair.leads[0] == model_lead:
            return pair.leads[1]
        same = [line for line in self._matched if line.leads[0] == model_lead]
        before = [line.leads[1] for line in same if line.index < index][-1:]
        after = [line.leads[1] for line in same if line.index >= index][:1]
        if len(near := {*before, *after}) == 1:
            return near.pop()
        raise ToolError(
            ErrorType.NO_MATCH,
            "The place was found by ignoring indentation, so the new lines' indentation is not certain.",
            "Read the place and copy its indentation exactly.",
        )

    def restyle(self, text: str, index: int, pair: MatchedLine | None) -> str:
        """Return a new line in the file's style; `pair` is the line that it replaces, if known."""
        body = text.lstrip(" \t")
        if not body:
            return "" if self._has_stray_blanks else text
        if self._has_stray_blanks:
            body = body.rstrip()
        if body.strip() in self._moved:
            body = self._moved[body.strip()]
        elif pair is not None:
            body = carry_change(pair.old.lstrip(" \t"), body, pair.own.lstrip(" \t"))
        body = body.translate(self._plain)
        if tokens_of(body) != tokens_of(text):
            raise ToolError(
                ErrorType.NO_MATCH,
                "The place was found by ignoring blanks, but its words are separated differently.",
                "Read the place and copy its blanks exactly.",
            )
        return self.indentation(normalize.lead(text), index, pair) + body


def _ends_stray(line: MatchedLine) -> bool:
    """Return whether the model wrote blanks at the end that the file does not have."""
    return line.old != line.old.rstrip() and line.own == line.own.rstrip()


def _plain_characters(matched: list[MatchedLine]) -> dict[str, str]:
    """Return the typographic characters that the model writes for plain ones, by their kind."""
    model = set("".join(line.old for line in matched if not line.old.isascii()))
    own = set("".join(line.own for line in matched if not line.own.isascii()))
    strange = model - own
    kinds = [kind for kind in normalize.KINDS if strange & kind]
    return {character: normalize.plain(character) for kind in kinds for character in kind - own}


@dataclass(frozen=True, slots=True)
class Splice:
    """Lines `start:end` of the file become `lines`, each with its end."""

    start: int
    end: int
    lines: tuple[str, ...]
    last_newline: bool | None = None
    """Whether the file ends in a newline afterwards; None if the change does not say."""


def splice(file: FileLines, script: Script, placement: Placement) -> Splice:
    """Return the change to the file's lines; raise `ToolError` if the new lines cannot take its style."""
    builder = _SpliceBuilder(file, script, placement)
    lines = list(builder.lines())
    last_newline = _last_newline(script, is_at_end=builder.at == len(file.raw))
    start, end = placement.start, builder.at
    # Only changed lines count, so that hunks may share their context.
    while lines and start < end and lines[0] == file.raw[start]:
        del lines[0]
        start += 1
    while lines and start < end and lines[-1] == file.raw[end - 1]:
        lines.pop()
        end -= 1
    return Splice(start, end, tuple(lines), last_newline)


def apply_splices(file: FileLines, splices: list[Splice]) -> str:
    """Return the file's text with all splices applied; they must not overlap."""
    pieces: list[str] = []
    at = 0
    last_newline = file.has_last_newline
    for part in sorted(splices, key=lambda part: (part.start, part.end)):
        pieces += [*file.raw[at : part.start], *part.lines]
        at = part.end
        last_newline = last_newline if part.last_newline is None else part.last_newline
    pieces += file.raw[at:]
    return "".join(_ended(pieces, file.newline.value, has_last=last_newline))


def _ended(lines: list[str], newline: str, *, has_last: bool) -> Iterator[str]:
    """Give every line an end; the last one only if the file should end in a newline."""
    for index, line in enumerate(lines):
        is_last = index == len(lines) - 1
        if is_last and not has_last:
            yield line.removesuffix("\n").removesuffix("\r") if line.endswith("\n") else line
        else:
            yield line if line.endswith("\n") else line + newline


def _last_newline(script: Script, *, is_at_end: bool) -> bool | None:
    if not is_at_end:
        return None
    new = [line for line in script.lines if line.mark is not Mark.DROP]
    if new and not new[-1].has_end:
        return False
    return True if script.old_lines and not script.old_lines[-1].has_end else None


class _SpliceBuilder:
    """Walks along script and file together."""

    def __init__(self, file: FileLines, script: Script, placement: Placement) -> None:
        self._file, self._script, self._rows = file, script, placement.rows
        self._is_literal = placement.tier is Tier.LITERAL
        self._matched = {
            index: MatchedLine(
                index, normalize.without_return(old.text), file.seen[row], old.mark is Mark.DROP
            )
            for index, (old, row) in enumerate(zip(script.old_lines, placement.rows, strict=True))
            if row is not None and index not in placement.weak
        }
        self._style = FileStyle([] if self._is_literal else list(self._matched.values()))
        self.at = placement.start

    def lines(self) -> Iterator[str]:
        index = 0
        for is_kept, group in groupby(self._script.lines, key=lambda line: line.mark is Mark.KEEP):
            lines = list(group)
            size = sum(line.mark is not Mark.ADD for line in lines)
            yield from self._kept(index, size) if is_kept else self._changed(lines, index, size)
            index += size

    def _kept(self, index: int, size: int) -> Iterator[str]:
        for row in self._rows[index : index + size]:
            if row is not None:
                yield from self._up_to(row + 1)

    def _changed(self, lines: list[ScriptLine], index: int, size: int) -> Iterator[str]:
        dropped = [row for row in self._rows[index : index + size] if row is not None]
        # What the model left out before the change stays before it.
        yield from self._up_to(dropped[0] if dropped else self._insertion_point(index))
        added = [line for line in lines if line.mark is Mark.ADD]
        raw = "".join(self._file.raw[row] for row in dropped)
        end = "\n" if self._is_literal else self._file.newline_near(self.at)
        texts = self._restyled(added, index, size)
        if texts:
            restored = restore(raw, "\n".join(texts)).split("\n")
            pairs = zip(restored, added, strict=True)
            yield from (text + end if line.has_end else text for text, line in pairs)
        self.at += len(dropped)

    def _up_to(self, row: int) -> Iterator[str]:
        if row > self.at:
            yield from self._file.raw[self.at : row]
            self.at = row

    def _insertion_point(self, index: int) -> int:
        """Return the place after the previous line, or before the next if the previous is not there."""
        follows = self._rows[index] if index < len(self._rows) else None
        has_before = index > 0 and self._rows[index - 1] is not None
        return self.at if has_before or follows is None else follows

    def _restyled(self, added: list[ScriptLine], index: int, size: int) -> list[str]:
        if self._is_literal:
            return [line.text for line in added]
        is_paired = len(added) == size
        return [
            self._style.restyle(
                normalize.without_return(line.text),
                index,
                self._matched.get(index + number) if is_paired else None,
            )
            for number, line in enumerate(added)
        ]
