"""Writes all files of a patch, or puts back those that were written when a later one fails.

The way of a patch through a call: declared as a whole, checked again, written as a whole.
"""

import asyncio
import contextlib
import re
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

from coder_tui.protocol.access import Target, TargetKind
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.base import Access, ProposedText, ToolContext, ToolResult
from coder_tui.tools.editing.change import failing_access
from coder_tui.tools.editing.envelope import is_envelope, parse_envelope
from coder_tui.tools.editing.patch_model import FilePatch
from coder_tui.tools.editing.patch_plan import FilePlan, Planner, fingerprint_of
from coder_tui.tools.editing.patch_report import PlanDiff, diff_block, diff_of, failure, report, summary_of
from coder_tui.tools.editing.refused_hunks import RefusedIn, refused_in, without_refused
from coder_tui.tools.editing.unified import parse_unified
from coder_tui.workspace.files.confine import Located, Workspace, missing_folders
from coder_tui.workspace.files.ledger import ReadLedger
from coder_tui.workspace.files.save import remove, save
from coder_tui.workspace.files.text import TextFile, digest_of, load, show

Undo = Callable[[], Awaitable[None]]


async def write_all(plans: list[FilePlan], ledger: ReadLedger) -> None:
    """Write every plan; a cancelled call still ends what it began, so that no half of a patch is left."""
    task = asyncio.ensure_future(_write_all(plans, ledger))
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task})
        if not task.cancelled():
            task.exception()
        raise


async def _write_all(plans: list[FilePlan], ledger: ReadLedger) -> None:
    undos: list[Undo] = []
    try:
        for plan in plans:
            await _write(plan, undos)
    except ToolError:
        for undo in reversed(undos):
            # What somebody else changed meanwhile is theirs; the first error is the one to tell.
            with contextlib.suppress(ToolError):
                await undo()
        raise
    for plan in plans:
        _note(plan, ledger)


async def _write(plan: FilePlan, undos: list[Undo]) -> None:
    if plan.text is not None:
        await _put(plan, undos)
    is_moved = plan.target.path != plan.source.path and not plan.keeps_source
    if plan.before is not None and (plan.text is None or is_moved):
        await remove(plan.source, plan.before)
        undos.append(_restoring(plan.source, plan.before))


async def _put(plan: FilePlan, undos: list[Undo]) -> None:
    is_same = plan.target.path == plan.source.path
    before = plan.before if is_same else None
    mode = plan.mode if plan.mode is not None or plan.before is None else plan.before.mode
    folders = missing_folders(plan.target.path) if before is None else ()
    await save(plan.target, plan.data, before, mode)
    if before is None:
        undos.append(_removing(plan.target, digest_of(plan.data), folders))
    else:
        undos.append(_reverting(plan.target, digest_of(plan.data), before))


def _restoring(located: Located, before: TextFile) -> Undo:
    async def undo() -> None:
        await save(located, before.encode(before.text), None, before.mode)

    return undo


def _reverting(located: Located, written: str, before: TextFile) -> Undo:
    async def undo() -> None:
        current = await load(located)
        if current.digest == written:
            await save(located, before.encode(before.text), current, before.mode)

    return undo


def _removing(located: Located, written: str, folders: tuple[Path, ...]) -> Undo:
    async def undo() -> None:
        current = await load(located)
        if current.digest == written:
            await remove(located, current)
            for folder in reversed(folders):
                with contextlib.suppress(OSError):
                    folder.rmdir()

    return undo


def _note(plan: FilePlan, ledger: ReadLedger) -> None:
    before = plan.before.digest if plan.before and plan.source.path == plan.target.path else None
    if plan.text is not None:
        ledger.note_change(plan.target.path, before, digest_of(plan.data))


_NAMES = re.compile(r"^(?:\+\+\+ ([^\t\r\n]+)|\*\*\* (?:Add|Update|Delete) File: (.+))", re.MULTILINE)
_LOOKED_AT = 200_000


def parse_patch(text: str) -> tuple[FilePatch, ...]:
    """Read a patch in whichever of the two forms it is written."""
    return parse_envelope(text) if is_envelope(text) else parse_unified(text)


def patch_summary(text: str) -> str:
    """One line that names what a patch is for: cheap, for it is asked before the patch is read."""
    found = (match[1] or match[2] for match in _NAMES.finditer(text[:_LOOKED_AT]))
    names = list(dict.fromkeys(name.strip().removeprefix("b/") for name in found))
    if not names:
        return "a patch"
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"


class Patching:
    def __init__(self, workspace: Workspace, ledger: ReadLedger) -> None:
        self._ledger = ledger
        self._planner = Planner(workspace, ledger)

    async def access(self, text: str, *, writes: bool) -> Access:
        """Declare every path the patch names, with all it would do as one diff."""
        patches = await asyncio.to_thread(parse_patch, text)
        places = _distinct([place for patch in patches for place in self._planner.locate(patch)])
        targets = tuple(Target(TargetKind.PATH, str(place.path), writes=writes) for place in places)
        try:
            plans = await self._plans(patches)
        except ToolError as error:
            return failing_access(targets, error)
        diffs = await _diffs(plans)
        is_undoable = all(place.is_inside for place in places)
        block, facts = diff_block(diffs), _facts(plans)
        return Access(
            targets,
            block,
            is_undoable,
            fingerprint_of(plans),
            facts,
            is_divisible=writes,
            proposed=tuple(text for plan in plans for text in _proposed(plan)) if writes else (),
        )

    async def run(self, text: str, ctx: ToolContext, *, writes: bool) -> ToolResult:
        patches = await asyncio.to_thread(parse_patch, text)
        places = _distinct([place for patch in patches for place in self._planner.locate(patch)])
        _check_places(places, ctx)
        async with AsyncExitStack() as stack:
            for path in sorted(place.path for place in places):
                await stack.enter_async_context(self._ledger.lock(path))
            plans = await self._plans(patches)
            _check_approved(plans, ctx)
            plans = _allowed(plans, ctx)
            if writes:
                await write_all(plans, self._ledger)
        diffs = await _diffs(plans)
        written = _distinct([place for plan in plans for place in (plan.source, plan.target)])
        changed = tuple(place.shown for place in written) if writes else ()
        return ToolResult(report(diffs, applied=writes), diff_block(diffs), summary_of(diffs), changed)

    async def _plans(self, patches: tuple[FilePatch, ...]) -> list[FilePlan]:
        """All or nothing: one failure is the failure of the whole patch."""
        results = [await self._planner.plan(patch) for patch in patches]
        plans = [result for result in results if isinstance(result, FilePlan)]
        if len(plans) < len(results):
            raise failure(results)
        return plans


async def _diffs(plans: list[FilePlan]) -> list[PlanDiff]:
    return await asyncio.to_thread(lambda: [diff_of(plan) for plan in plans])


def _proposed(plan: FilePlan) -> Iterator[ProposedText]:
    before = plan.before.shown if plan.before else None
    if plan.text is not None and plan.target.is_inside:
        yield ProposedText(plan.target.path, before, show(plan.text))
    goes = plan.text is None or (plan.source.path != plan.target.path and not plan.keeps_source)
    if goes and plan.source.is_inside:
        yield ProposedText(plan.source.path, before, None)


def _distinct(places: list[Located]) -> list[Located]:
    return list({place.path: place for place in places}.values())


def _facts(plans: list[FilePlan]) -> tuple[str, ...]:
    return tuple(
        f"{plan.source.shown} has {plan.before.links} hard links; the others keep the old content."
        for plan in plans
        if plan.before is not None and plan.before.links > 1 and plan.source.is_inside
    )


def _check_places(places: list[Located], ctx: ToolContext) -> None:
    approved = {target.value for target in ctx.access.targets} if ctx.access else None
    for place in places:
        if approved is not None and str(place.path) not in approved:
            raise ToolError(
                ErrorType.PERMISSION_DENIED,
                f"A path of the patch led elsewhere when it was approved; it is {place.path} now.",
                "Make the call again.",
            )


def _allowed(plans: list[FilePlan], ctx: ToolContext) -> list[FilePlan]:
    """What is left without the hunks that the person refused; a file of which nothing is left goes out."""
    if not ctx.refused_hunks:
        return plans
    pairs = zip(plans, refused_in(ctx), strict=True)
    kept = [_without(plan, refused) if refused.hunks else plan for plan, refused in pairs]
    return [plan for plan in kept if plan is not None]


def _without(plan: FilePlan, refused: RefusedIn) -> FilePlan | None:
    is_elsewhere = plan.target.path != plan.source.path or plan.mode is not None
    if refused.is_whole and (plan.before is None or plan.text is None or not is_elsewhere):
        return None
    before = plan.before.text if plan.before else ""
    return replace(plan, text=without_refused(before, plan.text or "", refused))


def _check_approved(plans: list[FilePlan], ctx: ToolContext) -> None:
    if ctx.access is not None and ctx.access.fingerprint not in {"", fingerprint_of(plans)}:
        raise ToolError(
            ErrorType.STALE_FILE,
            "A file of the patch changed on disk since the change was approved.",
            "Read the files, then make the change again.",
        )
