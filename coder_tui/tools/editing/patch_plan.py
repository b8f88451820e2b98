"""What a patch would do to every file it names, worked out before anything is written."""

import asyncio
import hashlib
import os
from dataclasses import dataclass

from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.editing.apply import HunkReport, apply_hunks
from coder_tui.tools.editing.patch_model import FilePatch, Operation, added_text
from coder_tui.tools.editing.strategy import Strategy
from coder_tui.tools.editing.view import to_line_feeds
from coder_tui.workspace.confine import Located, Workspace
from coder_tui.workspace.files import TextFile, digest_of, load, load_if_there
from coder_tui.workspace.ledger import ReadLedger
from coder_tui.workspace.save import stale_file

_ALL_MAY_RUN = 0o111


@dataclass(frozen=True, slots=True)
class FilePlan:
    """One file before and after. `before` is None for a new file, `text` for one that goes."""

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
    """Why one file's part cannot be done."""

    patch: FilePatch
    shown: str
    error: ToolError
    hunks: tuple[HunkReport, ...] = ()


def fingerprint_of(plans: list[FilePlan]) -> str:
    """Binds an approval to the old and new bytes of every file."""
    return hashlib.sha256(
        "\0\0".join(plan.fingerprint for plan in plans).encode("utf-8", "replace")
    ).hexdigest()


class Planner:
    """Reads what a patch names, and applies it in memory."""

    def __init__(self, workspace: Workspace, ledger: ReadLedger) -> None:
        self._workspace = workspace
        self._ledger = ledger

    def locate(self, patch: FilePatch) -> tuple[Located, Located]:
        """Where its files are; refused where nothing may ever be written."""
        places = self._workspace.locate(patch.path), self._workspace.locate(patch.new_path)
        for place in places:
            self._workspace.check_write(place)
        return places

    async def plan(self, patch: FilePatch) -> FilePlan | FileFailure:
        source, target = self.locate(patch)
        try:
            return await self._plan(patch, source, target)
        except ToolError as error:
            return FileFailure(patch, source.shown, error)

    async def _plan(self, patch: FilePatch, source: Located, target: Located) -> FilePlan | FileFailure:
        match patch.operation:
            case Operation.CREATE:
                return await _creation(patch, target)
            case Operation.MODIFY if patch.is_pure_addition and _is_missing(source):
                return await _creation(patch, target)
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
            raise ToolError(ErrorType.ALREADY_APPLIED, f"{source.shown} is as the patch would make it.")
        return FilePlan(
            patch.operation, source, target, before, applied.text, applied.hunks, mode, patch.keeps_source
        )

    def _check_known(self, located: Located, before: TextFile) -> None:
        if self._ledger.has_changed(located.path, before.digest):
            raise stale_file(located, "changed since it was read")


async def _creation(patch: FilePatch, target: Located) -> FilePlan:
    text = added_text(patch.hunks)
    if any(hunk.script.old for hunk in patch.hunks):
        raise ToolError(
            ErrorType.CONTEXT_MISMATCH,
            f"{target.shown} is to be a new file, but the patch quotes lines of it.",
        )
    existing = await load_if_there(target)
    if existing is not None:
        if to_line_feeds(existing.shown) == text:
            raise ToolError(ErrorType.ALREADY_APPLIED, f"{target.shown} exists with this very content.")
        raise _taken(target)
    mode = 0o755 if patch.is_executable else None
    reports = tuple(HunkReport(index, 1, 0, Strategy.EXACT) for index, _ in enumerate(patch.hunks, start=1))
    return FilePlan(Operation.CREATE, target, target, None, text, reports, mode)


def _deletion(
    patch: FilePatch, source: Located, before: TextFile, rest: str, reports: tuple[HunkReport, ...]
) -> FilePlan | FileFailure:
    if not rest:
        return FilePlan(Operation.DELETE, source, source, before, None, reports)
    message = f"{source.shown} is to be deleted, but it has lines that the patch does not name."
    error = ToolError(ErrorType.CONTEXT_MISMATCH, message, "Read the file, then delete all of its lines.")
    return FileFailure(patch, source.shown, error, reports)


def _is_missing(located: Located) -> bool:
    return not os.path.lexists(located.path)


def _taken(target: Located) -> ToolError:
    return ToolError(
        ErrorType.ALREADY_EXISTS, f"{target.shown} exists already.", "Update it, or choose another name."
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
        return "Leave this hunk out: it may be done."
    return "Read the place and copy its lines exactly."


def _mode(before: TextFile, *, is_executable: bool | None) -> int | None:
    if is_executable is None:
        return None
    if not is_executable:
        return before.mode & ~_ALL_MAY_RUN
    # Whoever may read it may then run it.
    return before.mode | (before.mode & 0o444) >> 2
