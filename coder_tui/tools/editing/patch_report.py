"""How a patch is shown: to the person as one diff, to the model as a report on each file and hunk."""

from dataclasses import dataclass

from coder_tui.protocol.display import DiffBlock
from coder_tui.protocol.errors import ToolError
from coder_tui.tools.base import JsonObject
from coder_tui.tools.editing.patch_model import Operation
from coder_tui.tools.editing.patch_plan import FileFailure, FilePlan, HunkReport
from coder_tui.workspace.files.diff import FileDiff, unified_diff
from coder_tui.workspace.files.text import show


@dataclass(frozen=True, slots=True)
class PlanDiff:
    plan: FilePlan
    diff: FileDiff


def diff_of(plan: FilePlan) -> PlanDiff:
    before = None if plan.operation is Operation.CREATE or plan.before is None else plan.before.shown
    after = None if plan.text is None else show(plan.text)
    return PlanDiff(plan, unified_diff(plan.target.shown, before, after))


def diff_block(diffs: list[PlanDiff]) -> DiffBlock:
    """All files in one block, told apart by git's own lines."""
    additions, deletions = _sum(diffs)
    text = "".join(_headed(part) for part in diffs)
    return DiffBlock(_name(diffs), text, additions, deletions)


def summary_of(diffs: list[PlanDiff]) -> str:
    additions, deletions = _sum(diffs)
    return f"{_name(diffs)} +{additions} -{deletions}"


def report(diffs: list[PlanDiff], *, applied: bool) -> JsonObject:
    return {"ok": True, "applied": applied, "files": [_file(part) for part in diffs]}


def failure(results: list[FilePlan | FileFailure]) -> ToolError:
    """The first failure, beside a report on every file."""
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
    plan = part.plan
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
    header = "".join(f"{line.replace(chr(10), ' ')}\n" for line in lines)
    return header + part.diff.text


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
