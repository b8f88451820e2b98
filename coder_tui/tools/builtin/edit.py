"""The `edit` tool: replace one piece of text with another."""

import asyncio
from dataclasses import dataclass

from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.base import JsonObject, PathParams
from coder_tui.tools.editing.change import FileChange, FileEditTool
from coder_tui.tools.editing.replace import Replacement, as_meant, replace_exact, replace_text
from coder_tui.tools.editing.script import changes_line_ends, to_line_feeds
from coder_tui.tools.editing.tiers import Strategy
from coder_tui.workspace.files.confine import Located
from coder_tui.workspace.files.save import stale_file
from coder_tui.workspace.files.text import TextFile, load


class EditParams(PathParams):
    old_string: str
    new_string: str
    replace_all: bool = False


@dataclass(frozen=True, slots=True)
class Edit(FileChange):
    replaced: Replacement


class EditTool(FileEditTool[EditParams, Edit]):
    """Needs no earlier read: the old text is the evidence."""

    name = "edit"
    display_name = "Edit"
    params = EditParams
    editable = "new_string"

    def check(self, params: EditParams) -> None:
        reason = ""
        if not params.old_string:
            reason = "old_string: must not be empty; use write to create a file"
        elif _are_identical(params.old_string, params.new_string):
            reason = "new_string: is identical to old_string, so nothing would change"
        if reason:
            raise ToolError(ErrorType.INVALID_TOOL_PARAMS, f"invalid args: {reason}")
        super().check(params)

    async def propose(self, params: EditParams, located: Located) -> Edit:
        before = await load(located)
        # Searching a large text takes a moment: not on the event loop.
        replaced = await asyncio.to_thread(self._replaced, params, located, before)
        return Edit(located, before, replaced.text, replaced)

    def report(self, change: Edit) -> JsonObject:
        replaced = change.replaced
        return {
            "replacements": replaced.replacements,
            "strategy": replaced.strategy.value,
            "start_line": replaced.first_line,
            "end_line": replaced.last_line,
            **_note(replaced),
        }

    def _replaced(self, params: EditParams, located: Located, before: TextFile) -> Replacement:
        old, new = as_meant(before, located.shown, params.old_string, params.new_string)
        replace_all = params.replace_all
        if self._ledger.has_changed(located.path, before.digest):
            exact = replace_exact(before, old, new, replace_all=replace_all)
            if exact is None:
                raise stale_file(located, "changed since it was read, and old_string is not in it")
            return exact
        return replace_text(before, located.shown, old, new, replace_all=replace_all)


def _note(replaced: Replacement) -> JsonObject:
    """Report a match that was not exact, so that nobody takes it for one."""
    if replaced.strategy in (Strategy.EXACT, Strategy.MULTI_OCCURRENCE):
        return {}
    lines = f"lines {replaced.first_line}-{replaced.last_line}"
    return {"note": f"{replaced.strategy.meaning}; {lines}. Check the diff."}


def _are_identical(old: str, new: str) -> bool:
    return to_line_feeds(old) == to_line_feeds(new) and not changes_line_ends(old, new)
