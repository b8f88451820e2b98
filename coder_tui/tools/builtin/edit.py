"""The `edit` tool: one piece of text for another."""

from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.base import Access, Params, Tool, ToolContext, ToolResult
from coder_tui.tools.builtin.approved import locate_approved
from coder_tui.tools.editing.change import (
    FileChange,
    change_summary,
    check_text,
    declare,
    declare_failing,
    diff_block,
    diff_fields,
)
from coder_tui.tools.editing.exact import Replaced, replace_exact
from coder_tui.tools.editing.nearest import nearest_region
from coder_tui.tools.editing.view import to_line_feeds
from coder_tui.workspace.confine import Located, Workspace
from coder_tui.workspace.files import TextFile, load
from coder_tui.workspace.ledger import ReadLedger
from coder_tui.workspace.save import stale_file

_TELLING = 4
"""Fewer characters than these may be in any file: they do not show that an edit was made before."""


class EditParams(Params):
    path: str
    old_string: str
    new_string: str
    replace_all: bool = False


class EditTool(Tool[EditParams]):
    """Needs no earlier read: the old text is the evidence."""

    name = "edit"
    kind = ToolKind.EDIT
    display_name = "Edit"
    params = EditParams
    permission = "edit"

    def __init__(self, workspace: Workspace, ledger: ReadLedger) -> None:
        self._workspace = workspace
        self._ledger = ledger

    def variables(self) -> dict[str, object]:
        return {"directory": self._workspace.root}

    def summary(self, params: EditParams) -> str:
        return params.path

    async def access(self, params: EditParams, ctx: ToolContext) -> Access:
        _check(params)
        located = self._workspace.locate(params.path)
        self._workspace.check_write(located)
        try:
            change, _ = await self._change(params, located)
        except ToolError as error:
            return declare_failing(located, error)
        return await declare(change)

    async def run(self, params: EditParams, ctx: ToolContext) -> ToolResult:
        _check(params)
        located = locate_approved(self._workspace, params.path, ctx)
        self._workspace.check_write(located)
        async with self._ledger.lock(located.path):
            change, replaced = await self._change(params, located)
            change.check_approved(ctx)
            await change.write(self._ledger)
        diff = await change.diff()
        fields = {
            "ok": True,
            "path": located.shown,
            "replacements": replaced.replacements,
            "strategy": replaced.strategy.value,
            **diff_fields(diff),
        }
        summary = change_summary(change, diff)
        return ToolResult(fields, diff_block(change, diff), summary, (located.shown,))

    async def _change(self, params: EditParams, located: Located) -> tuple[FileChange, Replaced]:
        before = await load(located)
        replaced = replace_exact(before, params.old_string, params.new_string, replace_all=params.replace_all)
        if replaced is None:
            raise self._not_found(params, located, before)
        return FileChange(located, before, replaced.text), replaced

    def _not_found(self, params: EditParams, located: Located, before: TextFile) -> ToolError:
        if self._ledger.has_changed(located.path, before.digest):
            return stale_file(located, "changed since it was read, and old_string is not in it")
        text, new = to_line_feeds(before.shown), to_line_feeds(params.new_string)
        fields: dict[str, object] = {"path": located.shown}
        if len(new.strip()) >= _TELLING and new in text:
            message = f"{located.shown} holds new_string already, and old_string not at all."
            return ToolError(
                ErrorType.ALREADY_APPLIED, message, "Read the file; the edit may be done.", fields
            )
        nearest = nearest_region(text, to_line_feeds(params.old_string))
        message = f"old_string is not in {located.shown}. {nearest.sentence() if nearest else ''}".strip()
        return ToolError(ErrorType.NO_MATCH, message, "Read the place and copy it exactly.", fields)


def _check(params: EditParams) -> None:
    reason = ""
    if not params.old_string:
        reason = "old_string: must not be empty; use write to create a file"
    elif to_line_feeds(params.old_string) == to_line_feeds(params.new_string):
        reason = "new_string: is identical to old_string, nothing would change"
    if reason:
        raise ToolError(ErrorType.INVALID_TOOL_PARAMS, f"invalid args: {reason}")
    check_text("new_string", params.new_string)
