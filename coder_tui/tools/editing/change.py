"""A change to one file from proposal to disk: what is shown, approved and written is the same.

Also checks that `run` uses the place that was declared and approved, leaves the hunks that the user refused
out of what is written, and reports them to the model.
"""

import asyncio
import hashlib
import re
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Generic, Self, TypeVar

from coder_tui.diffs.hunks import patch
from coder_tui.diffs.unified import FileDiff, unified_diff
from coder_tui.protocol.access import Target, TargetKind, ToolKind
from coder_tui.protocol.comparison import Change, Comparison, split_lines
from coder_tui.protocol.display import DiffBlock, TextBlock
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.base import (
    Access,
    JsonObject,
    ParamsT,
    PathParamsT,
    ProposedText,
    Tool,
    ToolContext,
    ToolResult,
    locate_approved,
)
from coder_tui.workspace.files.confine import Located, Workspace
from coder_tui.workspace.files.save import save, stale_file
from coder_tui.workspace.files.text import ReadLedger, TextFile, digest_of, show


@dataclass(frozen=True, slots=True)
class RefusedHunks:
    """One file of a proposal and its refused hunks, by id."""

    comparison: Comparison
    hunks: tuple[str, ...]

    @property
    def is_everything(self) -> bool:
        """Return whether every hunk of the file was refused."""
        return len(self.hunks) == len(self.comparison.hunks)

    @property
    def changes(self) -> tuple[Change, ...]:
        sections = sorted(self.comparison.sections_of(self.hunks))
        found = (self.comparison.sections[index] for index in sections)
        return tuple(section for section in found if isinstance(section, Change))


def refused_by_file(files: tuple[Comparison, ...], refused: tuple[str, ...]) -> tuple[RefusedHunks, ...]:
    """Return every file of a proposal in order, with its refused hunks."""
    found = [
        RefusedHunks(file, tuple(hunk.id for hunk in file.hunks if hunk.id in refused)) for file in files
    ]
    if not set(refused) <= {hunk for file in found for hunk in file.hunks}:
        raise ToolError(ErrorType.INTERNAL, "A refused hunk is not in the preview. Nothing was written.")
    return tuple(found)


def refused_in_call(ctx: ToolContext) -> tuple[RefusedHunks, ...]:
    return refused_by_file(ctx.access.files if ctx.access is not None else (), ctx.refused_hunks)


def without_refused(before: str, after: str, refused: RefusedHunks) -> str:
    """Return the new text without the refused hunks.

    The result is exact even if the preview shows replacement characters.
    """
    old, new = split_lines(before), split_lines(after)
    for change in reversed(refused.changes):
        gone = old[change.old : change.old + len(change.deleted)]
        come = new[change.new : change.new + len(change.added)]
        if (_shown(gone), _shown(come)) != (change.deleted, change.added):
            raise ToolError(ErrorType.STALE_FILE, "The file is not as it was shown. Nothing was written.")
        new[change.new : change.new + len(change.added)] = gone
    return "".join(new)


def refusal_report(files: tuple[Comparison, ...], refused: tuple[str, ...]) -> JsonObject:
    """Report to the model that what it proposed is not what was written."""
    count = sum(len(file.hunks) for file in files)
    return {
        "refused_by_user": f"The user refused {len(refused)} of {count} hunks. Those were not written, "
        "the others were. Do not write them again without asking.",
        "refused_hunks": [item for file in refused_by_file(files, refused) for item in _items(file)],
    }


def _items(refused: RefusedHunks) -> Iterator[JsonObject]:
    file = refused.comparison
    for hunk in refused.hunks:
        changes = RefusedHunks(file, (hunk,)).changes
        first, last = changes[0].new + 1, changes[-1].new + len(changes[-1].added)
        yield {
            "path": file.path,
            "start_line": first,
            "end_line": max(first, last),
            "diff": patch(file, (hunk,)),
        }


def _shown(lines: list[str]) -> tuple[str, ...]:
    return tuple(map(show, lines))


IMPOSSIBLE_FINGERPRINT = "no change"
"""A fingerprint that no real change has."""
_LONE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class FileChange:
    """`before` is None for a new file. `text` is the new text with the file's own newlines."""

    located: Located
    before: TextFile | None
    text: str

    @property
    def data(self) -> bytes:
        return (self.before or TextFile("")).encode(self.text)

    @property
    def fingerprint(self) -> str:
        """Return a hash that ties an approval to this file and to its old and new bytes."""
        old = self.before.evidence if self.before else "-"
        return hashlib.sha256(f"{old} {digest_of(self.data)}".encode()).hexdigest()

    @property
    def proposed(self) -> ProposedText:
        return ProposedText(self.located.path, self.before.shown if self.before else None, show(self.text))

    async def diff(self) -> FileDiff:
        before = self.before.shown if self.before else None
        return await asyncio.to_thread(unified_diff, self.located.shown, before, show(self.text))

    def check_approved(self, ctx: ToolContext) -> None:
        """Raise if this is no longer what was approved."""
        if ctx.access is not None and ctx.access.fingerprint not in {"", self.fingerprint}:
            raise stale_file(self.located, "changed on disk since the change was approved")

    def without_refused_hunks(self, ctx: ToolContext) -> Self:
        """Return the change without the hunks that the user refused; raise if it was not approved."""
        self.check_approved(ctx)
        if not ctx.refused_hunks:
            return self
        before = self.before.text if self.before else ""
        (refused,) = refused_in_call(ctx)
        return replace(self, text=without_refused(before, self.text, refused))

    async def write(self, ledger: ReadLedger) -> None:
        await save(self.located, self.data, self.before)
        before = self.before.digest if self.before else None
        ledger.note_change(self.located.path, before, digest_of(self.data))


async def declare(change: FileChange) -> Access:
    """Declare what the change would do, with its diff."""
    facts: tuple[str, ...] = ()
    if change.located.is_inside and change.before is not None and change.before.links > 1:
        facts = (f"The file has {change.before.links} hard links; the others keep the old content.",)
    target = Target(TargetKind.PATH, str(change.located.path), writes=True)
    diff = await change.diff()
    return Access(
        (target,),
        diff_block(change, diff),
        change.located.is_inside,
        change.fingerprint,
        facts,
        files=(diff.file,),
        proposed=(change.proposed,) if change.located.is_inside else (),
    )


def failing_access(targets: tuple[Target, ...], error: ToolError) -> Access:
    """Declare a change that cannot be made. The fingerprint ensures that nothing is written instead."""
    # Only the user sees the preview. As a fact, the reason would tell the model about the file's content.
    preview = TextBlock("This change cannot be made.")
    return Access(targets, preview=preview, fingerprint=IMPOSSIBLE_FINGERPRINT, failure=error)


def diff_block(change: FileChange, diff: FileDiff) -> DiffBlock:
    return DiffBlock(change.located.shown, diff.text, diff.additions, diff.deletions)


def diff_fields(diff: FileDiff) -> JsonObject:
    text, is_cut = diff.cut()
    fields: JsonObject = {"additions": diff.additions, "deletions": diff.deletions, "diff": text}
    return {**fields, "diff_truncated": True} if is_cut else fields


def change_summary(change: FileChange, diff: FileDiff) -> str:
    return f"{change.located.shown} +{diff.additions} -{diff.deletions}"


def check_text(field: str, text: str) -> None:
    """Refuse text that cannot be encoded: half characters from broken escapes."""
    if _LONE.search(text):
        message = f"invalid args: {field}: contains a lone surrogate, which is half a character"
        raise ToolError(ErrorType.INVALID_TOOL_PARAMS, message)


ChangeT = TypeVar("ChangeT", bound=FileChange)


class EditingTool(Tool[ParamsT]):
    """The base of all tools that propose file changes; `editable` names the parameter with the new text."""

    kind = ToolKind.EDIT
    permission = "edit"

    def __init__(self, workspace: Workspace, ledger: ReadLedger) -> None:
        self._workspace = workspace
        self._ledger = ledger

    def variables(self) -> dict[str, object]:
        return {"directory": self._workspace.root}

    def check(self, params: ParamsT) -> None:
        """Refuse arguments that are wrong for any file."""
        check_text(self.editable, getattr(params, self.editable))


class FileEditTool(EditingTool[PathParamsT], Generic[PathParamsT, ChangeT]):
    """Changes one file: propose, show the diff, leave out refused hunks, write."""

    def summary(self, params: PathParamsT) -> str:
        return params.path

    async def access(self, params: PathParamsT, ctx: ToolContext) -> Access:
        self.check(params)
        located = self._workspace.locate(params.path)
        self._workspace.check_write(located)
        try:
            change = await self.propose(params, located)
        except ToolError as error:
            # Policy decides first whether the model may learn the reason.
            return failing_access((Target(TargetKind.PATH, str(located.path), writes=True),), error)
        return await declare(change)

    async def run(self, params: PathParamsT, ctx: ToolContext) -> ToolResult:
        self.check(params)
        located = locate_approved(self._workspace, params.path, ctx)
        self._workspace.check_write(located)
        async with self._ledger.lock(located.path):
            change = (await self.propose(params, located)).without_refused_hunks(ctx)
            await self.write(change)
        diff = await change.diff()
        fields = {"ok": True, "path": located.shown, **self.report(change), **diff_fields(diff)}
        return ToolResult(fields, diff_block(change, diff), change_summary(change, diff), (located.shown,))

    @abstractmethod
    async def propose(self, params: PathParamsT, located: Located) -> ChangeT:
        """Work out the change; raise `ToolError` if it cannot be made."""

    @abstractmethod
    def report(self, change: ChangeT) -> JsonObject:
        """Describe to the model what was done, besides the path and the diff."""

    async def write(self, change: ChangeT) -> None:
        await change.write(self._ledger)
