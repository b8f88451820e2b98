"""Results for the model: of calls that failed, were refused or cannot run.

Describe a failed call: to the model, to the user, and as an outcome.

Tells a model that what ran is not what it asked for.
"""

import json
from typing import Any

from coder_tui.agent.calls.permissions import Clearance
from coder_tui.protocol.display import TextBlock
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.protocol.outcomes import Outcome
from coder_tui.text.redact import MASK
from coder_tui.tools.base import Access, JsonObject, Tool, ToolResult
from coder_tui.tools.editing.change import refusal_report


def writes_mask() -> ToolError:
    """A model that was not shown a secret must not put the mask in its place."""
    return ToolError(
        ErrorType.INVALID_TOOL_PARAMS,
        f"invalid args: {MASK} stands for a secret that you were not shown; it would be lost",
        "Change only what is around it, for instance by `edit` with the lines before or after it.",
    )


def half_written() -> ToolError:
    return ToolError(
        ErrorType.INVALID_TOOL_PARAMS,
        "invalid args: the reply met the output limit in this call; it may be half written and did not run",
        "Send it again, in smaller pieces.",
    )


def failure_json(error: ToolError) -> JsonObject:
    """Return a failure as JSON: type, message and hint, with the fields that still make sense."""
    body: JsonObject = {"type": str(error.type), "message": error.message}
    if error.hint:
        body["hint"] = error.hint
    return {"ok": False, "error": body, **error.fields}


def failure(error: ToolError) -> ToolResult:
    is_refusal = outcome_of(error) is Outcome.DENIED
    shown = error.message if is_refusal else f"{error.message}\n{error.hint}".strip()
    return ToolResult(failure_json(error), TextBlock(shown))


def outcome_of(error: ToolError) -> Outcome:
    if error.type in (ErrorType.DENIED_BY_USER, ErrorType.PERMISSION_DENIED):
        return Outcome.DENIED
    return Outcome.CANCELLED if error.type is ErrorType.CANCELLED else Outcome.FAILED


def cancelled_json(message: str) -> str:
    return json.dumps(failure_json(ToolError(ErrorType.CANCELLED, message)))


EDITED = "The user changed this call before it ran; what ran is below."


def with_user_changes(
    result: ToolResult, tool: Tool[Any], access: Access | None, clearance: Clearance
) -> ToolResult:
    """The model must know that what ran is not what it asked for."""
    note: JsonObject = {}
    if clearance.edited is not None:
        note = {"edited_by_user": {"message": EDITED, tool.editable: clearance.edited}}
    elif clearance.refused and access is not None:
        note = refusal_report(access.files, clearance.refused)
    return result.with_fields(note)
