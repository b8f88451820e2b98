"""The `git_log` tool: the newest commits."""

from coder_tui.protocol.access import ToolKind
from coder_tui.tools.base import Access, Params, Tool, ToolContext, ToolResult
from coder_tui.tools.builtin.git_reading import content_result, declare_place
from coder_tui.workspace.confine import Workspace
from coder_tui.workspace.git import Git, require_success

DEFAULT_COMMITS = 20
MOST_COMMITS = 1_000
NO_COMMITS = "There are no commits yet."


class GitLogParams(Params):
    limit: int = DEFAULT_COMMITS
    oneline: bool = False


class GitLogTool(Tool[GitLogParams]):
    name = "git_log"
    kind = ToolKind.READ
    display_name = "Git log"
    params = GitLogParams
    permission = "git_log"

    def __init__(self, workspace: Workspace, git: Git) -> None:
        self._workspace = workspace
        self._git = git

    def variables(self) -> dict[str, object]:
        return {"default_commits": DEFAULT_COMMITS, "max_commits": MOST_COMMITS}

    def summary(self, params: GitLogParams) -> str:
        return f"git log, {_count(params)} newest"

    async def access(self, params: GitLogParams, ctx: ToolContext) -> Access:
        return declare_place(self._workspace.root)

    async def run(self, params: GitLogParams, ctx: ToolContext) -> ToolResult:
        opened = await self._git.open()
        form = ("--oneline",) if params.oneline else ("--pretty=medium", "--date=iso")
        done = await self._git.read(
            opened,
            *("log", f"--max-count={_count(params)}", "--no-color", "--decorate=short", "--no-notes"),
            *("--no-show-signature", "--no-patch", *form),
        )
        if done.exit_code and "does not have any commits yet" in done.stderr:
            return content_result(NO_COMMITS, done, opened)
        require_success(done)
        return content_result(done.stdout, done, opened)


def _count(params: GitLogParams) -> int:
    return min(params.limit, MOST_COMMITS) if params.limit > 0 else DEFAULT_COMMITS
