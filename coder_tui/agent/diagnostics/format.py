"""Put reports of language servers into words, for results, approvals and front ends."""

import json
from collections.abc import Iterable
from dataclasses import replace

from coder_tui.lsp.report import Report, most_important, problem_json
from coder_tui.protocol.diagnostics import ChangeCounts, Diagnostic, ProposalCheck, ServerStatus, Severity

UNKNOWN = "problems unknown"
WHY_UNKNOWN = {
    ServerStatus.PENDING: "still checking for problems",
    ServerStatus.STALE: "still checking for problems",
    ServerStatus.STARTING: "language server is starting",
    ServerStatus.CRASHED: "problems unknown: language server crashed",
    ServerStatus.NOT_INSTALLED: "not checked: no language server installed",
    ServerStatus.UNTRUSTED: "not checked: language servers may not run here",
    ServerStatus.UNSUPPORTED: "not checked: file too large",
}
_MOST = 5
_LONGEST_MESSAGE = 300
_AS_OF_THEN = "As language servers last said; lines count from 0."
_GRAVITY = {severity: rank for rank, severity in enumerate(Severity)}


def counts_of(report: Report) -> ChangeCounts:
    """Count new and fixed problems; if that is not known, all of them."""
    new = report.introduced if report.is_compared else (*report.introduced, *report.remaining)
    return ChangeCounts(
        _count(new, Severity.ERROR),
        _count(report.fixed, Severity.ERROR),
        _count(new, Severity.WARNING),
        _count(report.fixed, Severity.WARNING),
    )


def check_of(report: Report) -> ProposalCheck:
    new = report.introduced if report.is_compared else (*report.introduced, *report.remaining)
    gravest = sorted(new, key=lambda item: (_GRAVITY[item.severity], item.line, item.character))
    return ProposalCheck(
        report.status,
        counts_of(report),
        tuple(gravest[:_MOST]),
        report.detail,
        report.is_known,
        report.is_compared,
        len(report.unchecked) if report.is_known_in_part else 0,
    )


def format_unchecked(words: str, count: int) -> str:
    """With how many files no server looked at."""
    left = f"{count} file{'' if count == 1 else 's'} not checked" if count else ""
    return ", ".join(filter(None, (words, left)))


def format_open_problems(items: tuple[Diagnostic, ...]) -> str:
    """List the worst problems and count the rest, for a model that loses its earlier messages."""
    listed = most_important(items)
    if not listed:
        return ""
    lines = [
        json.dumps(problem_json(replace(item, message=item.message[:_LONGEST_MESSAGE]), with_path=True))
        for item in listed
    ]
    count = sum(item.severity in {Severity.ERROR, Severity.WARNING} for item in items)
    more = [f"[{count - len(listed)} more]"] if count > len(listed) else []
    return "\n".join((_AS_OF_THEN, *lines, *more))


def _count(items: Iterable[Diagnostic], severity: Severity) -> int:
    return sum(item.severity is severity for item in items)
