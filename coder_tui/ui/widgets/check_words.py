"""What language servers make of a change that waits for an answer, in a few words and in rows."""

from coder_tui.agent.problem_words import UNKNOWN, WHY_UNKNOWN, unchecked_words
from coder_tui.protocol.diagnostics import ProposalCheck, ServerStatus
from coder_tui.text.safe_text import safe_line
from coder_tui.ui.drawing.strips import cut
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.widgets.request_words import Detail, Weight

_NO_NEW = "no new problems"
_LONGEST, _LEAST = 48, 12
"""Columns of all words, so that a narrow dialog has no row more when they come; and of the first message."""


def check_words(check: ProposalCheck, chrome: Chrome) -> tuple[str, str]:
    """The words and their style; none where no server is for such files."""
    if check.status is ServerStatus.UNSUPPORTED and not check.detail:
        return "", ""
    counts, is_worse = str(check.counts), bool(check.counts.errors or check.counts.warnings)
    style = "bold $text-warning" if is_worse else "$text-success"
    if not check.is_known and not check.unchecked:
        words = f"{counts}, and more may come" if is_worse else WHY_UNKNOWN.get(check.status, UNKNOWN)
        return words, style if is_worse else "$text-muted"
    if counts and not check.is_compared:
        counts = f"{counts.replace('+', '')} in it, old or new"
    if check.unchecked:
        words = unchecked_words(counts or _NO_NEW, check.unchecked)
        return cut(words, _LONGEST, chrome.more), style if is_worse else "$text-muted"
    if not counts:
        return _good_words(check)
    return counts + _first(check, _LONGEST - len(counts), chrome), style


def _good_words(check: ProposalCheck) -> tuple[str, str]:
    if check.status is ServerStatus.LINTER_MISSING:
        return "problems hardly known: a checker is missing", "$text-muted"
    return _NO_NEW, "$text-success"


def _first(check: ProposalCheck, room: int, chrome: Chrome) -> str:
    """The gravest of them, where there is room."""
    if not check.introduced:
        return ""
    first = check.introduced[0]
    place = f": {first.line}:{first.character} "
    words = safe_line(first.message[: 4 * _LONGEST].partition("\n")[0])
    return place + cut(words, room - len(place), chrome.more) if room - len(place) >= _LEAST else ""


def check_rows(check: ProposalCheck, chrome: Chrome) -> tuple[Detail, ...]:
    """The gravest of the new problems, each in a row."""
    words, _ = check_words(check, chrome)
    if not words:
        return ()
    counts = str(check.counts) or words
    rows = [Detail("problems", counts if check.introduced else words, safe_line(check.detail[:500]))]
    for item in check.introduced:
        place = safe_line(f"{item.path}:{item.line}:{item.character}")
        text = f"{place} {safe_line(item.message[:500].partition(chr(10))[0])}"
        said = safe_line(" ".join(filter(None, (item.source, item.code))))
        rows.append(Detail("", text, said, Weight.WARNING))
    return tuple(rows)
