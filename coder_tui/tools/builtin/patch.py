"""The `patch` tool: a unified diff over any number of files.

The `apply_patch` tool: the envelope that GPT models are trained to write.
"""

from coder_tui.protocol.access import ToolKind
from coder_tui.tools.base import Access, Params, Tool, ToolContext, ToolResult
from coder_tui.tools.editing.change import check_text
from coder_tui.tools.editing.patch_write import Patching, patch_summary
from coder_tui.workspace.files.confine import Workspace
from coder_tui.workspace.files.ledger import ReadLedger


class PatchParams(Params):
    patch: str
    dry_run: bool = False


class PatchTool(Tool[PatchParams]):
    """All files or none."""

    name = "patch"
    kind = ToolKind.EDIT
    display_name = "Patch"
    params = PatchParams
    permission = "edit"
    editable = "patch"

    def __init__(self, workspace: Workspace, ledger: ReadLedger) -> None:
        self._workspace = workspace
        self._patching = Patching(workspace, ledger)

    def variables(self) -> dict[str, object]:
        return {"directory": self._workspace.root}

    def summary(self, params: PatchParams) -> str:
        return patch_summary(params.patch) + (" (dry run)" if params.dry_run else "")

    async def access(self, params: PatchParams, ctx: ToolContext) -> Access:
        check_text("patch", params.patch)
        return await self._patching.access(params.patch, writes=not params.dry_run)

    async def run(self, params: PatchParams, ctx: ToolContext) -> ToolResult:
        check_text("patch", params.patch)
        return await self._patching.run(params.patch, ctx, writes=not params.dry_run)


class ApplyPatchParams(Params):
    patch: str


class ApplyPatchTool(Tool[ApplyPatchParams]):
    """All files or none."""

    name = "apply_patch"
    kind = ToolKind.EDIT
    display_name = "Patch"
    params = ApplyPatchParams
    permission = "edit"
    editable = "patch"

    def __init__(self, workspace: Workspace, ledger: ReadLedger) -> None:
        self._workspace = workspace
        self._patching = Patching(workspace, ledger)

    def variables(self) -> dict[str, object]:
        return {"directory": self._workspace.root}

    def summary(self, params: ApplyPatchParams) -> str:
        return patch_summary(params.patch)

    async def access(self, params: ApplyPatchParams, ctx: ToolContext) -> Access:
        check_text("patch", params.patch)
        return await self._patching.access(params.patch, writes=True)

    async def run(self, params: ApplyPatchParams, ctx: ToolContext) -> ToolResult:
        check_text("patch", params.patch)
        return await self._patching.run(params.patch, ctx, writes=True)
