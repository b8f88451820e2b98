"""All built-in tools, put together with the services they need."""

from collections.abc import Callable, Mapping
from pathlib import Path

from coder_tui.lsp.pool import LspPool
from coder_tui.shell.session_shell import SessionShell
from coder_tui.skills.shelf import SkillShelf
from coder_tui.text.redact import Redactor
from coder_tui.tools.builtin.apply_patch import ApplyPatchTool
from coder_tui.tools.builtin.bash import BashTool
from coder_tui.tools.builtin.bash_kill import BashKillTool
from coder_tui.tools.builtin.bash_output import BashOutputTool
from coder_tui.tools.builtin.batch import BatchTool
from coder_tui.tools.builtin.create_file import CreateFileTool
from coder_tui.tools.builtin.edit import EditTool
from coder_tui.tools.builtin.env_var import EnvVarTool
from coder_tui.tools.builtin.fetch import FetchTool
from coder_tui.tools.builtin.file_info import FileInfoTool
from coder_tui.tools.builtin.fork import ForkTool
from coder_tui.tools.builtin.git_add import GitAddTool
from coder_tui.tools.builtin.git_commit import GitCommitTool
from coder_tui.tools.builtin.git_diff import GitDiffTool
from coder_tui.tools.builtin.git_log import GitLogTool
from coder_tui.tools.builtin.git_status import GitStatusTool
from coder_tui.tools.builtin.glob import GlobTool
from coder_tui.tools.builtin.grep import GrepTool
from coder_tui.tools.builtin.list import ListTool
from coder_tui.tools.builtin.lsp_definition import LspDefinitionTool
from coder_tui.tools.builtin.lsp_diagnostics import LspDiagnosticsTool
from coder_tui.tools.builtin.lsp_hover import LspHoverTool
from coder_tui.tools.builtin.lsp_references import LspReferencesTool
from coder_tui.tools.builtin.lsp_symbols import LspSymbolsTool
from coder_tui.tools.builtin.memory import MemoryTool
from coder_tui.tools.builtin.mkdir import MkdirTool
from coder_tui.tools.builtin.models import ModelsTool
from coder_tui.tools.builtin.outline import OutlineTool
from coder_tui.tools.builtin.patch import PatchTool
from coder_tui.tools.builtin.plan_exit import PlanExitTool
from coder_tui.tools.builtin.question import QuestionTool
from coder_tui.tools.builtin.read import ReadTool
from coder_tui.tools.builtin.read_around import ReadAroundTool
from coder_tui.tools.builtin.read_many import ReadManyTool
from coder_tui.tools.builtin.skill import SkillTool
from coder_tui.tools.builtin.system_info import SystemInfoTool
from coder_tui.tools.builtin.task import TaskTool
from coder_tui.tools.builtin.task_finish import TaskFinishTool
from coder_tui.tools.builtin.todoread import TodoReadTool
from coder_tui.tools.builtin.todos import TodoList
from coder_tui.tools.builtin.todowrite import TodoWriteTool
from coder_tui.tools.builtin.websearch import WebsearchTool
from coder_tui.tools.builtin.write import WriteTool
from coder_tui.tools.ports import Finisher, InnerRunner, PersonPorts, SubagentRunner
from coder_tui.tools.registry import AnyTool
from coder_tui.web.web import Web
from coder_tui.workspace.confine import Workspace
from coder_tui.workspace.git import Git
from coder_tui.workspace.git_confined import ReadOnly
from coder_tui.workspace.ledger import FileLocks, ReadLedger
from coder_tui.workspace.outline.client import Outliner
from coder_tui.workspace.search import Search, search_program

OUTLINE_CACHE = "outlines.db"


def agent_tools(subagents: SubagentRunner, inner: InnerRunner, finisher: Finisher) -> tuple[AnyTool, ...]:
    """Those that start other agents, or other calls; `finisher` takes a sub-agent's last word."""
    return TaskTool(subagents), ForkTool(subagents), BatchTool(inner), TaskFinishTool(finisher)


def memory_tools(
    workspace: Workspace, own: Path, redact: Redactor, locks: FileLocks | None, *, reads_project: bool
) -> tuple[AnyTool, ...]:
    """What is remembered for later sessions; `own` is the folder of the person's instructions."""
    return (MemoryTool(workspace, ReadLedger(locks), own, redact, reads_project=reads_project),)


def knowledge_tools(
    workspace: Workspace,
    shell: SessionShell,
    skills: SkillShelf,
    environ: Mapping[str, str],
    redact: Redactor,
) -> tuple[AnyTool, ...]:
    """What a model can learn besides what files say."""
    return (
        SkillTool(skills),
        ModelsTool(environ),
        SystemInfoTool(workspace, shell.options.shell, environ),
        EnvVarTool(environ, redact),
    )


def language_tools(workspace: Workspace, pool: LspPool) -> tuple[AnyTool, ...]:
    """What language servers know."""
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
    person: PersonPorts,
    locks: FileLocks | None = None,
) -> tuple[AnyTool, ...]:
    """In the order in which models and people see them; `cache` is a folder for what can be made again.

    `locks` are those of other agents that work beside this one.
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
        PatchTool(workspace, ledger),
        ApplyPatchTool(workspace, ledger),
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
        QuestionTool(person.asker),
        PlanExitTool(person.asker, person.plans),
    )
