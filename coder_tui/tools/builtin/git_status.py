"""The `git_status` tool: what changed, what is staged, what is new."""

from coder_tui.protocol.access import ToolKind
from coder_tui.tools.base import Access, Params, Tool, ToolContext, ToolResult
from coder_tui.tools.builtin.git_reading import content_result, declare_place
from coder_tui.workspace.confine import Workspace
from coder_tui.workspace.git import Git, require_success


class GitStatusParams(Params):
    short: bool = False


class GitStatusTool(Tool[GitStatusParams]):
    name = "git_status"
    kind = ToolKind.READ
    display_name = "Git status"
    params = GitStatusParams
    permission = "git_status"

    def __init__(self, workspace: Workspace, git: Git) -> None:
        self._workspace = workspace
        self._git = git

    def summary(self, params: GitStatusParams) -> str:
        return "git status, short" if params.short else "git status"

    async def access(self, params: GitStatusParams, ctx: ToolContext) -> Access:
        return declare_place(self._workspace.root)

    async def run(self, params: GitStatusParams, ctx: ToolContext) -> ToolResult:
        opened = await self._git.open()
        form = ("--short", "--branch") if params.short else ("--long",)
        done = await self._git.read(
            opened, "status", *form, "--untracked-files=normal", "--ignore-submodules=all", "--", "."
        )
        require_success(done)
        return content_result(done.stdout, done, opened)
