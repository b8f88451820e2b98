"""The `patch` and `apply_patch` tools: one tool for two dialects.

A call goes through the same steps in both: parse the text into a `FilePatch` for each file, plan every file
in memory (`patch_plan.py` finds the place of each hunk), then write all files or none (`patch_report.py`).
"""

import asyncio
import re
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import replace
from enum import StrEnum

from coder_tui.protocol.access import Target, TargetKind
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.base import Access, Params, ProposedText, ToolContext, ToolResult, check_same_place
from coder_tui.tools.editing.change import (
    EditingTool,
    RefusedHunks,
    failing_access,
    refused_in_call,
    without_refused,
)
from coder_tui.tools.editing.envelope import is_envelope, parse_envelope
from coder_tui.tools.editing.patch_plan import FilePlan, Planner, fingerprint_of
from coder_tui.tools.editing.patch_report import (
    PlanDiff,
    diff_block,
    diff_of,
    failure,
    files_of,
    report,
    summary_of,
    write_all,
)
from coder_tui.tools.editing.script import FilePatch
from coder_tui.tools.editing.strip_wrappers import unwrapped_patch
from coder_tui.tools.editing.unified import parse_unified
from coder_tui.workspace.files.confine import Located, Workspace
from coder_tui.workspace.files.text import ReadLedger, show

_NAMES = re.compile(
    r"^(?:\+\+\+ ([^\t\r\n]+)|\*\*\* (?:Add|Create|Update|Modify|Delete|Remove) File(?:: *| +)(.+))",
    re.MULTILINE,
)
_SUMMARIZED = 200_000
"""Characters of a patch that are searched for the names in its summary."""


class PatchDialect(StrEnum):
    """The way a model is asked to write patches; the value is the name of the tool."""

    UNIFIED = "patch"
    ENVELOPE = "apply_patch"


class ApplyPatchParams(Params):
    patch: str

    @property
    def writes(self) -> bool:
        return True


class PatchParams(ApplyPatchParams):
    dry_run: bool = False

    @property
    def writes(self) -> bool:
        return not self.dry_run


def parse_patch(text: str) -> tuple[FilePatch, ...]:
    """Read a patch in the dialect it is written in, whichever tool was called."""
    text = unwrapped_patch(text)
    return parse_envelope(text) if is_envelope(text) else parse_unified(text)


class PatchTool(EditingTool[ApplyPatchParams]):
    """Changes all files or none. The dialect decides the name, the description and the parameters."""

    display_name = "Patch"
    editable = "patch"

    def __init__(self, workspace: Workspace, ledger: ReadLedger, dialect: PatchDialect) -> None:
        super().__init__(workspace, ledger)
        self.name = dialect.value
        self.params = PatchParams if dialect is PatchDialect.UNIFIED else ApplyPatchParams
        self._planner = Planner(workspace, ledger)

    def summary(self, params: ApplyPatchParams) -> str:
        """Name the files. Cheap, because it is asked for before the patch is parsed."""
        found = (match[1] or match[2] for match in _NAMES.finditer(params.patch[:_SUMMARIZED]))
        names = list(dict.fromkeys(name.strip().removeprefix("b/") for name in found)) or ["a patch"]
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        return names[0] + more + ("" if params.writes else " (dry run)")

    async def access(self, params: ApplyPatchParams, ctx: ToolContext) -> Access:
        """Declare every path the patch names, with everything it would do as one diff."""
        self.check(params)
        patches, places = await self._parse(params)
        targets = tuple(Target(TargetKind.PATH, str(place.path), writes=params.writes) for place in places)
        try:
            plans = await self._plan(patches)
        except ToolError as error:
            return failing_access(targets, error)
        diffs = await _diffs(plans)
        return Access(
            targets,
            diff_block(diffs),
            all(place.is_inside for place in places),
            fingerprint_of(plans),
            _facts(plans),
            files=files_of(diffs) if params.writes else (),
            proposed=tuple(text for plan in plans for text in _proposed(plan)) if params.writes else (),
        )

    async def run(self, params: ApplyPatchParams, ctx: ToolContext) -> ToolResult:
        self.check(params)
        patches, places = await self._parse(params)
        for place in places:
            check_same_place(place, place.shown, ctx)
        async with AsyncExitStack() as stack:
            for path in sorted(place.path for place in places):
                await stack.enter_async_context(self._ledger.lock(path))
            plans = await self._plan(patches)
            _check_approved(plans, ctx)
            plans = _without_refused_hunks(plans, ctx)
            if params.writes:
                await write_all(plans, self._ledger)
        diffs = await _diffs(plans)
        written = _distinct(place for plan in plans for place in (plan.source, plan.target))
        changed = tuple(place.shown for place in written) if params.writes else ()
        fields = report(diffs, applied=params.writes)
        return ToolResult(fields, diff_block(diffs), summary_of(diffs), changed)

    async def _parse(self, params: ApplyPatchParams) -> tuple[tuple[FilePatch, ...], list[Located]]:
        patches = await asyncio.to_thread(parse_patch, params.patch)
        return patches, _distinct(place for patch in patches for place in self._planner.locate(patch))

    async def _plan(self, patches: tuple[FilePatch, ...]) -> list[FilePlan]:
        """Plan every file; if one fails, the whole patch fails."""
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


def _distinct(places: Iterator[Located]) -> list[Located]:
    return list({place.path: place for place in places}.values())


def _facts(plans: list[FilePlan]) -> tuple[str, ...]:
    return tuple(
        f"{plan.source.shown} has {plan.before.links} hard links; the others keep the old content."
        for plan in plans
        if plan.before is not None and plan.before.links > 1 and plan.source.is_inside
    )


def _without_refused_hunks(plans: list[FilePlan], ctx: ToolContext) -> list[FilePlan]:
    """Leave out the hunks that the user refused, and files of which nothing is left."""
    if not ctx.refused_hunks:
        return plans
    pairs = zip(plans, refused_in_call(ctx), strict=True)
    kept = [_without(plan, refused) if refused.hunks else plan for plan, refused in pairs]
    return [plan for plan in kept if plan is not None]


def _without(plan: FilePlan, refused: RefusedHunks) -> FilePlan | None:
    is_elsewhere = plan.target.path != plan.source.path or plan.mode is not None
    if refused.is_everything and (plan.before is None or plan.text is None or not is_elsewhere):
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
