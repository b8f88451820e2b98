"""Apply a model's change to the file's lines: what it did not change keeps its bytes.

New lines take over the file's style: its indentation and its characters. A change inside a line is applied to
the file's own version of that line.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby

from rapidfuzz import fuzz
from rapidfuzz.distance import Indel

from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.editing import normalize
from coder_tui.tools.editing.script import FileLines, Mark, Script, ScriptLine, restore
from coder_tui.tools.editing.tiers import Indentation, Placement, Tier

_LONGEST = 2_000
_ALIKE = 60.0
_TOKEN = re.compile(r"\w+|[^\w\s]")


def tokens_of(line: str) -> list[str]:
    """Return the words and signs of a line, without the blanks between them."""
    return _TOKEN.findall(normalize.plain(line))


def has_same_words(one: str, other: str) -> bool:
    """Return whether two lines have the same words and signs, but for the form of quotes and dashes."""
    if tokens_of(one) == tokens_of(other):
        return True
    return normalize.narrow(one) == normalize.narrow(other) and _words(one) == _words(other)


def _words(line: str) -> list[str]:
    return re.findall(r"\w+", normalize.composed(line))


def carry_change(old: str, new: str, own: str) -> str:
    """Return `own` changed as `old` was to `new`; all three without indentation.

    `old` and `own` are the same line except for blanks and typographic characters. What old and new share
    keeps the file's characters. Blanks that the model did not change keep the file's blanks.
    """
    if old.rstrip() == own.rstrip() or max(len(old), len(new), len(own)) > _LONGEST:
        return new
    for fold in (normalize.spaceless, normalize.narrow):
        if fold(old) == fold(own) and all(_is_by_character(text, fold) for text in (old, own)):
            return _carried(old, new, own, fold)
    return new


Fold = Callable[[str], str]


def _is_by_character(text: str, fold: Fold) -> bool:
    """Return whether characters fold one by one, so that those of two texts correspond."""
    return text.isascii() or "".join(fold(text[slice(*span)]) for span in _filled(text)) == fold(text)


def _carried(old: str, new: str, own: str, fold: Fold) -> str:
    before, after, file = _Spaced(old, _filled(old)), _Spaced(new, _filled(new)), _Spaced(own, _filled(own))
    file = _Spaced(own, _corresponding_spans(before, file, fold))
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
    def filled(self) -> list[str]:
        return [self.text[start:end] for start, end in self.spans]


def _filled(text: str) -> list[tuple[int, int]]:
    """Return the spans of characters that are not blank, each with its accents."""
    if text.isascii():
        return [(at, at + 1) for at, character in enumerate(text) if not character.isspace()]
    spans: list[tuple[int, int]] = []
    for at, character in enumerate(text):
        if unicodedata.combining(character) and spans and spans[-1][1] == at:
            spans[-1] = spans[-1][0], at + 1
        elif normalize.spaceless(character):
            spans.append((at, at + 1))
    return spans


def _corresponding_spans(old: _Spaced, own: _Spaced, fold: Fold) -> list[tuple[int, int]]:
    """Return for every character of `old` the span of `own` that corresponds to it."""
    plain = [span for at, span in enumerate(own.spans) for _ in fold(own.character(at))]
    spans: list[tuple[int, int]] = []
    count = 0
    for at in range(len(old.spans)):
        size = len(fold(old.character(at)))
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

    def __init__(self, matched: list[MatchedLine], added: list[str]) -> None:
        self._matched = [line for line in matched if line.old.strip()]
        self._indentation = Indentation.learn(line.leads for line in self._matched)
        self._is_right = self._is_right_already(added)
        self._plain = str.maketrans(_plain_characters(matched))
        self._moved = {line.old.strip(): line.own.strip() for line in self._matched if line.is_dropped}
        self._has_stray_blanks = bool(self._matched) and all(_ends_stray(line) for line in self._matched)

    def indentation(
        self, model_lead: str, index: int, pair: MatchedLine | None, *, is_alike: bool = False
    ) -> str:
        """Return the indentation of a new line that comes before old line `index` or replaces `pair`."""
        if self._is_right or (pair is not None and _is_right_form(model_lead, pair, is_alike=is_alike)):
            return model_lead
        known = self._indentation.translate(model_lead)
        if known is not None:
            return known
        if pair is not None and pair.leads[0] == model_lead:
            return pair.leads[1]
        if self._indentation.is_mixed(model_lead):
            raise _uncertain_indentation()
        same = [line for line in self._matched if line.leads[0] == model_lead]
        before = [line.leads[1] for line in same if line.index < index][-1:]
        after = [line.leads[1] for line in same if line.index >= index][:1]
        if len(near := {*before, *after}) == 1:
            return near.pop()
        raise _uncertain_indentation()

    def _is_right_already(self, added: list[str]) -> bool:
        """Return whether the new lines are indented as in the file, though the old ones were not.

        Raises if it cannot be known: then they may as well be meant to go deeper.
        """
        leads = {normalize.lead(text) for text in added if text.strip()}
        olds, owns = ({line.leads[side] for line in self._matched} for side in (0, 1))
        if not leads or all(line.leads[0] == line.leads[1] for line in self._matched):
            return False
        dropped = [line.leads for line in self._matched if line.is_dropped]
        is_strange = not leads & olds and _least(leads) in owns
        if dropped and len(dropped) == len(self._matched):
            own, old = _least({own for _, own in dropped}), _least({old for old, _ in dropped})
            return is_strange or _least(leads) == own != old
        if is_strange and not dropped:
            raise _uncertain_indentation()
        return is_strange

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
        if not has_same_words(body, text):
            raise ToolError(
                ErrorType.NO_MATCH,
                "The place was found by ignoring blanks, but its words are separated differently.",
                "Read the place and copy its blanks exactly.",
            )
        is_alike = pair is not None and fuzz.ratio(pair.old.strip(), text.strip()) >= _ALIKE
        return self.indentation(normalize.lead(text), index, pair, is_alike=is_alike) + body


def _is_right_form(lead: str, pair: MatchedLine, *, is_alike: bool) -> bool:
    """Return whether a line's new form is indented like the file's, though its old form was not."""
    return is_alike and lead == pair.leads[1] != pair.leads[0]


def _least(leads: set[str]) -> str:
    return min(leads, key=lambda lead: len(lead.expandtabs(4)))


def _uncertain_indentation() -> ToolError:
    return ToolError(
        ErrorType.NO_MATCH,
        "The place was found by ignoring indentation, so the new lines' indentation is not certain.",
        "Read the place and copy its indentation exactly.",
    )


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
        added = [line.text for line in script.lines if line.mark is Mark.ADD]
        self._style = FileStyle([] if self._is_literal else list(self._matched.values()), added)
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
        ends = self._ends(dropped, len(added))
        texts = self._restyled(added, index, size)
        if texts:
            restored = restore(raw, "\n".join(texts)).split("\n")
            rows = zip(restored, added, ends, strict=True)
            yield from (text + end if line.has_end else text for text, line, end in rows)
        self.at += len(dropped)

    def _ends(self, dropped: list[int], size: int) -> list[str]:
        """Return the line ends of new lines: those of the lines that they replace, or one that is near."""
        if self._is_literal:
            return ["\n"] * size
        near = self._file.newline_near(self.at)
        if len(dropped) != size:
            return [near] * size
        return [self._file.end_of(row) or near for row in dropped]

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
