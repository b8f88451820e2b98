"""What a report of language servers comes to, for those who have a line for it."""

import json
from collections.abc import Iterable
from dataclasses import replace

from coder_tui.lsp.report import Report, problem_json, worth_telling
from coder_tui.protocol.diagnostics import ChangeCounts, Diagnostic, ProposalCheck, ServerStatus, Severity

UNKNOWN = "problems not known"
WHY_UNKNOWN = {
    ServerStatus.PENDING: "problems not known yet",
    ServerStatus.STALE: "problems not known yet",
    ServerStatus.STARTING: "problems not known yet",
    ServerStatus.CRASHED: "problems not known: the language server fails",
    ServerStatus.NOT_INSTALLED: "problems not checked: no language server",
    ServerStatus.UNTRUSTED: "problems not checked: no server may run here",
    ServerStatus.UNSUPPORTED: "problems not checked: the file is too large",
}
_MOST = 5
_LONGEST_MESSAGE = 300
_AS_OF_THEN = "As language servers last said; lines count from 0."
_GRAVITY = {severity: rank for rank, severity in enumerate(Severity)}


def counts_of(report: Report) -> ChangeCounts:
    """New and gone; where that cannot be told, all there are."""
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


def unchecked_words(words: str, count: int) -> str:
    """With how many files no server looked at."""
    left = f"{count} file{'' if count == 1 else 's'} not checked" if count else ""
    return ", ".join(filter(None, (words, left)))


def open_words(items: tuple[Diagnostic, ...]) -> str:
    """For a model that forgets what it was told of them: the gravest one by one, the rest in numbers."""
    told = worth_telling(items)
    if not told:
        return ""
    lines = [
        json.dumps(problem_json(replace(item, message=item.message[:_LONGEST_MESSAGE]), with_path=True))
        for item in told
    ]
    all_told = sum(item.severity in {Severity.ERROR, Severity.WARNING} for item in items)
    more = [f"[{all_told - len(told)} more]"] if all_told > len(told) else []
    return "\n".join((_AS_OF_THEN, *lines, *more))


def _count(items: Iterable[Diagnostic], severity: Severity) -> int:
    return sum(item.severity is severity for item in items)
