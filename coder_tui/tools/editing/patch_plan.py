"""Work out what a patch would do to every file it names, before anything is written.

The hunks of one file are applied all or not at all.
"""

import asyncio
import hashlib
import os
from dataclasses import dataclass, replace
from itertools import pairwise

from rapidfuzz.fuzz import ratio

from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.editing.align import is_elision
from coder_tui.tools.editing.intent import is_placeholder
from coder_tui.tools.editing.locate import HunkSearch, locate_all
from coder_tui.tools.editing.nearest import nearest_region
from coder_tui.tools.editing.script import (
    FileLines,
    FilePatch,
    Hunk,
    Mark,
    Operation,
    Script,
    ScriptLine,
    added_text,
    rewritten,
    to_line_feeds,
)
from coder_tui.tools.editing.splice import Splice, apply_splices, splice
from coder_tui.tools.editing.tiers import SearchableFile, Strategy
from coder_tui.workspace.files.confine import Located, Workspace
from coder_tui.workspace.files.save import stale_file
from coder_tui.workspace.files.text import ReadLedger, TextFile, digest_of, load, load_if_there

_MOST_LINES_NAMED = 20


@dataclass(frozen=True, slots=True)
class HunkReport:
    """What happened to one hunk. `line` counts from 1 in the old file; `offset` is from the stated line."""

    index: int
    line: int | None = None
    offset: int = 0
    strategy: Strategy | None = None
    failure: ErrorType | None = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class Applied:
    """`text` is None if any hunk failed."""

    text: str | None
    hunks: tuple[HunkReport, ...]


def apply_hunks(file: TextFile, hunks: tuple[Hunk, ...], *, only_exact: bool) -> Applied:
    """Work out the new text and report on every hunk; `only_exact` if the file changed since it was read."""
    searched = SearchableFile(FileLines.from_file(file))
    reports: list[HunkReport] = []
    splices: list[Splice] = []
    for index, search in enumerate(_refuse_duplicates(locate_all(searched, hunks)), start=1):
        report, made = _apply_hunk(searched, search, index, only_exact=only_exact)
        reports.append(report)
        splices += made
    if any(report.failure for report in reports):
        return Applied(None, tuple(reports))
    if (clash := _clash(splices)) is not None:
        reports[clash] = _failed(reports[clash].index, ErrorType.CONTEXT_MISMATCH, "it overlaps another hunk")
        return Applied(None, tuple(reports))
    return Applied(apply_splices(searched.lines, splices), tuple(reports))


def _refuse_duplicates(found: list[HunkSearch]) -> list[HunkSearch]:
    """Mark a hunk as ambiguous if an earlier one already has its place and looks for the same lines."""
    taken: set[tuple[int, tuple[str, ...]]] = set()
    kept: list[HunkSearch] = []
    for search in found:
        key = (search.place.start, search.script.old) if search.place and search.script.old else None
        kept.append(replace(search, failure=ErrorType.AMBIGUOUS_MATCH) if key in taken else search)
        if key:
            taken.add(key)
    return kept


def _apply_hunk(
    searched: SearchableFile, search: HunkSearch, index: int, *, only_exact: bool
) -> tuple[HunkReport, list[Splice]]:
    place = search.place
    if search.script.changes_nothing:
        return _failed(index, ErrorType.INVALID_TOOL_PARAMS, "it changes nothing"), []
    if place is None:
        return _unplaced(searched, search, index), []
    if doubt := _doubt_about(searched, search):
        return _failed(index, ErrorType.CONTEXT_MISMATCH, doubt), []
    if only_exact and place.strategy is not Strategy.EXACT:
        return _failed(index, ErrorType.STALE_FILE, "it does not match exactly, and the file changed"), []
    try:
        part = splice(searched.lines, search.script, place)
    except ToolError as error:
        return _failed(index, error.type, error.message), []
    offset = place.start + 1 - search.hunk.line if search.hunk.line is not None and search.script.old else 0
    return HunkReport(index, place.start + 1, offset, place.strategy), [part]


_ALIKE = 60.0


def _doubt_about(file: SearchableFile, search: HunkSearch) -> str:
    """Return why a hunk may mean something else than its lines say, or an empty string."""
    place, script = search.place, search.script
    for line in script.lines:
        if line.mark is Mark.ADD and is_placeholder(line.text) and line.text not in file.line_set:
            return f"it adds a placeholder for code that was left out: {line.text.strip()[:80]!r}"
    lacking = _lacking_signs(search)
    rows = iter(place.rows if place else ())
    found = [None if line.mark is Mark.ADD else next(rows, None) for line in script.lines]
    for at, line in enumerate(script.lines):
        if line.mark is not Mark.KEEP:
            continue
        added, removed = _next_to(script, at, Mark.ADD), _next_to(script, at, Mark.DROP)
        is_blank, quoted = not line.text.strip(), repr(line.text.strip()[:80])
        if place and place.rows and found[at] is None and not is_elision(line.text):
            is_new_form = not is_blank and (not line.has_sign or _is_like(line, removed))
            if (added and not (is_blank and line.has_sign)) or (removed and is_new_form):
                return f"a line next to the changed ones is not in the file; has it lost its +? {quoted}"
            if at and not is_blank and _is_missing_context(script, found, at - 1):
                return f"these lines are not in the file; have they lost their +? {quoted}"
        if at in lacking and _is_like(line, added):
            return f"a line without a sign may be meant as removed: {quoted}"
    return ""


def _is_missing_context(script: Script, found: list[int | None], at: int) -> bool:
    line = script.lines[at]
    return (
        line.mark is Mark.KEEP and found[at] is None and bool(line.text.strip()) and not is_elision(line.text)
    )


def _is_like(line: ScriptLine, others: list[ScriptLine]) -> bool:
    return any(ratio(line.text.strip(), other.text.strip()) >= _ALIKE for other in others)


def _next_to(script: Script, at: int, mark: Mark) -> list[ScriptLine]:
    """Return the added or removed lines right before and after a line."""
    found: list[ScriptLine] = []
    for step in (-1, 1):
        other = at + step
        while 0 <= other < len(script.lines) and script.lines[other].mark is mark:
            found.append(script.lines[other])
            other += step
    return found


def _lacking_signs(search: HunkSearch) -> set[int]:
    """Return the context lines that have lost their sign, if others of the hunk have theirs."""
    given, used = search.hunk.script.lines, search.script.lines
    if len(given) != len(used):
        return set()
    lacking = {
        index
        for index, (one, other) in enumerate(zip(given, used, strict=True))
        if other.mark is Mark.KEEP and other.text.strip() and (not one.has_sign or one.text != other.text)
    }
    has_others = any(
        line.mark is Mark.KEEP and line.text.strip() and index not in lacking
        for index, line in enumerate(used)
    )
    return lacking if has_others else set()


def _clash(splices: list[Splice]) -> int | None:
    """Return the later of two hunks that would change the same lines."""
    order = sorted(range(len(splices)), key=lambda index: (splices[index].start, splices[index].end, index))
    for one, other in pairwise(order):
        if splices[other].start < splices[one].end:
            return max(one, other)
    return None


def _unplaced(searched: SearchableFile, search: HunkSearch, index: int) -> HunkReport:
    failure = search.failure or ErrorType.CONTEXT_MISMATCH
    if search.reason:
        return _failed(index, failure, search.reason)
    if failure is ErrorType.AMBIGUOUS_MATCH:
        lines = sorted({place.start + 1 for place in search.places})
        named = ", ".join(str(line) for line in lines[:_MOST_LINES_NAMED])
        if len(lines) < 2:
            return _failed(index, failure, f"it fits in more than one way at line {named}; give more context")
        return _failed(index, failure, f"it fits at {len(lines)} places, lines {named}; give more context")
    if failure is ErrorType.ALREADY_APPLIED:
        return _failed(index, failure, "the file already has this change")
    if not search.script.old:
        return _failed(index, failure, "it has no context or removed lines to find its place by")
    nearest = nearest_region(searched.lines.seen, "\n".join(search.script.old))
    return _failed(index, failure, nearest.sentence() if nearest else "nothing in the file is similar")


def _failed(index: int, failure: ErrorType, error: str) -> HunkReport:
    return HunkReport(index, failure=failure, error=error)


_ALL_MAY_RUN = 0o111


@dataclass(frozen=True, slots=True)
class FilePlan:
    """One file before and after. `before` is None for a new file, `text` for a deleted one."""

    operation: Operation
    source: Located
    target: Located
    before: TextFile | None
    text: str | None
    hunks: tuple[HunkReport, ...] = ()
    mode: int | None = None
    keeps_source: bool = False

    @property
    def data(self) -> bytes:
        return b"" if self.text is None else (self.before or TextFile("")).encode(self.text)

    @property
    def fingerprint(self) -> str:
        old = self.before.digest if self.before else "-"
        new = "-" if self.text is None else digest_of(self.data)
        return f"{self.source.path}\0{self.target.path}\0{old}\0{new}\0{self.mode}"


@dataclass(frozen=True, slots=True)
class FileFailure:
    """Why the patch cannot be applied to one file."""

    patch: FilePatch
    shown: str
    error: ToolError
    hunks: tuple[HunkReport, ...] = ()


def fingerprint_of(plans: list[FilePlan]) -> str:
    """Return a hash that ties an approval to the old and new bytes of every file."""
    return hashlib.sha256(
        "\0\0".join(plan.fingerprint for plan in plans).encode("utf-8", "replace")
    ).hexdigest()


class Planner:
    """Reads the files that a patch names and applies the patch in memory."""

    def __init__(self, workspace: Workspace, ledger: ReadLedger) -> None:
        self._workspace = workspace
        self._ledger = ledger

    def locate(self, patch: FilePatch) -> tuple[Located, Located]:
        """Return where its files are; refuse places that may never be written."""
        places = self._named(patch, patch.path), self._named(patch, patch.new_path)
        for place in places:
            self._workspace.check_write(place)
        return places

    def _named(self, patch: FilePatch, path: str) -> Located:
        """Return the place of a file. A diff's own `a/` or `b/` is left out if no such folder is there."""
        place = self._workspace.locate(path)
        folder, _, bare = path.partition("/")
        is_diffs_own = folder in ("a", "b") and patch.path == patch.new_path and bool(bare)
        if patch.operation is not Operation.MODIFY or not is_diffs_own or bare.startswith(("/", "~", ".")):
            return place
        has_folder = not _is_missing(self._workspace.locate(folder))
        found = self._workspace.locate(bare)
        return place if has_folder or _is_missing(found) else found

    async def plan(self, patch: FilePatch) -> FilePlan | FileFailure:
        source, target = self.locate(patch)
        try:
            return await self._plan(patch, source, target)
        except ToolError as error:
            return FileFailure(patch, source.shown, error)

    async def _plan(self, patch: FilePatch, source: Located, target: Located) -> FilePlan | FileFailure:
        match patch.operation:
            case Operation.CREATE:
                return await self._created(patch, target)
            case Operation.MODIFY if patch.is_pure_addition and _is_missing(source):
                return await self._created(patch, target)
            case Operation.RENAME if target.path != source.path and await load_if_there(target):
                raise _taken(target)
        before = await load(source)
        if patch.operation is Operation.DELETE and not patch.hunks:
            self._check_known(source, before)
            return FilePlan(patch.operation, source, source, before, None)
        return await self._changed(patch, source, target, before)

    async def _changed(
        self, patch: FilePatch, source: Located, target: Located, before: TextFile
    ) -> FilePlan | FileFailure:
        is_stale = self._ledger.has_changed(source.path, before.digest)
        applied = await asyncio.to_thread(apply_hunks, before, patch.hunks, only_exact=is_stale)
        if applied.text is None:
            failed = next(report for report in applied.hunks if report.failure)
            error = _hunk_error(source, failed, len(applied.hunks))
            return FileFailure(patch, source.shown, error, applied.hunks)
        if patch.operation is Operation.DELETE:
            return _deletion(patch, source, before, applied.text, applied.hunks)
        mode = _mode(before, is_executable=patch.is_executable)
        if applied.text == before.text and source.path == target.path and mode in (None, before.mode):
            raise ToolError(ErrorType.ALREADY_APPLIED, f"{source.shown} already has these changes.")
        return FilePlan(
            patch.operation, source, target, before, applied.text, applied.hunks, mode, patch.keeps_source
        )

    async def _created(self, patch: FilePatch, target: Located) -> FilePlan:
        text = added_text(patch.hunks)
        if any(hunk.script.old for hunk in patch.hunks):
            raise ToolError(
                ErrorType.CONTEXT_MISMATCH,
                f"{target.shown} should be a new file, but the patch quotes lines of it.",
            )
        reports = tuple(HunkReport(index, 1, 0, Strategy.EXACT) for index, _ in enumerate(patch.hunks, 1))
        mode = 0o755 if patch.is_executable else None
        existing = await load_if_there(target)
        if existing is None:
            return FilePlan(Operation.CREATE, target, target, None, text, reports, mode)
        if to_line_feeds(existing.shown) == text:
            raise ToolError(ErrorType.ALREADY_APPLIED, f"{target.shown} already exists with this content.")
        if not patch.may_replace:
            raise _taken(target)
        # GPT models rewrite a file this way. The approval shows what goes and what comes.
        self._check_known(target, existing)
        new = rewritten(existing, text)
        return FilePlan(Operation.MODIFY, target, target, existing, new, reports, mode)

    def _check_known(self, located: Located, before: TextFile) -> None:
        if self._ledger.has_changed(located.path, before.digest):
            raise stale_file(located, "changed since it was read")


def _deletion(
    patch: FilePatch, source: Located, before: TextFile, rest: str, reports: tuple[HunkReport, ...]
) -> FilePlan | FileFailure:
    if not rest:
        return FilePlan(Operation.DELETE, source, source, before, None, reports)
    message = f"{source.shown} should be deleted, but it has lines that the patch does not remove."
    error = ToolError(ErrorType.CONTEXT_MISMATCH, message, "Read the file, then delete all of its lines.")
    return FileFailure(patch, source.shown, error, reports)


def _is_missing(located: Located) -> bool:
    return not os.path.lexists(located.path)


def _taken(target: Located) -> ToolError:
    return ToolError(
        ErrorType.ALREADY_EXISTS, f"{target.shown} already exists.", "Update it, or choose another name."
    )


def _hunk_error(located: Located, report: HunkReport, count: int) -> ToolError:
    message = f"{located.shown}: hunk {report.index} of {count} cannot be applied: {report.error}"
    if not message.endswith("."):
        message += "."
    return ToolError(
        report.failure or ErrorType.CONTEXT_MISMATCH, message, f"Nothing was written. {_advice(report)}"
    )


def _advice(report: HunkReport) -> str:
    if report.failure is ErrorType.ALREADY_APPLIED:
        return "Leave this hunk out: it may already be applied."
    return "Read the place and copy its lines exactly."


def _mode(before: TextFile, *, is_executable: bool | None) -> int | None:
    if is_executable is None:
        return None
    if not is_executable:
        return before.mode & ~_ALL_MAY_RUN
    # Everyone who may read the file may then run it.
    return before.mode | (before.mode & 0o444) >> 2
