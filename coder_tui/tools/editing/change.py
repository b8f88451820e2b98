"""One file's change between proposal and disk: what is shown, approved and written is the same thing.

Ties a call to what was declared for it: the place that was approved is the place that is used.
"""

import asyncio
import hashlib
import re
from dataclasses import dataclass, replace

from coder_tui.protocol.access import Target, TargetKind
from coder_tui.protocol.display import DiffBlock, TextBlock
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.base import Access, JsonObject, ProposedText, ToolContext
from coder_tui.tools.editing.refused_hunks import refused_in, without_refused
from coder_tui.workspace.files.confine import Located, Workspace, folder_or_file, refuse_kernel_tree
from coder_tui.workspace.files.diff import FileDiff, unified_diff
from coder_tui.workspace.files.ledger import ReadLedger
from coder_tui.workspace.files.save import save, stale_file
from coder_tui.workspace.files.text import TextFile, digest_of, show

IMPOSSIBLE = "no change"
"""A fingerprint that no change has."""
_LONE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class FileChange:
    """`before` is None for a new file; `text` is the new text with the file's own newlines."""

    located: Located
    before: TextFile | None
    text: str

    @property
    def data(self) -> bytes:
        return (self.before or TextFile("")).encode(self.text)

    @property
    def fingerprint(self) -> str:
        """Binds an approval to the very file, its old and its new bytes."""
        old = self.before.evidence if self.before else "-"
        return hashlib.sha256(f"{old} {digest_of(self.data)}".encode()).hexdigest()

    @property
    def proposed(self) -> ProposedText:
        return ProposedText(self.located.path, self.before.shown if self.before else None, show(self.text))

    async def diff(self) -> FileDiff:
        before = self.before.shown if self.before else None
        return await asyncio.to_thread(unified_diff, self.located.shown, before, show(self.text))

    def check_approved(self, ctx: ToolContext) -> None:
        """Refuse when this is no longer what was approved."""
        if ctx.access is not None and ctx.access.fingerprint not in {"", self.fingerprint}:
            raise stale_file(self.located, "changed on disk since the change was approved")

    def allowed(self, ctx: ToolContext) -> "FileChange":
        """What is left without the hunks that the person refused; an error when this was not approved."""
        self.check_approved(ctx)
        if not ctx.refused_hunks:
            return self
        before = self.before.text if self.before else ""
        (refused,) = refused_in(ctx)
        return replace(self, text=without_refused(before, self.text, refused))

    async def write(self, ledger: ReadLedger) -> None:
        await save(self.located, self.data, self.before)
        before = self.before.digest if self.before else None
        ledger.note_change(self.located.path, before, digest_of(self.data))


async def declare(change: FileChange) -> Access:
    """Say what the change would do, with its diff."""
    facts: tuple[str, ...] = ()
    if change.located.is_inside and change.before is not None and change.before.links > 1:
        facts = (f"The file has {change.before.links} hard links; the others keep the old content.",)
    target = Target(TargetKind.PATH, str(change.located.path), writes=True)
    block = diff_block(change, await change.diff())
    return Access(
        (target,),
        block,
        change.located.is_inside,
        change.fingerprint,
        facts,
        is_divisible=True,
        proposed=(change.proposed,) if change.located.is_inside else (),
    )


def declare_failing(located: Located, error: ToolError) -> Access:
    """Declare a change that cannot be made; policy has the first word on whether the reason may be known."""
    return failing_access((Target(TargetKind.PATH, str(located.path), writes=True),), error)


def failing_access(targets: tuple[Target, ...], error: ToolError) -> Access:
    """Declare what cannot be done; the fingerprint makes sure that nothing else is written in its place."""
    # In the preview, which the user alone sees: as a fact it would answer a model's guesses at the content.
    preview = TextBlock("The change cannot be made as it stands.")
    return Access(targets, preview=preview, fingerprint=IMPOSSIBLE, failure=error)


def diff_block(change: FileChange, diff: FileDiff) -> DiffBlock:
    return DiffBlock(change.located.shown, diff.text, diff.additions, diff.deletions)


def diff_fields(diff: FileDiff) -> JsonObject:
    text, is_cut = diff.cut()
    fields: JsonObject = {"additions": diff.additions, "deletions": diff.deletions, "diff": text}
    return {**fields, "diff_truncated": True} if is_cut else fields


def change_summary(change: FileChange, diff: FileDiff) -> str:
    return f"{change.located.shown} +{diff.additions} -{diff.deletions}"


def check_text(field: str, text: str) -> None:
    """Refuse text that no encoding can carry: halves of characters from broken escapes."""
    if _LONE.search(text):
        message = f"invalid args: {field}: holds a lone surrogate, which is half a character"
        raise ToolError(ErrorType.INVALID_TOOL_PARAMS, message)


def declare_reading(located: Located) -> Access:
    """Declare a place that is read. Of what lies outside nothing is told before that is decided on."""
    refuse_kernel_tree(located)
    if located.is_inside:
        folder_or_file(located)
    return Access((Target(TargetKind.PATH, str(located.path)),))


def locate_approved(workspace: Workspace, path: str, ctx: ToolContext) -> Located:
    """Locate `path` anew for `run`; refuse when it leads elsewhere than when it was approved."""
    located = workspace.locate(path)
    if ctx.access is not None and str(located.path) not in {target.value for target in ctx.access.targets}:
        raise ToolError(
            ErrorType.PERMISSION_DENIED,
            f"{path} led elsewhere when it was approved; it is {located.path} now.",
            "Make the call again.",
        )
    return located
