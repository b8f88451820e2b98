"""Call one tool as the runner does: declare, then run with what was declared."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.shell.sandbox.sandbox import SandboxStatus
from coder_tui.shell.session_shell import ShellOptions
from coder_tui.tools.base import Access, JsonObject, Tool, ToolContext, ToolResult
from coder_tui.tools.builtin.bash import BashKillTool, BashOutputTool, BashTool
from coder_tui.tools.builtin.edit import EditTool
from coder_tui.tools.builtin.folders import FileInfoTool, MkdirTool
from coder_tui.tools.builtin.glob import GlobTool
from coder_tui.tools.builtin.grep import GrepTool
from coder_tui.tools.builtin.list import ListTool
from coder_tui.tools.builtin.outline import OutlineTool
from coder_tui.tools.builtin.read import ReadTool
from coder_tui.tools.builtin.read_around import ReadAroundTool
from coder_tui.tools.builtin.read_many import ReadManyTool
from coder_tui.tools.builtin.write import CreateFileTool, WriteTool
from coder_tui.workspace.files.confine import Workspace
from coder_tui.workspace.files.text import ReadLedger
from coder_tui.workspace.outline.client import Outliner
from coder_tui.workspace.search.search import Search, search_program
from tests.fakes.shells import UNCONFINED, shell_for


@dataclass
class Bench:
    """A workspace in `root` with the file tools around it."""

    root: Path
    options: ShellOptions = field(default_factory=ShellOptions)
    sandbox: SandboxStatus = UNCONFINED
    ledger: ReadLedger = field(default_factory=ReadLedger)
    sees_images: bool = False

    def __post_init__(self) -> None:
        self.root.mkdir(exist_ok=True)
        self.workspace = Workspace(self.root)
        self.shell = shell_for(self.root, self.sandbox, self.options)
        search = Search(search_program())
        tools: tuple[Tool[Any], ...] = (
            ReadTool(self.workspace, self.ledger),
            ReadManyTool(self.workspace, self.ledger, search),
            ReadAroundTool(self.workspace, search),
            ListTool(self.workspace),
            FileInfoTool(self.workspace),
            GlobTool(self.workspace, search),
            GrepTool(self.workspace, search),
            OutlineTool(self.workspace, search, Outliner(self.root.parent / "outlines.db")),
            WriteTool(self.workspace, self.ledger),
            CreateFileTool(self.workspace, self.ledger),
            MkdirTool(self.workspace),
            EditTool(self.workspace, self.ledger),
            BashTool(self.shell),
            BashOutputTool(self.shell),
            BashKillTool(self.shell),
        )
        self.tools = {tool.name: tool for tool in tools}

    def put(self, name: str, content: str | bytes = "") -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def context(self, access: Access | None = None) -> ToolContext:
        return ToolContext("session", "call", self.root, access=access, sees_images=self.sees_images)

    async def access(self, name: str, **arguments: object) -> Access:
        tool = self.tools[name]
        access = await tool.access(tool.params.model_validate(arguments), self.context())
        assert access is not None
        return access

    async def run(self, name: str, access: Access | None, **arguments: object) -> ToolResult:
        tool = self.tools[name]
        return await tool.run(tool.params.model_validate(arguments), self.context(access))

    async def call(self, name: str, **arguments: object) -> JsonObject:
        """Return the result's fields for the model."""
        return (await self.result(name, **arguments)).for_model

    async def result(self, name: str, **arguments: object) -> ToolResult:
        return await self.run(name, await self.access(name, **arguments), **arguments)

    async def failure(self, name: str, **arguments: object) -> tuple[ErrorType, str]:
        """Return the error that the call raises."""
        try:
            result = await self.call(name, **arguments)
        except ToolError as error:
            return error.type, error.message
        raise AssertionError(f"{name} did not fail: {result}")
