"""An invalid call is answered with one line per field and what the tool takes."""

import json
from typing import Any

import pytest
from pydantic import Field, field_validator, model_validator

from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.arguments import parse_call
from coder_tui.tools.base import Access, Params, Tool, ToolContext, ToolResult
from coder_tui.tools.foreign import foreign_params

GIVEN = {
    "type": "object",
    "properties": {"who": {"type": "string"}, "often": {"type": "integer"}, "loud": {"type": "boolean"}},
    "required": ["who", "often"],
}


class OwnParams(Params):
    name: str
    count: int = Field(default=1, ge=1)

    @field_validator("name")
    @classmethod
    def _is_short(cls, name: str) -> str:
        if len(name) > 3:
            raise ValueError("must be short")
        return name

    @model_validator(mode="after")
    def _is_not_both(self) -> "OwnParams":
        if self.name == "two" and self.count == 1:
            raise ValueError("give another name or count")
        return self


class DescribedTool(Tool[Any]):
    name = "lister"
    kind = ToolKind.THINK
    permission = "lister"

    def __init__(self, params: type[Params]) -> None:
        self.params = params

    def summary(self, params: Params) -> str:
        return ""

    async def access(self, params: Params, ctx: ToolContext) -> Access | None:
        return None

    async def run(self, params: Params, ctx: ToolContext) -> ToolResult:
        raise NotImplementedError


def refused(params: type[Params], given: dict[str, object]) -> tuple[str, str]:
    with pytest.raises(ToolError) as caught:
        parse_call(DescribedTool(params), json.dumps(given))
    assert caught.value.type is ErrorType.INVALID_TOOL_PARAMS
    return caught.value.message, caught.value.hint


@pytest.mark.parametrize(
    ("given", "message"),
    [
        pytest.param({"name": "long"}, "invalid args: name: must be short", id="own check"),
        pytest.param({"name": "two"}, "invalid args: give another name or count", id="as a whole"),
        pytest.param(
            {"count": 0, "more": 1},
            "invalid args: name: Field required\n"
            "count: Input should be greater than or equal to 1\n"
            "more: Extra inputs are not permitted",
            id="several",
        ),
    ],
)
def test_each_wrong_field_has_a_line(given: dict[str, object], message: str) -> None:
    assert refused(OwnParams, given) == (message, "lister takes: name, count?.")


def test_an_error_of_a_foreign_tool_lists_its_own_fields() -> None:
    message = "invalid args: often: Field required\nwho: must be of type string"
    assert refused(foreign_params(GIVEN), {"who": 7}) == (message, "lister takes: who, often, loud?.")
