"""The `git_commit` tool: commit what is staged, as it was shown."""

import hashlib
from dataclasses import dataclass

from pydantic import field_validator

from coder_tui.protocol.access import Target, TargetKind, ToolKind
from coder_tui.protocol.display import TextBlock
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.base import Access, Params, Tool, ToolContext, ToolResult
from coder_tui.tools.editing.change import check_text
from coder_tui.workspace.git.changes import COMMIT_HOOKS, Hook, StagedFile, hooks, staged
from coder_tui.workspace.git.git import Git, Opened, complete_output, failed
from coder_tui.workspace.git.repository import Entry, configured_hooks, last_value

MOST_MESSAGE = 100_000
DETACHED = "a detached HEAD"
_NO_AUTHOR = "git does not know who the author is."
_TRUE = ("true", "yes", "on", "1")


class GitCommitParams(Params):
    message: str

    @field_validator("message")
    @classmethod
    def _is_not_empty(cls, message: str) -> str:
        lines = [line for line in message.splitlines() if line.strip()]
        if not any(not line.startswith("#") for line in lines):
            raise ValueError("must not be empty; lines that begin with # are comments")
        if "\0" in message:
            raise ValueError("must not contain a NUL character")
        if len(message.encode("utf-8", "replace")) > MOST_MESSAGE:
            raise ValueError(f"must be shorter than {MOST_MESSAGE} bytes")
        return message.strip()


@dataclass(frozen=True, slots=True)
class _Plan:
    """Everything that a commit would do."""

    opened: Opened
    entries: tuple[Entry, ...]
    files: tuple[StagedFile, ...]
    content: str
    branch: str
    author: str
    hooks: tuple[Hook, ...]
    concludes_merge: bool

    @property
    def programs(self) -> tuple[str, ...]:
        configured = (entry.value for entry in configured_hooks(self.entries))
        return (*(str(hook.path) for hook in self.hooks), *configured)

    def fingerprint(self, message: str) -> str:
        parts = (
            message,
            self.content,
            self.branch,
            self.author,
            *(f"{h.path} {h.sha256}" for h in self.hooks),
        )
        return hashlib.sha256("\0".join((*parts, *self.programs)).encode("utf-8", "replace")).hexdigest()


class GitCommitTool(Tool[GitCommitParams]):
    name = "git_commit"
    kind = ToolKind.EXECUTE
    display_name = "Git commit"
    params = GitCommitParams
    permission = "git_commit"
    editable = "message"

    def __init__(self, git: Git) -> None:
        self._git = git

    def summary(self, params: GitCommitParams) -> str:
        return params.message.split("\n", 1)[0]

    async def access(self, params: GitCommitParams, ctx: ToolContext) -> Access:
        check_text("message", params.message)
        plan = await self._plan()
        targets = (
            Target(TargetKind.NAME, plan.branch, writes=True),
            *(Target(TargetKind.PATH, str(plan.opened.top / file.name)) for file in plan.files),
            *(Target(TargetKind.COMMAND, program, writes=True) for program in plan.programs),
        )
        listing = "\n".join(_line(file) for file in plan.files)
        return Access(
            targets,
            TextBlock(f"{params.message}\n\n{listing}".rstrip("\n")),
            fingerprint=plan.fingerprint(params.message),
            facts=_facts(plan),
        )

    async def run(self, params: GitCommitParams, ctx: ToolContext) -> ToolResult:
        plan = await self._plan()
        if ctx.access is not None and ctx.access.fingerprint != plan.fingerprint(params.message):
            message = "What would be committed changed since this call was approved."
            raise ToolError(ErrorType.STALE_FILE, message, "Check with git_status, then make the call again.")
        done = await self._git.act(
            plan.opened,
            plan.entries,
            *("commit", "--quiet", "--cleanup=whitespace", f"--message={params.message}"),
            on_output=ctx.progress,
        )
        if done.exit_code:
            raise failed(done)
        commit = complete_output(await self._git.read(plan.opened, "rev-parse", "HEAD")).strip()
        count = f"{len(plan.files)} {'file' if len(plan.files) == 1 else 'files'}"
        shown = f"{commit[:10]} on {plan.branch}, {count}\n{params.message}"
        return ToolResult(
            {"ok": True, "commit": commit}, TextBlock(shown), f"{commit[:10]} {self.summary(params)}"
        )

    async def _plan(self) -> _Plan:
        opened = await self._git.open()
        files, content = await staged(self._git, opened)
        merging = (opened.repository.git_dir / "MERGE_HEAD").exists()
        if not files and not merging:
            raise ToolError(
                ErrorType.EXECUTION_FAILED, "Nothing is staged.", "Stage files with git_add first."
            )
        entries = await self._git.user_entries(opened)
        return _Plan(
            opened,
            entries,
            files,
            content,
            await self._branch(opened),
            await self._author(opened, entries),
            await hooks(self._git, opened, entries, COMMIT_HOOKS),
            merging,
        )

    async def _branch(self, opened: Opened) -> str:
        done = await self._git.read(opened, "symbolic-ref", "--quiet", "--short", "HEAD")
        return done.stdout.strip() or DETACHED

    async def _author(self, opened: Opened, entries: tuple[Entry, ...]) -> str:
        done = await self._git.act(opened, entries, "var", "GIT_AUTHOR_IDENT")
        if done.exit_code:
            hint = "The user can set it: git config --global user.name NAME, and user.email ADDRESS."
            raise ToolError(ErrorType.EXECUTION_FAILED, _NO_AUTHOR, hint)
        return done.stdout.strip().rsplit(" ", 2)[0]


def _line(file: StagedFile) -> str:
    if file.additions is None or file.deletions is None:
        return f"{file.state:<12} {file.name}  (not text)"
    return f"{file.state:<12} {file.name}  +{file.additions} -{file.deletions}"


def _facts(plan: _Plan) -> tuple[str, ...]:
    is_signed = last_value(plan.entries, "commit.gpgsign").lower() in _TRUE
    return (
        f"commits to {plan.branch} as {plan.author}",
        *(("concludes a merge",) if plan.concludes_merge else ()),
        *(("signs with your own key",) if is_signed else ()),
        *(f"runs the hook {hook.name} ({hook.path})" for hook in plan.hooks),
        *(f"runs {entry.value}, set as {entry.key}" for entry in configured_hooks(plan.entries)),
    )
