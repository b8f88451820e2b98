"""Small tools for tests of everything around tools."""

import asyncio

from coder_tui.protocol.access import Target, TargetKind, ToolKind
from coder_tui.protocol.display import TextBlock
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.base import Access, Params, Tool, ToolContext, ToolResult


class NoteParams(Params):
    text: str


class LookTool(Tool[NoteParams]):
    """Reads. Runs whose text begins with `meet` wait for each other: one alone would never end."""

    name = "look"
    kind = ToolKind.READ
    display_name = "Look"
    params = NoteParams
    permission = "look"

    def __init__(self) -> None:
        self.waiting = 0
        self.met = asyncio.Event()
        self.seen: list[str] = []

    def summary(self, params: NoteParams) -> str:
        return params.text

    async def access(self, params: NoteParams, ctx: ToolContext) -> Access | None:
        return None

    async def run(self, params: NoteParams, ctx: ToolContext) -> ToolResult:
        if params.text.startswith("meet"):
            self.waiting += 1
            if self.waiting == 2:
                self.met.set()
            await asyncio.wait_for(self.met.wait(), 10)
        self.seen.append(params.text)
        return ToolResult({"ok": True, "text": params.text}, TextBlock(params.text))


class ActTool(Tool[NoteParams]):
    """Executes; notes what it did. `hang` never ends, `fail` fails, `bug` raises, `free` touches nothing."""

    name = "act"
    kind = ToolKind.EXECUTE
    display_name = "Act"
    params = NoteParams
    permission = "act"
    editable = "text"

    def __init__(self) -> None:
        self.done: list[str] = []
        self.reached = asyncio.Event()

    def summary(self, params: NoteParams) -> str:
        return f"act {params.text}"

    async def access(self, params: NoteParams, ctx: ToolContext) -> Access | None:
        touched = () if params.text == "free" else (Target(TargetKind.NAME, params.text, writes=True),)
        return Access(touched, facts=("does something",))

    async def run(self, params: NoteParams, ctx: ToolContext) -> ToolResult:
        ctx.progress(f"doing {params.text}")
        match params.text:
            case "hang":
                self.reached.set()
                await asyncio.Event().wait()
            case "fail":
                raise ToolError(ErrorType.EXECUTION_FAILED, "it failed", "try something else", {"code": 7})
            case "bug":
                raise ZeroDivisionError("a bug")
        self.done.append(params.text)
        return ToolResult(
            {"ok": True}, TextBlock("done"), summary=f"acted {params.text}", changed_paths=("a",)
        )
