"""The `git_add` tool: stage exactly the files that were shown."""

import asyncio
import os
import tempfile
from pathlib import Path

from coder_tui.protocol.access import Target, TargetKind, ToolKind
from coder_tui.protocol.display import TextBlock
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.base import Access, JsonObject, PathParams, Tool, ToolContext, ToolResult
from coder_tui.tools.builtin.git_read import MOST_NOTED, locate_unfollowed, named
from coder_tui.workspace.files.confine import Located, Workspace, refuse_kernel_tree
from coder_tui.workspace.git.changes import ADD_HOOKS, Hook, Stageable, hooks, stageable
from coder_tui.workspace.git.git import Git, Opened, require_success
from coder_tui.workspace.git.repository import Entry, programs_of_repository

MOST_FILES = 500


class GitAddTool(Tool[PathParams]):
    name = "git_add"
    kind = ToolKind.EXECUTE
    display_name = "Git add"
    params = PathParams
    permission = "git_add"

    def __init__(self, workspace: Workspace, git: Git) -> None:
        self._workspace = workspace
        self._git = git

    def summary(self, params: PathParams) -> str:
        return f"git add {params.path}"

    async def access(self, params: PathParams, ctx: ToolContext) -> Access:
        located = self._located(params)
        opened = await self._git.open()
        found = await self._found(opened, located)
        entries = await self._git.user_entries(opened)
        runs = _programs(entries, await hooks(self._git, opened, entries, ADD_HOOKS))
        # Staging reads the files and writes the index; the path as a name stands for the index.
        targets = (
            Target(TargetKind.NAME, located.shown, writes=True),
            *(Target(TargetKind.PATH, str(opened.top / file.name)) for file in found.files),
            *(Target(TargetKind.COMMAND, program, writes=True) for program in runs),
        )
        lines = [f"{file.state:<12} {self._shown(opened, file.name)}" for file in found.files]
        return Access(targets, TextBlock("\n".join(lines)), facts=_facts(found, runs))

    async def run(self, params: PathParams, ctx: ToolContext) -> ToolResult:
        opened = await self._git.open()
        found = await self._found(opened, self._located(params))
        names = [file.name for file in found.files]
        entries = await self._git.user_entries(opened)
        self._check(
            opened, names, _programs(entries, await hooks(self._git, opened, entries, ADD_HOOKS)), ctx
        )
        with tempfile.TemporaryDirectory(prefix="coder-tui-") as folder:
            listing = await asyncio.to_thread(_write_names, Path(folder), names)
            done = await self._git.act(
                opened,
                entries,
                *("--literal-pathspecs", "add", f"--pathspec-from-file={listing}", "--pathspec-file-nul"),
                filters=True,
            )
        require_success(done)
        return self._result(opened, found)

    def _located(self, params: PathParams) -> Located:
        located = locate_unfollowed(self._workspace, params.path)
        refuse_kernel_tree(located)
        if not located.is_inside:
            raise ToolError(ErrorType.PERMISSION_DENIED, f"{params.path} is outside the workspace.")
        return located

    async def _found(self, opened: Opened, located: Located) -> Stageable:
        found = await stageable(self._git, opened, str(located.path))
        if not found.files:
            raise await asyncio.to_thread(_nothing, found, located)
        return found

    def _check(self, opened: Opened, names: list[str], runs: tuple[str, ...], ctx: ToolContext) -> None:
        """Refuse files and programs that were not part of the approval."""
        if ctx.access is None:
            return
        approved = {target.value for target in ctx.access.targets}
        if not {*(str(opened.top / name) for name in names), *runs} <= approved:
            message = "What would be staged changed since this call was approved."
            raise ToolError(ErrorType.STALE_FILE, message, "Make the call again.")

    def _result(self, opened: Opened, found: Stageable) -> ToolResult:
        files = [self._shown(opened, file.name) for file in found.files]
        fields: JsonObject = {"ok": True, "files": files[:MOST_FILES]}
        if len(files) > MOST_FILES:
            fields["files_left_out"] = len(files) - MOST_FILES
        if found.ignored:
            fields["ignored"] = [self._shown(opened, name) for name in found.ignored[:MOST_NOTED]]
        count = f"{len(files)} {'file' if len(files) == 1 else 'files'}"
        return ToolResult(fields, TextBlock("\n".join(files)), f"staged {count}")

    def _shown(self, opened: Opened, name: str) -> str:
        return os.path.relpath(opened.top / name, self._workspace.root)


def _write_names(folder: Path, names: list[str]) -> Path:
    listing = folder / "paths"
    listing.write_bytes(b"".join(os.fsencode(name) + b"\0" for name in names))
    return listing


def _nothing(found: Stageable, located: Located) -> ToolError:
    """Explain why there is nothing to stage."""
    if found.ignored:
        message = f"Nothing staged: {named(found.ignored)} is ignored by git."
        return ToolError(ErrorType.EXECUTION_FAILED, message, "It is never forced; change .gitignore first.")
    if found.nested:
        message = f"{named(found.nested)} is a separate repository."
        return ToolError(ErrorType.EXECUTION_FAILED, message, "Add submodules with bash.")
    if not os.path.lexists(located.path):
        message = f"No file or folder at {located.shown}."
        return ToolError(ErrorType.FILE_NOT_FOUND, message, "Check with list or git_status.")
    message = f"There is nothing to stage at {located.shown}: it is unchanged or already staged."
    return ToolError(ErrorType.EXECUTION_FAILED, message, "git_status shows what is there.")


def _programs(entries: tuple[Entry, ...], found: tuple[Hook, ...]) -> tuple[str, ...]:
    """Return the programs that the repository would run; each needs its own approval."""
    filters = (entry.value for entry in programs_of_repository(entries))
    return (*dict.fromkeys(filters), *(str(hook.path) for hook in found))


def _facts(found: Stageable, runs: tuple[str, ...]) -> tuple[str, ...]:
    return (
        *(f"runs {program}, which the repository's own settings name" for program in runs),
        *((f"left out, ignored by git: {named(found.ignored)}",) if found.ignored else ()),
        *((f"left out, separate repositories: {named(found.nested)}",) if found.nested else ()),
    )
