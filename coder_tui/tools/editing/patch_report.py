"""Show a patch: to the user as one diff, to the model as a report on each file and hunk.

Also writes all files of a patch, or restores those already written if a later one fails.
"""

import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from coder_tui.diffs.unified import FileDiff, unified_diff
from coder_tui.protocol.comparison import Comparison
from coder_tui.protocol.display import DiffBlock
from coder_tui.protocol.errors import ToolError
from coder_tui.tasks import finish_despite_cancel
from coder_tui.tools.base import JsonObject
from coder_tui.tools.editing.patch_plan import FileFailure, FilePlan, HunkReport
from coder_tui.tools.editing.script import Operation
from coder_tui.workspace.files.confine import Located, missing_folders
from coder_tui.workspace.files.save import remove, save
from coder_tui.workspace.files.text import ReadLedger, TextFile, digest_of, load, show


@dataclass(frozen=True, slots=True)
class PlanDiff:
    plan: FilePlan
    diff: FileDiff


def diff_of(plan: FilePlan) -> PlanDiff:
    before = None if plan.operation is Operation.CREATE or plan.before is None else plan.before.shown
    after = None if plan.text is None else show(plan.text)
    is_renamed = plan.source.path != plan.target.path and not (plan.keeps_source and before != after)
    old_path = plan.source.shown if is_renamed else ""
    return PlanDiff(plan, unified_diff(plan.target.shown, before, after, old_path))


def files_of(diffs: list[PlanDiff]) -> tuple[Comparison, ...]:
    """Return what the block of a patch shows, as data; several files are named as in its headers."""
    files = [replace(part.diff.file, notes=tuple(_notes(part.plan))) for part in diffs]
    if len(files) == 1:
        return tuple(files)
    return tuple(replace(file, path=file.path.lstrip("/")) for file in files)


def _notes(plan: FilePlan) -> list[str]:
    """Return the header lines that say what the rest of the comparison does not."""
    return [line for line in _heading(plan) if line.startswith(("new mode ", "copy "))]


def diff_block(diffs: list[PlanDiff]) -> DiffBlock:
    """Return all files in one block, separated by git's own header lines."""
    additions, deletions = _sum(diffs)
    text = "".join(_headed(part) for part in diffs)
    return DiffBlock(_name(diffs), text, additions, deletions)


def summary_of(diffs: list[PlanDiff]) -> str:
    additions, deletions = _sum(diffs)
    return f"{_name(diffs)} +{additions} -{deletions}"


def report(diffs: list[PlanDiff], *, applied: bool) -> JsonObject:
    return {"ok": True, "applied": applied, "files": [_file(part) for part in diffs]}


def failure(results: list[FilePlan | FileFailure]) -> ToolError:
    """Return the first failure, with a report on every file."""
    failed = [result for result in results if isinstance(result, FileFailure)]
    error = failed[0].error
    files = [
        _failed_file(result) if isinstance(result, FileFailure) else _file(diff_of(result))
        for result in results
    ]
    fields: dict[str, object] = {**error.fields, "applied": False, "files": files}
    return ToolError(error.type, error.message, error.hint, fields)


def _sum(diffs: list[PlanDiff]) -> tuple[int, int]:
    return sum(part.diff.additions for part in diffs), sum(part.diff.deletions for part in diffs)


def _name(diffs: list[PlanDiff]) -> str:
    return diffs[0].plan.target.shown if len(diffs) == 1 else f"{len(diffs)} files"


def _headed(part: PlanDiff) -> str:
    return "".join(f"{line}\n" for line in _heading(part.plan)) + part.diff.text


def _heading(plan: FilePlan) -> list[str]:
    old, new = plan.source.shown, plan.target.shown
    lines = [f"diff --git a/{old} b/{new}"]
    if plan.mode is not None and plan.before is not None and plan.mode != plan.before.mode:
        lines += [f"old mode 100{plan.before.mode:03o}", f"new mode 100{plan.mode:03o}"]
    if old != new:
        word = "copy" if plan.keeps_source else "rename"
        lines += [f"{word} from {old}", f"{word} to {new}"]
    if plan.text is None and plan.before is not None:
        lines.append(f"deleted file mode 100{plan.before.mode:03o}")
    if plan.operation is Operation.CREATE:
        lines.append(f"new file mode 100{plan.mode or 0o644:03o}")
    return [line.replace("\n", " ") for line in lines]


def _file(part: PlanDiff) -> JsonObject:
    plan = part.plan
    fields: JsonObject = {"path": plan.target.shown, "operation": plan.operation.value}
    if plan.operation is Operation.RENAME:
        fields["old_path"] = plan.source.shown
    fields |= {"additions": part.diff.additions, "deletions": part.diff.deletions}
    return {**fields, "hunks": [_hunk(hunk) for hunk in plan.hunks]}


def _failed_file(result: FileFailure) -> JsonObject:
    return {
        "path": result.shown,
        "operation": result.patch.operation.value,
        "additions": 0,
        "deletions": 0,
        "hunks": [_hunk(hunk) for hunk in result.hunks],
        "error": result.error.message,
    }


def _hunk(hunk: HunkReport) -> JsonObject:
    if hunk.failure is not None:
        return {
            "index": hunk.index,
            "ok": False,
            "line": None,
            "offset": None,
            "strategy": None,
            "error": hunk.error,
        }
    strategy = hunk.strategy.value if hunk.strategy else None
    return {"index": hunk.index, "ok": True, "line": hunk.line, "offset": hunk.offset, "strategy": strategy}


Undo = Callable[[], Awaitable[None]]


async def write_all(plans: list[FilePlan], ledger: ReadLedger) -> None:
    """Write every plan. A cancelled call still finishes, so that no patch is left half applied."""
    await finish_despite_cancel(_write_all(plans, ledger))


async def _write_all(plans: list[FilePlan], ledger: ReadLedger) -> None:
    undos: list[Undo] = []
    try:
        for plan in plans:
            await _write(plan, undos)
    except ToolError:
        for undo in reversed(undos):
            # What somebody else has changed since then is left alone; the first error is the one to report.
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
        undos.append(partial(_restore, plan.source, plan.before))


async def _put(plan: FilePlan, undos: list[Undo]) -> None:
    is_same = plan.target.path == plan.source.path
    before = plan.before if is_same else None
    mode = plan.mode if plan.mode is not None or plan.before is None else plan.before.mode
    folders = missing_folders(plan.target.path) if before is None else ()
    await save(plan.target, plan.data, before, mode)
    if before is None:
        undos.append(partial(_remove, plan.target, digest_of(plan.data), folders))
    else:
        undos.append(partial(_revert, plan.target, digest_of(plan.data), before))


async def _restore(located: Located, before: TextFile) -> None:
    await save(located, before.encode(before.text), None, before.mode)


async def _revert(located: Located, written: str, before: TextFile) -> None:
    current = await load(located)
    if current.digest == written:
        await save(located, before.encode(before.text), current, before.mode)


async def _remove(located: Located, written: str, folders: tuple[Path, ...]) -> None:
    current = await load(located)
    if current.digest == written:
        await remove(located, current)
        for folder in reversed(folders):
            with contextlib.suppress(OSError):
                folder.rmdir()


def _note(plan: FilePlan, ledger: ReadLedger) -> None:
    before = plan.before.digest if plan.before and plan.source.path == plan.target.path else None
    if plan.text is not None:
        ledger.note_change(plan.target.path, before, digest_of(plan.data))
