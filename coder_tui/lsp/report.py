"""What a change did to the problems of files: introduced, fixed, remaining.

A fault that several servers report is one problem; its source names all of them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from coder_tui.protocol.diagnostics import Diagnostic, ServerStatus, Severity

_SEVERITIES = list(Severity)
# Each server quotes names in its own way.
_QUOTES = re.compile("[`'\"‘’“”]")
_BETWEEN = ", "
_Mark = tuple[str, int, str, str]


def merge_duplicates(items: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Merge problems of one line with the same code or message, unless they come from one source."""
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
        severity=min(one.severity, other.severity, key=_SEVERITIES.index),
        code=one.code or other.code,
        source=_BETWEEN.join(filter(None, (one.source, other.source))),
        is_new=one.is_new and other.is_new,
    )


MOST_WARNINGS = 5
MOST_ERRORS = 20

# The status that leaves most unknown comes first.
_GRAVEST_FIRST = (
    *(ServerStatus.UNTRUSTED, ServerStatus.CRASHED, ServerStatus.STARTING, ServerStatus.PENDING),
    *(ServerStatus.STALE, ServerStatus.LINTER_MISSING, ServerStatus.FRESH, ServerStatus.NOT_INSTALLED),
    ServerStatus.UNSUPPORTED,
)
IS_KNOWN = frozenset({ServerStatus.FRESH, ServerStatus.LINTER_MISSING})
IS_UNCHECKED = frozenset({ServerStatus.NOT_INSTALLED, ServerStatus.UNSUPPORTED})


@dataclass(frozen=True, slots=True)
class Report:
    """`is_compared` is False if the problems before the change are unknown; then all are `remaining`.

    `unchecked` names files that no server checked although one should have, if others were checked.
    """

    status: ServerStatus
    introduced: tuple[Diagnostic, ...] = ()
    fixed: tuple[Diagnostic, ...] = ()
    remaining: tuple[Diagnostic, ...] = ()
    detail: str = ""
    is_compared: bool = True
    unchecked: tuple[str, ...] = ()

    @property
    def is_known_in_part(self) -> bool:
        """Whether the checked files are fully known, but some files were not checked."""
        return bool(self.unchecked) and self.status in IS_UNCHECKED

    @property
    def is_known(self) -> bool:
        """Whether a problem that is not in the report does not exist."""
        return self.status in IS_KNOWN

    def count(self, severity: Severity) -> int:
        """Return the number of new problems minus the number of fixed ones."""
        new = sum(item.severity is severity for item in self.introduced)
        return new - sum(item.severity is severity for item in self.fixed)


def worst_status(statuses: Iterable[ServerStatus]) -> ServerStatus:
    """Return the status of several servers or files together: the one that leaves most unknown."""
    found = set(statuses)
    return next((status for status in _GRAVEST_FIRST if status in found), ServerStatus.UNSUPPORTED)


def join_reports(reports: Iterable[Report]) -> Report:
    """Join the reports of several files or servers."""
    parts = tuple(reports)
    known = [part for part in parts if part.status is not ServerStatus.UNSUPPORTED]
    return Report(
        worst_status(part.status for part in parts),
        merge_duplicates(item for part in parts for item in part.introduced),
        merge_duplicates(item for part in parts for item in part.fixed),
        merge_duplicates(item for part in parts for item in part.remaining),
        "; ".join(dict.fromkeys(part.detail for part in parts if part.detail)),
        all(part.is_compared for part in known),
        tuple(name for part in parts for name in part.unchecked),
    )


def join_file_reports(reports: Mapping[str, Report]) -> Report:
    """Join reports by file name. A file without its server is not covered by the others' reports."""
    whole = join_reports(reports.values())
    left = {name: part for name, part in reports.items() if part.status in IS_UNCHECKED and part.detail}
    if whole.status in IS_UNCHECKED or not left:
        return whole
    status = worst_status(part.status for part in left.values()) if whole.is_known else whole.status
    return replace(whole, status=status, unchecked=tuple(left))


def for_model(report: Report) -> dict[str, Any]:
    """Build the field `diagnostics` of an edit's result: new errors, a few new warnings, counts."""
    shown = most_important(report.introduced)
    fields: dict[str, Any] = {
        "server_status": str(report.status),
        "introduced": [problem_json(item, with_path=True) for item in shown],
        "introduced_count": len(report.introduced),
        "fixed_count": len(report.fixed),
        "remaining_count": len(report.remaining),
    }
    if report.unchecked:
        fields["not_checked"] = list(report.unchecked)
    if not report.is_known:
        fields["note"] = report.detail or "not yet known; this does not mean that there are no problems"
    elif report.detail:
        fields["note"] = report.detail
    if not report.is_compared:
        # New and old look the same here, but errors are worth knowing anyway.
        errors = [item for item in report.remaining if item.severity is Severity.ERROR][:MOST_ERRORS]
        fields["errors"] = [problem_json(item, with_path=True) for item in errors]
    return fields


def most_important(items: tuple[Diagnostic, ...]) -> list[Diagnostic]:
    """Return a bounded number of problems, errors first."""
    errors = [item for item in items if item.severity is Severity.ERROR]
    warnings = [item for item in items if item.severity is Severity.WARNING]
    return [*errors[:MOST_ERRORS], *warnings[:MOST_WARNINGS]]


def problem_json(item: Diagnostic, *, with_path: bool = False) -> dict[str, Any]:
    """Return a problem as models see it: positions count from 0."""
    fields: dict[str, Any] = {"path": item.path} if with_path else {}
    fields |= {
        "severity": str(item.severity),
        "line": item.line - 1,
        "character": item.character - 1,
        "message": item.message,
    }
    if item.code:
        fields["code"] = item.code
    if item.source:
        fields["source"] = item.source
    return fields
