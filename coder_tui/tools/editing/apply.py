"""Applies the hunks of one file, all of them or none."""

from dataclasses import dataclass, replace
from itertools import pairwise

from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.editing.lines import FileLines
from coder_tui.tools.editing.locate import locate_all
from coder_tui.tools.editing.narrow import Sought
from coder_tui.tools.editing.nearest import nearest_region
from coder_tui.tools.editing.patch_model import Hunk
from coder_tui.tools.editing.splice import Splice, joined, splice
from coder_tui.tools.editing.strategy import Strategy
from coder_tui.tools.editing.tiers import Searched
from coder_tui.workspace.files import TextFile

_MOST_LINES_NAMED = 20


@dataclass(frozen=True, slots=True)
class HunkReport:
    """How one hunk fared. `line` counts from 1 in the file as it was, `offset` from the line it stated."""

    index: int
    line: int | None = None
    offset: int = 0
    strategy: Strategy | None = None
    failure: ErrorType | None = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class Applied:
    """`text` is None when any hunk failed."""

    text: str | None
    hunks: tuple[HunkReport, ...]


def apply_hunks(file: TextFile, hunks: tuple[Hunk, ...], *, only_exact: bool) -> Applied:
    """Work out the new text and report on every hunk; `only_exact` where the file changed since its read."""
    searched = Searched(FileLines.of(file))
    reports: list[HunkReport] = []
    splices: list[Splice] = []
    for index, sought in enumerate(_without_doubles(locate_all(searched, hunks)), start=1):
        report, made = _made(searched, sought, index, only_exact=only_exact)
        reports.append(report)
        splices += made
    if any(report.failure for report in reports):
        return Applied(None, tuple(reports))
    if (clash := _clash(splices)) is not None:
        reports[clash] = _failed(reports[clash].index, ErrorType.CONTEXT_MISMATCH, "it overlaps another hunk")
        return Applied(None, tuple(reports))
    return Applied(joined(searched.lines, splices), tuple(reports))


def _without_doubles(found: list[Sought]) -> list[Sought]:
    """Two hunks that look for the same lines cannot both mean one place."""
    taken: set[tuple[int, tuple[str, ...]]] = set()
    kept: list[Sought] = []
    for sought in found:
        key = (sought.place.start, sought.script.old) if sought.place and sought.script.old else None
        kept.append(replace(sought, failure=ErrorType.AMBIGUOUS_MATCH) if key in taken else sought)
        if key:
            taken.add(key)
    return kept


def _made(
    searched: Searched, sought: Sought, index: int, *, only_exact: bool
) -> tuple[HunkReport, list[Splice]]:
    place = sought.place
    if sought.script.changes_nothing:
        return _failed(index, ErrorType.INVALID_TOOL_PARAMS, "it changes nothing"), []
    if place is None:
        return _unplaced(searched, sought, index), []
    if only_exact and place.strategy is not Strategy.EXACT:
        return _failed(index, ErrorType.STALE_FILE, "it does not match exactly, and the file changed"), []
    try:
        part = splice(searched.lines, sought.script, place)
    except ToolError as error:
        return _failed(index, error.type, error.message), []
    offset = place.start + 1 - sought.hunk.line if sought.hunk.line is not None and sought.script.old else 0
    return HunkReport(index, place.start + 1, offset, place.strategy), [part]


def _clash(splices: list[Splice]) -> int | None:
    """The later of two hunks that would change the same lines."""
    order = sorted(range(len(splices)), key=lambda index: (splices[index].start, splices[index].end, index))
    for one, other in pairwise(order):
        if splices[other].start < splices[one].end:
            return max(one, other)
    return None


def _unplaced(searched: Searched, sought: Sought, index: int) -> HunkReport:
    failure = sought.failure or ErrorType.CONTEXT_MISMATCH
    if failure is ErrorType.AMBIGUOUS_MATCH:
        lines = sorted(place.start + 1 for place in sought.places)
        named = ", ".join(str(line) for line in lines[:_MOST_LINES_NAMED])
        return _failed(index, failure, f"it fits at {len(lines)} places, lines {named}; give more context")
    if failure is ErrorType.ALREADY_APPLIED:
        return _failed(index, failure, "the file is as the hunk would make it")
    if not sought.script.old:
        return _failed(index, failure, "it has no lines of context or removal to find its place by")
    nearest = nearest_region(searched.lines.seen, "\n".join(sought.script.old))
    return _failed(index, failure, nearest.sentence() if nearest else "nothing in the file is like it")


def _failed(index: int, failure: ErrorType, error: str) -> HunkReport:
    return HunkReport(index, failure=failure, error=error)
