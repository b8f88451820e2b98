"""How a call that came to nothing is told: to the model, to the person, and as an outcome."""

import json

from coder_tui.protocol.display import TextBlock
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.protocol.outcomes import Outcome
from coder_tui.tools.base import JsonObject, ToolResult


def failure_json(error: ToolError) -> JsonObject:
    """The form of every failure: type, message and hint beside the fields that still make sense."""
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
