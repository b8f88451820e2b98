"""What the approval dialog says about a request besides its preview.

This is a title, a digest, rows of details, and the problems that language servers find in a proposed change.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path, PurePath
from typing import assert_never

from rich.cells import cell_len
from textual.content import Content

from coder_tui.agent.diagnostics.format import UNKNOWN, WHY_UNKNOWN, format_unchecked
from coder_tui.protocol.diagnostics import ProposalCheck, ServerStatus
from coder_tui.protocol.display import (
    DiffBlock,
    DisplayBlock,
    ImageBlock,
    MarkdownBlock,
    SubagentsBlock,
    TableBlock,
    TerminalBlock,
    TextBlock,
    TodosBlock,
)
from coder_tui.protocol.findings import Finding, FindingKind
from coder_tui.protocol.requests import ApprovalRequest
from coder_tui.text.confusables import LONGEST, confusables
from coder_tui.text.safe_text import has_unsafe, safe_line
from coder_tui.ui.chrome.status_bar import short_path
from coder_tui.ui.draw.strips import cut
from coder_tui.ui.glyphs import Chrome


class Weight(StrEnum):
    """How much a row should catch the eye."""

    PLAIN = "plain"
    FIELD = "field"
    GOOD = "good"
    MARKED = "marked"
    WARNING = "warning"
    CLAIM = "claim"


@dataclass(frozen=True, slots=True)
class Detail:
    """A row: a label (empty if it is the same as in the row above), a text, and a reason in dim ink.

    `is_below` puts the reason below the text even if there is room next to it.
    """

    label: str
    text: str
    reason: str = ""
    weight: Weight = Weight.PLAIN
    is_below: bool = False


CLAIM = 'the model says: "'
"""Prefix of a fact that is only the model's claim. The program has not checked it."""

LONGEST_CLAIM = 200
UNCONFINED = "none"
"""Prefix of `ApprovalRequest.sandbox` if nothing confines a command."""


# Most serious first: users read the first rows.
_ORDER = (
    FindingKind.DELETES,
    FindingKind.WRITES,
    FindingKind.NETWORK,
    FindingKind.RUNS_CODE,
    FindingKind.UNKNOWN,
    FindingKind.READS,
)
_UNNAMED = {
    FindingKind.DELETES: "files that it does not name",
    FindingKind.WRITES: "files that it does not name",
    FindingKind.NETWORK: "any host",
    FindingKind.RUNS_CODE: "code that it does not name",
    FindingKind.UNKNOWN: "it may do anything",
    FindingKind.READS: "files that it does not name",
}
_EXPLAINED_BY_REASON = frozenset({FindingKind.READS, FindingKind.RUNS_CODE})
"""A reason says enough here even without a target."""
_WEIGHTS = {FindingKind.READS: Weight.PLAIN, FindingKind.WRITES: Weight.MARKED}
_DIGEST = {
    FindingKind.DELETES: "deletes",
    FindingKind.WRITES: "writes",
    FindingKind.NETWORK: "uses the network",
    FindingKind.RUNS_CODE: "runs code",
    FindingKind.UNKNOWN: "may do anything",
}


def title(request: ApprovalRequest, place: str, width: int, chrome: Chrome) -> str:
    """Return one line. If it is too long, the folder is dropped first, then the question is cut."""
    question = safe_line(request.title)
    if request.agent:
        question = f"{safe_line(request.agent)}: {question}"
    extent = _extent(request.preview)
    tail = "  ".join(part for part in (place, "" if extent in question else extent) if part)
    if cell_len(f"{question}  {tail}") <= width:
        return f"{question}  {tail}".rstrip()
    tail = place
    room = width - cell_len(tail) - 2 if tail else width
    return f"{cut(question, room, chrome.more)}  {tail}".rstrip()


def describe_undo(request: ApprovalRequest) -> str:
    """Say so of a request that can be undone."""
    return "new file, can be undone" if request.is_new_file else "can be undone"


def digest(request: ApprovalRequest, chrome: Chrome) -> Content:
    """Return the summary that stays in view while the rest scrolls. None of it is the model's own text."""
    parts: list[tuple[str, str]] = []
    if has_hidden(request):
        parts.append(("contains hidden characters, shown as symbols", "bold $text-warning"))
    if _seeming(request.preview):
        parts.append(("may contain look-alike characters", "bold $text-warning"))
    kinds = {finding.kind for finding in request.findings}
    parts += [(_DIGEST[kind], "$text-warning") for kind in _ORDER if kind in kinds - {FindingKind.READS}]
    if is_unconfined(request):
        parts.append(("no sandbox", "bold $text-warning"))
    if kinds == {FindingKind.READS}:
        parts.append(("only reads", "$text-success"))
    elif request.is_undoable:
        parts.append((describe_undo(request), "$text-success"))
    else:
        parts.append(
            ("undo covers most files here" if request.is_command else "cannot be undone", "$text-warning")
        )
    dot = Content(f" {chrome.dot} ")
    return dot.join([Content.styled(text, style) if style else Content(text) for text, style in parts])


def details(request: ApprovalRequest, chrome: Chrome) -> tuple[Detail, ...]:
    """Return the rows. Findings come before claims, so that a long claim cannot push them out of view."""
    rows = _seeming(request.preview) + found(request)
    if request.sandbox:
        weight = Weight.WARNING if is_unconfined(request) else Weight.GOOD
        rows.append(Detail("sandbox", _shortened(request.sandbox, request.preview), weight=weight))
    known = [fact for fact in request.facts if not fact.startswith(CLAIM)]
    said = [_shortened(fact, request.preview) for fact in known]
    rows += [Detail("" if index else "why", fact) for index, fact in enumerate(dict.fromkeys(said))]
    if request.rule:
        rows.append(Detail("rule", safe_line(request.rule)))
    claims = [fact for fact in request.facts if fact.startswith(CLAIM)]
    rows += [Detail("model says", _claim(claim, chrome), weight=Weight.CLAIM) for claim in claims]
    return tuple(rows)


def is_command(request: ApprovalRequest) -> bool:
    return isinstance(request.preview, TerminalBlock)


def is_unconfined(request: ApprovalRequest) -> bool:
    return request.sandbox.startswith(UNCONFINED)


def has_hidden(request: ApprovalRequest) -> bool:
    return has_unsafe(request.title) or has_unsafe(raw_text(request.preview))


def is_deceptive(request: ApprovalRequest) -> bool:
    """Return whether hidden or look-alike characters could disguise what the call does."""
    return has_hidden(request) or bool(_seeming(request.preview))


def _seeming(preview: DisplayBlock) -> list[Detail]:
    """List words of a command with look-alike letters."""
    if not isinstance(preview, TerminalBlock) or preview.command.isascii():
        return []
    rows = [
        Detail(
            "" if index else "looks like",
            safe_line(found.resembles),
            f"but has {safe_line(found.reason)}",
            Weight.WARNING,
        )
        for index, found in enumerate(confusables(preview.command))
    ]
    if len(preview.command) > LONGEST:
        rows.append(Detail("not checked", "too long to check for look-alike letters", weight=Weight.WARNING))
    return rows


def found(request: ApprovalRequest) -> list[Detail]:
    """List what a command was found to do, most serious first."""
    rows: list[Detail] = []
    for kind in _ORDER:
        reasons: dict[str, list[str]] = {}
        for finding in request.findings:
            if finding.kind is kind:
                reasons.setdefault(_target(finding, request.preview), []).append(safe_line(finding.reason))
        for index, (target, said) in enumerate(reasons.items()):
            reason = "; ".join(dict.fromkeys(filter(None, said)))
            if not target and reason and kind in _EXPLAINED_BY_REASON:
                target, reason = reason, ""
            weight = _WEIGHTS.get(kind, Weight.WARNING)
            rows.append(Detail("" if index else str(kind), target or _UNNAMED[kind], reason, weight))
    return rows


def _target(finding: Finding, preview: DisplayBlock) -> str:
    """Return a path relative to the command's folder if it is below it, otherwise in full."""
    folder = _folder(preview)
    if folder and finding.target.startswith("/") and PurePath(finding.target).is_relative_to(folder):
        inside = PurePath(finding.target).relative_to(folder)
        return safe_line("this folder" if str(inside) == "." else str(inside))
    return safe_line(finding.target)


def _shortened(text: str, preview: DisplayBlock) -> str:
    """Shorten paths in one of the program's own sentences, as `_target` does."""
    folder = _folder(preview)
    if len(folder) > 1:
        text = re.sub(rf"(?<!\S){re.escape(folder)}/(?=\S)", "", text)
    return safe_line(text)


def _folder(preview: DisplayBlock) -> str:
    return preview.directory if isinstance(preview, TerminalBlock) else ""


def _claim(fact: str, chrome: Chrome) -> str:
    words = safe_line(fact.removeprefix(CLAIM).removesuffix('"'))
    return f'"{cut(words, LONGEST_CLAIM, chrome.more)}"'


def _extent(preview: DisplayBlock) -> str:
    """Return the folder a command runs in, or how many lines an edit changes."""
    match preview:
        case TerminalBlock(directory=directory):
            return f"in {safe_line(short_path(Path(directory)))}" if directory else ""
        case DiffBlock(additions=additions, deletions=deletions):
            return f"+{additions} -{deletions}"
        case TextBlock() | MarkdownBlock() | TodosBlock() | TableBlock() | SubagentsBlock() | ImageBlock():
            return ""
        case _:
            assert_never(preview)


def raw_text(preview: DisplayBlock) -> str:
    """Return the text that would be run or written, or "" if there is none."""
    match preview:
        case TerminalBlock():
            return preview.command
        case DiffBlock():
            return preview.diff
        case TextBlock() | MarkdownBlock():
            return preview.text
        case TodosBlock() | TableBlock() | SubagentsBlock() | ImageBlock():
            return ""
        case _:
            assert_never(preview)


_NO_NEW = "no new problems"
_LONGEST, _LEAST = 48, 12
"""Most columns of the text, so that it never adds a row to a narrow dialog; least columns of a message."""


def describe_check(check: ProposalCheck, chrome: Chrome) -> tuple[str, str]:
    """Return the text and its style. The text is empty if no server handles such files."""
    if check.status is ServerStatus.UNSUPPORTED and not check.detail:
        return "", ""
    counts, is_worse = str(check.counts), bool(check.counts.errors or check.counts.warnings)
    style = "bold $text-warning" if is_worse else "$text-success"
    if not check.is_known and not check.unchecked:
        words = f"{counts} so far" if is_worse else WHY_UNKNOWN.get(check.status, UNKNOWN)
        return words, style if is_worse else "$text-muted"
    if counts and not check.is_compared:
        counts = f"{counts.replace('+', '')} (old or new)"
    if check.unchecked:
        words = format_unchecked(counts or _NO_NEW, check.unchecked)
        return cut(words, _LONGEST, chrome.more), style if is_worse else "$text-muted"
    if not counts:
        return _describe_clean(check)
    return counts + _first(check, _LONGEST - len(counts), chrome), style


def _describe_clean(check: ProposalCheck) -> tuple[str, str]:
    if check.status is ServerStatus.LINTER_MISSING:
        return "only partly checked: a linter is missing", "$text-muted"
    return _NO_NEW, "$text-success"


def _first(check: ProposalCheck, room: int, chrome: Chrome) -> str:
    """Return the most serious problem, if there is room for it."""
    if not check.introduced:
        return ""
    first = check.introduced[0]
    place = f": {first.line}:{first.character} "
    words = safe_line(first.message[: 4 * _LONGEST].partition("\n")[0])
    return place + cut(words, room - len(place), chrome.more) if room - len(place) >= _LEAST else ""


def check_rows(check: ProposalCheck, chrome: Chrome) -> tuple[Detail, ...]:
    """Return a row for each of the most serious new problems."""
    words, _ = describe_check(check, chrome)
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
