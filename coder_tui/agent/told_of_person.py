"""Tells a model that what ran is not what it asked for."""

from dataclasses import replace
from typing import Any

from coder_tui.agent.permissions import Clearance
from coder_tui.tools.base import Access, JsonObject, Tool, ToolResult
from coder_tui.tools.editing.refused import told

EDITED = "The person changed this call before it ran; what ran is below."


def told_of_person(
    result: ToolResult, tool: Tool[Any], access: Access | None, clearance: Clearance
) -> ToolResult:
    """The model must know that what ran is not what it asked for."""
    note: JsonObject = {}
    if clearance.edited is not None:
        note = {"edited_by_person": {"message": EDITED, tool.editable: clearance.edited}}
    elif clearance.refused and access is not None:
        note = told(access.preview, clearance.refused)
    return replace(result, for_model={**result.for_model, **note})
