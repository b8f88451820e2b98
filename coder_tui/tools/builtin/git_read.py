"""The `git_status`, `git_log` and `git_diff` tools, which only read."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from coder_tui.diffs.unified import file_statistics
from coder_tui.policy.paths import is_secret
from coder_tui.protocol.access import Target, TargetKind, ToolKind
from coder_tui.protocol.display import DiffBlock, DisplayBlock, TextBlock
from coder_tui.shell.command import Completed
from coder_tui.tools.base import Access, JsonObject, Params, ParamsT, Tool, ToolContext, ToolResult
from coder_tui.workspace.files.confine import Located, Workspace, refuse_kernel_tree
from coder_tui.workspace.git.git import Git, Opened, require_success
from coder_tui.workspace.git.repository import programs_of_repository

NO_FILTERS = "The repository's own filters were not run, so files that they convert may appear changed."
MOST_NOTED = 20


def locate_unfollowed(workspace: Workspace, path: str) -> Located:
    """Locate a path as git sees it: folders resolved, a link at the end not followed."""
    whole = workspace.locate(path)
    name = Path(path).name
    if name in ("", "..", "~"):
        return whole
    parent = workspace.locate(str(Path(path).parent))
    spelled = parent.path / name
    if spelled == whole.path:
        return whole
    is_root = parent.path == workspace.root
    return Located(
        spelled, name if is_root else f"{parent.shown}/{name}", parent.is_inside, parent.escapes_by_link
    )


def declare_place(path: Path) -> Access:
    return Access((Target(TargetKind.PATH, str(path)),))


def content_result(
    content: str,
    done: Completed,
    opened: Opened,
    *,
    block: DisplayBlock | None = None,
    notes: tuple[str, ...] = (),
) -> ToolResult:
    fields: JsonObject = {"ok": True, "content": content}
    if done.truncated:
        fields["truncated"] = True
    if programs_of_repository(opened.entries):
        notes = (*notes, NO_FILTERS)
    if notes:
        fields["note"] = " ".join(notes)
    shown = "\n".join(part for part in (content.rstrip("\n"), *notes) if part)
    return ToolResult(fields, block or TextBlock(shown))


def named(paths: tuple[str, ...]) -> str:
    """List a few names and count the rest."""
    more = f" and {len(paths) - MOST_NOTED} more" if len(paths) > MOST_NOTED else ""
    return ", ".join(paths[:MOST_NOTED]) + more


class GitReadingTool(Tool[ParamsT]):
    kind = ToolKind.READ

    def __init__(self, workspace: Workspace, git: Git) -> None:
        self._workspace = workspace
        self._git = git

    async def access(self, params: ParamsT, ctx: ToolContext) -> Access:
        return declare_place(self._workspace.root)


class GitStatusParams(Params):
    short: bool = False


class GitStatusTool(GitReadingTool[GitStatusParams]):
    name = "git_status"
    display_name = "Git status"
    params = GitStatusParams
    permission = "git_status"

    def summary(self, params: GitStatusParams) -> str:
        return "git status, short" if params.short else "git status"

    async def run(self, params: GitStatusParams, ctx: ToolContext) -> ToolResult:
        opened = await self._git.open()
        form = ("--short", "--branch") if params.short else ("--long",)
        done = await self._git.read(
            opened, "status", *form, "--untracked-files=normal", "--ignore-submodules=all", "--", "."
        )
        require_success(done)
        return content_result(done.stdout, done, opened)


DEFAULT_COMMITS = 20
MOST_COMMITS = 1_000
NO_COMMITS = "There are no commits yet."


class GitLogParams(Params):
    limit: int = DEFAULT_COMMITS
    oneline: bool = False


class GitLogTool(GitReadingTool[GitLogParams]):
    name = "git_log"
    display_name = "Git log"
    params = GitLogParams
    permission = "git_log"

    def variables(self) -> dict[str, object]:
        return {"default_commits": DEFAULT_COMMITS, "max_commits": MOST_COMMITS}

    def summary(self, params: GitLogParams) -> str:
        return f"git log, {_count(params)} newest"

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


_FLAGS = (
    *("--no-ext-diff", "--no-textconv", "--no-color", "--src-prefix=a/", "--dst-prefix=b/"),
    "--submodule=short",
)
_LEFT_OUT = "Left out as secrets or by a rule: {}. A secret is shown only if named."


class GitDiffParams(Params):
    staged: bool = False
    path: str | None = None


class GitDiffTool(GitReadingTool[GitDiffParams]):
    name = "git_diff"
    display_name = "Git diff"
    params = GitDiffParams
    permission = "git_diff"

    def __init__(self, workspace: Workspace, git: Git, may_be_found: Callable[[str], bool]) -> None:
        super().__init__(workspace, git)
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
        # A staged submodule is one line of the index; a changed one could only be found by running git inside
        # it.
        what = ("--cached", "--ignore-submodules=none") if params.staged else ("--ignore-submodules=all",)
        command = ("diff", *what, *_FLAGS, *(("--relative",) if located.is_inside else ()))
        where = f":(literal){located.path}"
        left_out = await self._secrets(opened, command, located, where)
        excluded = tuple(f":(exclude,literal){name}" for name in left_out)
        done = await self._git.read(opened, *command, "--", where, *excluded)
        require_success(done)
        notes = (_LEFT_OUT.format(named(left_out)),) if left_out else ()
        block = await asyncio.to_thread(_block, done.stdout)  # 144 ms for 770 kB
        return content_result(done.stdout, done, opened, block=block, notes=notes)

    def _located(self, params: GitDiffParams) -> Located:
        return locate_unfollowed(self._workspace, params.path or ".")

    async def _secrets(
        self, opened: Opened, command: tuple[str, ...], located: Located, where: str
    ) -> tuple[str, ...]:
        """Return changed files that are not read unless named: secrets and those that a rule hides."""
        if is_secret(located.path):
            return ()
        names = await self._git.listed(opened, *command, "--name-only", "--no-renames", "-z", "--", where)
        return tuple(name for name in names.split("\0")[:-1] if self._is_kept_back(opened, name))

    def _is_kept_back(self, opened: Opened, name: str) -> bool:
        return is_secret(name) or not self._may_be_found(str(opened.top / name))


def _block(diff: str) -> DisplayBlock | None:
    """Show the change of a single file as a diff; anything else stays plain text."""
    files = file_statistics(diff)
    _, mark, body = diff.partition("\n--- ")
    if len(files) != 1 or not mark:
        return None
    return DiffBlock(files[0].path, f"--- {body}", files[0].additions, files[0].deletions)
