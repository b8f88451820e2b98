"""Hunks as a unified diff that `git apply` takes."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from coder_tui.diffs.model import Change, Comparison, Gap, Same, Section

CONTEXT = 3
NO_NEWLINE = "\\ No newline at end of file\n"


@dataclass(frozen=True, slots=True)
class _Line:
    """`old` and `new` are its place in either file, from 0."""

    sign: str
    text: str
    old: int
    new: int


def patch(comparison: Comparison, ids: Collection[str]) -> str:
    """The change that these hunks make to a file that has all the others already; no file names.

    Applied backwards to the new file it undoes just them.
    """
    wanted = comparison.sections_of(ids)
    pieces: list[str] = []
    for stretch in _stretches(comparison.sections, wanted):
        for group in _groups(stretch):
            pieces.extend(_hunk(group))
    return "".join(pieces)


def _stretches(sections: Sequence[Section], wanted: Collection[int]) -> Iterator[list[_Line]]:
    """Lines without a gap between them, with the changes that are not wanted as if they were always there."""
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
    """Changes with their context; those whose context would touch are together."""
    changed = [at for at, line in enumerate(lines) if line.sign != " "]
    spans: list[list[int]] = []
    for at in changed:
        if spans and at - spans[-1][1] <= 2 * CONTEXT + 1:
            spans[-1][1] = at
        else:
            spans.append([at, at])
    for first, last in spans:
        yield lines[max(0, first - CONTEXT) : last + CONTEXT + 1]


def _hunk(lines: Sequence[_Line]) -> Iterator[str]:
    old = sum(line.sign != "+" for line in lines)
    new = sum(line.sign != "-" for line in lines)
    yield f"@@ -{_range(lines[0].old, old)} +{_range(lines[0].new, new)} @@\n"
    for line in lines:
        yield line.sign + line.text
        if not line.text.endswith("\n"):
            yield f"\n{NO_NEWLINE}"


def _range(start: int, count: int) -> str:
    return f"{start + 1 if count else start},{count}"
