"""The `edit` tool: one piece of text for another."""

import asyncio

from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.base import Access, JsonObject, Params, Tool, ToolContext, ToolResult
from coder_tui.tools.editing.change import (
    FileChange,
    change_summary,
    check_text,
    declare,
    declare_failing,
    diff_block,
    diff_fields,
    locate_approved,
)
from coder_tui.tools.editing.exact import replace_exact
from coder_tui.tools.editing.outcome import Replaced, Strategy
from coder_tui.tools.editing.replace import replace_text
from coder_tui.tools.editing.script import changes_line_ends, to_line_feeds
from coder_tui.workspace.files.confine import Located, Workspace
from coder_tui.workspace.files.ledger import ReadLedger
from coder_tui.workspace.files.save import stale_file
from coder_tui.workspace.files.text import TextFile, load


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
    editable = "new_string"

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
            change = change.allowed(ctx)
            await change.write(self._ledger)
        diff = await change.diff()
        fields = {
            "ok": True,
            "path": located.shown,
            "replacements": replaced.replacements,
            "strategy": replaced.strategy.value,
            "start_line": replaced.first_line,
            "end_line": replaced.last_line,
            **_note(replaced),
            **diff_fields(diff),
        }
        summary = change_summary(change, diff)
        return ToolResult(fields, diff_block(change, diff), summary, (located.shown,))

    async def _change(self, params: EditParams, located: Located) -> tuple[FileChange, Replaced]:
        before = await load(located)
        # A large text takes a moment to look for: not on the loop.
        replaced = await asyncio.to_thread(self._replaced, params, located, before)
        return FileChange(located, before, replaced.text), replaced

    def _replaced(self, params: EditParams, located: Located, before: TextFile) -> Replaced:
        old, new, replace_all = params.old_string, params.new_string, params.replace_all
        if self._ledger.has_changed(located.path, before.digest):
            exact = replace_exact(before, old, new, replace_all=replace_all)
            if exact is None:
                raise stale_file(located, "changed since it was read, and old_string is not in it")
            return exact
        return replace_text(before, located.shown, old, new, replace_all=replace_all)


def _note(replaced: Replaced) -> JsonObject:
    """Announce a match that was not exact, so that nobody takes it for one."""
    if replaced.strategy in (Strategy.EXACT, Strategy.MULTI_OCCURRENCE):
        return {}
    lines = f"lines {replaced.first_line}-{replaced.last_line}"
    return {"note": f"{replaced.strategy.meaning}; {lines}. Look at the diff."}


def _check(params: EditParams) -> None:
    reason = ""
    if not params.old_string:
        reason = "old_string: must not be empty; use write to create a file"
    elif _are_identical(params.old_string, params.new_string):
        reason = "new_string: is identical to old_string, nothing would change"
    if reason:
        raise ToolError(ErrorType.INVALID_TOOL_PARAMS, f"invalid args: {reason}")
    check_text("new_string", params.new_string)


def _are_identical(old: str, new: str) -> bool:
    return to_line_feeds(old) == to_line_feeds(new) and not changes_line_ends(old, new)
