"""The `git_diff` tool: what changed, line by line."""

from collections.abc import Callable

from coder_tui.policy.secrets import is_secret
from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.display import DiffBlock, DisplayBlock
from coder_tui.tools.base import Access, Params, Tool, ToolContext, ToolResult
from coder_tui.tools.builtin.git_reading import content_result, declare_place, locate_unfollowed, named
from coder_tui.workspace.confine import Located, Workspace, refuse_kernel_tree
from coder_tui.workspace.git import Git, Opened, require_success

_FLAGS = (
    *("--no-ext-diff", "--no-textconv", "--no-color", "--src-prefix=a/", "--dst-prefix=b/"),
    "--submodule=short",
)
_LEFT_OUT = "Left out, as secrets or by a rule: {}; a secret is shown when it is named."


class GitDiffParams(Params):
    staged: bool = False
    path: str | None = None


class GitDiffTool(Tool[GitDiffParams]):
    name = "git_diff"
    kind = ToolKind.READ
    display_name = "Git diff"
    params = GitDiffParams
    permission = "git_diff"

    def __init__(self, workspace: Workspace, git: Git, may_be_found: Callable[[str], bool]) -> None:
        self._workspace = workspace
        self._git = git
        self._may_be_found = may_be_found

    def summary(self, params: GitDiffParams) -> str:
        parts = ("git diff", "staged" if params.staged else "", params.path or "")
        return " ".join(part for part in parts if part)

    async def access(self, params: GitDiffParams, ctx: ToolContext) -> Access:
        located = self._located(params)
        refuse_kernel_tree(located)
        return declare_place(located.path)

    async def run(self, params: GitDiffParams, ctx: ToolContext) -> ToolResult:
        located = self._located(params)
        opened = await self._git.open()
        # A staged submodule is one line of the index; a changed one could only be told by asking inside it.
        what = ("--cached", "--ignore-submodules=none") if params.staged else ("--ignore-submodules=all",)
        command = ("diff", *what, *_FLAGS, *(("--relative",) if located.is_inside else ()))
        where = f":(literal){located.path}"
        left_out = await self._secrets(opened, command, located, where)
        excluded = tuple(f":(exclude,literal){name}" for name in left_out)
        done = await self._git.read(opened, *command, "--", where, *excluded)
        require_success(done)
        notes = (_LEFT_OUT.format(named(left_out)),) if left_out else ()
        return content_result(done.stdout, done, opened, block=_block(done.stdout), notes=notes)

    def _located(self, params: GitDiffParams) -> Located:
        return locate_unfollowed(self._workspace, params.path or ".")

    async def _secrets(
        self, opened: Opened, command: tuple[str, ...], located: Located, where: str
    ) -> tuple[str, ...]:
        """Files among the changed ones that are not read unasked; one that was named was asked for."""
        if is_secret(located.path):
            return ()
        names = await self._git.listed(opened, *command, "--name-only", "--no-renames", "-z", "--", where)
        return tuple(name for name in names.split("\0")[:-1] if self._is_kept_back(opened, name))

    def _is_kept_back(self, opened: Opened, name: str) -> bool:
        return is_secret(name) or not self._may_be_found(str(opened.top / name))


def _block(diff: str) -> DisplayBlock | None:
    """One file's change is shown as such."""
    head, mark, body = diff.partition("\n--- ")
    if not mark or not head.startswith("diff --git ") or "\ndiff --git " in body:
        return None
    lines = body.splitlines()
    path = lines[1].removeprefix("+++ ").removeprefix("b/") if len(lines) > 1 else ""
    additions = sum(line.startswith("+") for line in lines[2:])
    deletions = sum(line.startswith("-") for line in lines[2:])
    return DiffBlock(path, f"--- {body}", additions, deletions)
