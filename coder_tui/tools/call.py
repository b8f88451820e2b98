"""From what a model wrote to checked parameters."""

from typing import Any

from pydantic import ValidationError

from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.aliases import canonical_arguments
from coder_tui.tools.base import Params, Tool
from coder_tui.tools.repair import parse_arguments

_OWN_WORDS = "Value error, "
"""What pydantic puts before the words of a check of ours."""


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
        _complaint(problem["loc"], problem["msg"].removeprefix(_OWN_WORDS))
        for problem in error.errors(include_url=False, include_context=False, include_input=False)
    ]
    return ToolError(
        ErrorType.INVALID_TOOL_PARAMS,
        "invalid args: " + "\n".join(lines),
        f"{tool.name} takes: {_fields(tool) or 'nothing'}.",
    )


def _complaint(place: tuple[int | str, ...], message: str) -> str:
    """What speaks of the call as a whole names its fields by itself."""
    return f"{'.'.join(map(str, place))}: {message}" if place else message


def _fields(tool: Tool[Any]) -> str:
    """As the model was told of them: a tool that others bring has a schema and no fields of ours."""
    schema = tool.params.model_json_schema()
    required = schema.get("required", [])
    return ", ".join(name if name in required else f"{name}?" for name in schema.get("properties", {}))
