"""The git tools around one repository, called as the runner calls them."""

from pathlib import Path
from typing import Any

from coder_tui.protocol.errors import ToolError
from coder_tui.shell.sandbox.sandbox import SandboxStatus
from coder_tui.tools.base import Access, JsonObject, Tool, ToolContext, ToolResult
from coder_tui.tools.builtin.git_add import GitAddTool
from coder_tui.tools.builtin.git_commit import GitCommitTool
from coder_tui.tools.builtin.git_read import GitDiffTool, GitLogTool, GitStatusTool
from coder_tui.workspace.files.confine import Workspace
from coder_tui.workspace.git.git import Git, ReadOnly
from tests.fakes.shells import UNCONFINED


class GitBench:
    """Unconfined by default: git's own settings must be enough."""

    def __init__(self, root: Path, sandbox: SandboxStatus = UNCONFINED) -> None:
        self.root = root
        workspace = Workspace(root)
        git = Git(workspace, ReadOnly(sandbox))
        tools: tuple[Tool[Any], ...] = (
            GitStatusTool(workspace, git),
            GitDiffTool(workspace, git, lambda path: True),
            GitLogTool(workspace, git),
            GitAddTool(workspace, git),
            GitCommitTool(git),
        )
        self.tools = {tool.name: tool for tool in tools}

    async def access(self, name: str, **arguments: object) -> Access:
        tool = self.tools[name]
        access = await tool.access(tool.params.model_validate(arguments), ToolContext("s", "c", self.root))
        assert access is not None
        return access

    async def run(self, name: str, access: Access | None, **arguments: object) -> ToolResult:
        tool = self.tools[name]
        context = ToolContext("s", "c", self.root, access=access)
        return await tool.run(tool.params.model_validate(arguments), context)

    async def result(self, name: str, **arguments: object) -> ToolResult:
        return await self.run(name, await self.access(name, **arguments), **arguments)

    async def call(self, name: str, **arguments: object) -> JsonObject:
        return (await self.result(name, **arguments)).for_model

    async def failure(self, name: str, **arguments: object) -> ToolError:
        try:
            result = await self.call(name, **arguments)
        except ToolError as error:
            return error
        raise AssertionError(f"{name} did not fail: {result}")
