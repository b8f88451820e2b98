"""Writes all files of a patch, or puts back those that were written when a later one fails."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from pathlib import Path

from coder_tui.protocol.errors import ToolError
from coder_tui.tools.editing.patch_plan import FilePlan
from coder_tui.workspace.confine import Located, missing_folders
from coder_tui.workspace.files import TextFile, digest_of, load
from coder_tui.workspace.ledger import ReadLedger
from coder_tui.workspace.save import remove, save

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
