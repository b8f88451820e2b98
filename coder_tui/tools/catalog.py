"""Build all built-in tools with the services they need."""

from collections.abc import Callable, Mapping
from pathlib import Path

from coder_tui.lsp.pool import LspPool
from coder_tui.shell.session_shell import SessionShell
from coder_tui.skills.session_skills import SessionSkills
from coder_tui.text.redact import Redactor
from coder_tui.tools.builtin.bash import BashKillTool, BashOutputTool, BashTool
from coder_tui.tools.builtin.batch import BatchTool
from coder_tui.tools.builtin.edit import EditTool
from coder_tui.tools.builtin.environment import EnvVarTool, ModelsTool, SystemInfoTool
from coder_tui.tools.builtin.fetch import FetchTool
from coder_tui.tools.builtin.folders import FileInfoTool, MkdirTool
from coder_tui.tools.builtin.git_add import GitAddTool
from coder_tui.tools.builtin.git_commit import GitCommitTool
from coder_tui.tools.builtin.git_read import GitDiffTool, GitLogTool, GitStatusTool
from coder_tui.tools.builtin.glob import GlobTool
from coder_tui.tools.builtin.grep import GrepTool
from coder_tui.tools.builtin.list import ListTool
from coder_tui.tools.builtin.lsp import (
    LspDefinitionTool,
    LspDiagnosticsTool,
    LspHoverTool,
    LspReferencesTool,
    LspSymbolsTool,
)
from coder_tui.tools.builtin.memory import MemoryTool
from coder_tui.tools.builtin.outline import OutlineTool
from coder_tui.tools.builtin.patch import PatchDialect, PatchTool
from coder_tui.tools.builtin.plan_exit import PlanExitTool
from coder_tui.tools.builtin.question import QuestionTool
from coder_tui.tools.builtin.read import ReadTool
from coder_tui.tools.builtin.read_around import ReadAroundTool
from coder_tui.tools.builtin.read_many import ReadManyTool
from coder_tui.tools.builtin.skill import SkillTool
from coder_tui.tools.builtin.subagents import ForkTool, TaskFinishTool, TaskTool
from coder_tui.tools.builtin.todo import TodoList, TodoReadTool, TodoWriteTool
from coder_tui.tools.builtin.websearch import WebsearchTool
from coder_tui.tools.builtin.write import CreateFileTool, WriteTool
from coder_tui.tools.ports import Finisher, InnerRunner, SubagentRunner, UserPorts
from coder_tui.tools.registry import AnyTool
from coder_tui.web.web import Web
from coder_tui.workspace.files.confine import Workspace
from coder_tui.workspace.files.text import FileLocks, ReadLedger
from coder_tui.workspace.git.git import Git, ReadOnly
from coder_tui.workspace.outline.client import Outliner
from coder_tui.workspace.search.search import Search, search_program

OUTLINE_CACHE = "outlines.db"


def agent_tools(subagents: SubagentRunner, inner: InnerRunner, finisher: Finisher) -> tuple[AnyTool, ...]:
    """Return the tools that start agents or calls; `finisher` receives a sub-agent's summary."""
    return TaskTool(subagents), ForkTool(subagents), BatchTool(inner), TaskFinishTool(finisher)


def memory_tools(
    workspace: Workspace, own: Path, redact: Redactor, locks: FileLocks | None, *, reads_project: bool
) -> tuple[AnyTool, ...]:
    """Return the tools that remember facts; `own` is the folder of the user's instructions."""
    return (MemoryTool(workspace, ReadLedger(locks), own, redact, reads_project=reads_project),)


def knowledge_tools(
    workspace: Workspace,
    shell: SessionShell,
    skills: SessionSkills,
    environ: Mapping[str, str],
    redact: Redactor,
) -> tuple[AnyTool, ...]:
    """Return the tools that report what files do not."""
    return (
        SkillTool(skills),
        ModelsTool(environ),
        SystemInfoTool(workspace, shell.options.shell, environ),
        EnvVarTool(environ, redact),
    )


def language_tools(workspace: Workspace, pool: LspPool) -> tuple[AnyTool, ...]:
    """Return the tools that ask language servers."""
    return (
        LspDiagnosticsTool(workspace, pool),
        LspDefinitionTool(workspace, pool),
        LspHoverTool(workspace, pool),
        LspReferencesTool(workspace, pool),
        LspSymbolsTool(workspace, pool),
    )


def builtin_tools(
    workspace: Workspace,
    shell: SessionShell,
    todos: TodoList,
    cache: Path,
    web: Web,
    may_be_found: Callable[[str], bool],
    user: UserPorts,
    locks: FileLocks | None = None,
) -> tuple[AnyTool, ...]:
    """Return the tools in the order of every list; `cache` is a folder for data that can be recreated.

    `locks` are shared with agents that work at the same time.
    """
    ledger, search = ReadLedger(locks), Search(search_program(), may_be_found=may_be_found)
    git = Git(workspace, ReadOnly(shell.sandbox.status))
    return (
        ReadTool(workspace, ledger),
        ReadManyTool(workspace, ledger, search),
        ReadAroundTool(workspace, search),
        ListTool(workspace),
        FileInfoTool(workspace),
        GlobTool(workspace, search),
        GrepTool(workspace, search),
        OutlineTool(workspace, search, Outliner(cache / OUTLINE_CACHE)),
        WriteTool(workspace, ledger),
        CreateFileTool(workspace, ledger),
        MkdirTool(workspace),
        EditTool(workspace, ledger),
        *(PatchTool(workspace, ledger, dialect) for dialect in PatchDialect),
        BashTool(shell),
        BashOutputTool(shell),
        BashKillTool(shell),
        FetchTool(web.fetcher),
        WebsearchTool(web.search),
        GitStatusTool(workspace, git),
        GitDiffTool(workspace, git, may_be_found),
        GitLogTool(workspace, git),
        GitAddTool(workspace, git),
        GitCommitTool(git),
        TodoReadTool(todos),
        TodoWriteTool(todos),
        QuestionTool(user.asker),
        PlanExitTool(user.asker, user.plans),
    )
