"""Decide by hunk: undo some, split one, show some as a patch that `git apply` takes."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from coder_tui.diffs.compare import with_ids
from coder_tui.diffs.words import Pair, align
from coder_tui.protocol.comparison import Change, Comparison, Gap, Hunk, Same, Section


def undo_hunks(comparison: Comparison, rejected: Collection[str]) -> str:
    """Return the new text with these hunks undone; raise `ValueError` if parts of the file are not known."""
    undone = comparison.sections_of(rejected)
    return "".join(
        line for index, section in enumerate(comparison.sections) for line in _kept(section, index in undone)
    )


def _kept(section: Section, is_undone: bool) -> tuple[str, ...]:
    match section:
        case Same(lines=lines):
            return lines
        case Change(deleted=deleted, added=added):
            return deleted if is_undone else added
        case Gap():
            raise ValueError("A diff that leaves lines out cannot give back the whole file.")


def split_hunk(comparison: Comparison, id: str) -> Comparison:
    """Split a hunk: at the lines between its changes, else by runs of lines, else line by line.

    A hunk of a single line is returned as it was.
    """
    hunk = comparison.hunk(id)
    inside: Sequence[Section] = comparison.sections[hunk.start : hunk.stop]
    if len(inside) == 1 and isinstance(change := inside[0], Change):
        inside = tuple(_pieces(change))
    sections = (*comparison.sections[: hunk.start], *inside, *comparison.sections[hunk.stop :])
    spans = list(_spans(comparison.hunks, hunk, inside))
    return replace(comparison, sections=sections, hunks=with_ids(sections, spans, comparison.path))


def _spans(hunks: Sequence[Hunk], split: Hunk, inside: Sequence[Section]) -> Iterator[tuple[int, int]]:
    shift = len(inside) - (split.stop - split.start)
    for hunk in hunks:
        if hunk.id == split.id:
            places = range(split.start, split.start + len(inside))
            yield from (
                (at, at + 1)
                for at, section in zip(places, inside, strict=True)
                if isinstance(section, Change)
            )
        else:
            moved = shift if hunk.start > split.start else 0
            yield hunk.start + moved, hunk.stop + moved


def _pieces(change: Change) -> Iterator[Change]:
    rows = align(change.deleted, change.added)
    kinds = [_kind(pair, index in rows.related) for index, pair in enumerate(rows.rows)]
    cuts = [at for at in range(1, len(kinds)) if kinds[at] != kinds[at - 1]]
    cuts = cuts or list(range(1, len(kinds)))
    bounds = [0, *(at for at in cuts if _may_cut(change, rows.rows[:at])), len(kinds)]
    for start, stop in pairwise(bounds):
        old = [i for i, _ in rows.rows[start:stop] if i is not None]
        new = [j for _, j in rows.rows[start:stop] if j is not None]
        before_old = sum(i is not None for i, _ in rows.rows[:start])
        before_new = sum(j is not None for _, j in rows.rows[:start])
        deleted, added = tuple(change.deleted[i] for i in old), tuple(change.added[j] for j in new)
        yield Change(change.old + before_old, change.new + before_new, deleted, added)


def _kind(pair: Pair, is_related: bool) -> tuple[bool, bool, bool]:
    return pair[0] is not None, pair[1] is not None, is_related


def _may_cut(change: Change, before: Sequence[Pair]) -> bool:
    """Return whether the lines before a cut have ends: nothing may follow a line without one."""
    old, new = before[-1]
    is_ended = old is None or change.deleted[old].endswith("\n")
    return is_ended and (new is None or change.added[new].endswith("\n"))


CONTEXT = 3
NO_NEWLINE = "\\ No newline at end of file\n"


@dataclass(frozen=True, slots=True)
class _Line:
    """`old` and `new` are its place in either file, from 0."""

    sign: str
    text: str
    old: int
    new: int


def patch(comparison: Comparison, ids: Collection[str], *, is_short: bool = False) -> str:
    """Return the change that these hunks make to a file that has all the others already; without file names.

    Applied in reverse to the new file, it undoes only them. `is_short` leaves out counts of one line, as git
    does.
    """
    wanted = comparison.sections_of(ids)
    pieces: list[str] = []
    for stretch in _stretches(comparison.sections, wanted):
        for group in _groups(stretch):
            pieces.extend(_hunk(group, is_short=is_short))
    return "".join(pieces)


def _stretches(sections: Sequence[Section], wanted: Collection[int]) -> Iterator[list[_Line]]:
    """Yield runs of lines without a gap; changes that are not wanted count as if always there."""
    lines: list[_Line] = []
    old = 0
    for index, section in enumerate(sections):
        match section:
            case Gap(count=count):
                yield lines
                lines, old = [], old + count
            case Same(new=new, lines=same):
                lines += [_Line(" ", line, old + at, new + at) for at, line in enumerate(same)]
                old += len(same)
            case Change(new=new, deleted=deleted, added=added) if index in wanted:
                lines += [_Line("-", line, old + at, new) for at, line in enumerate(deleted)]
                old += len(deleted)
                lines += [_Line("+", line, old, new + at) for at, line in enumerate(added)]
            case Change(new=new, added=added):
                lines += [_Line(" ", line, old + at, new + at) for at, line in enumerate(added)]
                old += len(added)
    yield lines


def _groups(lines: Sequence[_Line]) -> Iterator[Sequence[_Line]]:
    """Yield changes with their context; those whose context would touch are together."""
    changed = [at for at, line in enumerate(lines) if line.sign != " "]
    spans: list[list[int]] = []
    for at in changed:
        if spans and at - spans[-1][1] <= 2 * CONTEXT + 1:
            spans[-1][1] = at
        else:
            spans.append([at, at])
    for first, last in spans:
        yield lines[max(0, first - CONTEXT) : last + CONTEXT + 1]


def _hunk(lines: Sequence[_Line], *, is_short: bool) -> Iterator[str]:
    old = sum(line.sign != "+" for line in lines)
    new = sum(line.sign != "-" for line in lines)
    ranges = (_range(lines[0].old, old, is_short=is_short), _range(lines[0].new, new, is_short=is_short))
    yield "@@ -{} +{} @@\n".format(*ranges)
    for line in lines:
        yield line.sign + line.text
        if not line.text.endswith("\n"):
            yield f"\n{NO_NEWLINE}"


def _range(start: int, count: int, *, is_short: bool) -> str:
    first = start + 1 if count else start
    return str(first) if is_short and count == 1 else f"{first},{count}"
