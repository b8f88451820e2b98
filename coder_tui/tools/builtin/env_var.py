"""The `env_var` tool: one variable of the environment, secrets withheld."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator

from coder_tui.protocol.access import Target, TargetKind, ToolKind
from coder_tui.protocol.display import TextBlock
from coder_tui.shell.environment import is_secret_name
from coder_tui.text.redact import Redactor
from coder_tui.tools.base import Access, JsonObject, Params, Tool, ToolContext, ToolResult

LONGEST_NAME = 256
WITHHELD = "set; the value looks like a secret and is withheld"


def _variable_name(name: str) -> str:
    if not name or len(name) > LONGEST_NAME or "=" in name or "\0" in name:
        raise ValueError("must be the name of a variable")
    return name


class EnvVarParams(Params):
    name: Annotated[str, AfterValidator(_variable_name)]


class EnvVarTool(Tool[EnvVarParams]):
    name = "env_var"
    kind = ToolKind.READ
    display_name = "Variable"
    params = EnvVarParams
    permission = "env_var"

    def __init__(self, environ: Mapping[str, str], redact: Redactor) -> None:
        self._environ = environ
        self._redact = redact

    def summary(self, params: EnvVarParams) -> str:
        return params.name

    async def access(self, params: EnvVarParams, ctx: ToolContext) -> Access:
        return Access((Target(TargetKind.NAME, params.name),))

    async def run(self, params: EnvVarParams, ctx: ToolContext) -> ToolResult:
        value = self._environ.get(params.name)
        fields: JsonObject = {"ok": True, "name": params.name, "set": value is not None}
        if value is None:
            return ToolResult({**fields, "value": None}, TextBlock("not set"))
        if is_secret_name(params.name):
            return ToolResult(fields, TextBlock(WITHHELD))
        # An address with a password, a key under an innocent name: the value is looked at as well.
        shown = self._redact(value)
        return ToolResult({**fields, "value": shown}, TextBlock(shown))
