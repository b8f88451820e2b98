"""From what a model wrote to checked parameters."""

from typing import Any

from pydantic import ValidationError

from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.aliases import canonical_arguments
from coder_tui.tools.base import Params, Tool
from coder_tui.tools.repair import parse_arguments


def understand(tool: Tool[Any], arguments: str) -> tuple[Tool[Any], Params]:
    """Read the JSON text as this tool's parameters; `ToolError` has a line for each field that is wrong."""
    fields = frozenset(tool.params.model_fields)
    try:
        given = canonical_arguments(parse_arguments(arguments), fields, tool.name)
        params: Params = tool.params.model_validate(given)
    except ValidationError as error:
        raise _invalid(tool, error) from error
    return tool, params


def rewritten(tool: Tool[Any], params: Params, text: str) -> Params:
    """The same call with the part that a person edited, checked as a model's would be."""
    given = {**params.model_dump(exclude_unset=True), tool.editable: text}
    try:
        checked: Params = tool.params.model_validate(given)
    except ValidationError as error:
        raise _invalid(tool, error) from error
    return checked


def _invalid(tool: Tool[Any], error: ValidationError) -> ToolError:
    lines = [
        f"{'.'.join(map(str, problem['loc'])) or 'arguments'}: {problem['msg']}"
        for problem in error.errors(include_url=False, include_context=False, include_input=False)
    ]
    fields = ", ".join(
        name if field.is_required() else f"{name}?" for name, field in tool.params.model_fields.items()
    )
    return ToolError(
        ErrorType.INVALID_TOOL_PARAMS,
        "invalid args: " + "\n".join(lines),
        f"{tool.name} takes: {fields or 'nothing'}.",
    )
