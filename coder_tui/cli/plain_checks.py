"""What language servers say of a change that waits for an answer, in lines."""

from collections.abc import Iterator

from coder_tui.agent.problem_words import UNKNOWN, WHY_UNKNOWN, unchecked_words
from coder_tui.protocol.diagnostics import IS_AWAITED, ProposalCheck, ServerStatus


def check_lines(check: ProposalCheck) -> Iterator[str]:
    """None while it is awaited, and none where no server is for such files: that is no news."""
    is_no_news = check.status is ServerStatus.UNSUPPORTED and not check.detail
    if is_no_news or (check.status in IS_AWAITED and not check.introduced):
        return
    yield f"Problems of this change: {_words(check)}."
    for item in check.introduced:
        first = item.message.partition("\n")[0]
        said = " ".join(filter(None, (item.source, item.code)))
        yield f"    {item.path}:{item.line}:{item.character} {first}{f' ({said})' if said else ''}"


def _words(check: ProposalCheck) -> str:
    counts = str(check.counts)
    if check.unchecked:
        return unchecked_words(counts or "none that is new", check.unchecked)
    if not check.is_known:
        return f"{counts}, and more may come" if counts else WHY_UNKNOWN.get(check.status, UNKNOWN)
    if not counts:
        is_partly = check.status is ServerStatus.LINTER_MISSING
        return "hardly known, a checker is missing" if is_partly else "none that is new"
    return counts if check.is_compared else f"{counts.replace('+', '')} in it, old or new"
