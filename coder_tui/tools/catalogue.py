"""All built-in tools, put together with the services they need."""

from coder_tui.tools.builtin.bash import BashLimits, BashTool
from coder_tui.tools.builtin.create_file import CreateFileTool
from coder_tui.tools.builtin.edit import EditTool
from coder_tui.tools.builtin.file_info import FileInfoTool
from coder_tui.tools.builtin.glob import GlobTool
from coder_tui.tools.builtin.grep import GrepTool
from coder_tui.tools.builtin.list import ListTool
from coder_tui.tools.builtin.mkdir import MkdirTool
from coder_tui.tools.builtin.read import ReadTool
from coder_tui.tools.builtin.read_around import ReadAroundTool
from coder_tui.tools.builtin.read_many import ReadManyTool
from coder_tui.tools.builtin.todoread import TodoReadTool
from coder_tui.tools.builtin.todos import TodoList
from coder_tui.tools.builtin.todowrite import TodoWriteTool
from coder_tui.tools.builtin.write import WriteTool
from coder_tui.tools.registry import AnyTool
from coder_tui.workspace.confine import Workspace
from coder_tui.workspace.ledger import ReadLedger
from coder_tui.workspace.search import Search, search_program


def builtin_tools(workspace: Workspace, bash: BashLimits, todos: TodoList) -> tuple[AnyTool, ...]:
    """In the order in which models and people see them."""
    ledger, search = ReadLedger(), Search(search_program())
    return (
        ReadTool(workspace, ledger),
        ReadManyTool(workspace, ledger, search),
        ReadAroundTool(workspace, search),
        ListTool(workspace),
        FileInfoTool(workspace),
        GlobTool(workspace, search),
        GrepTool(workspace, search),
        WriteTool(workspace, ledger),
        CreateFileTool(workspace, ledger),
        MkdirTool(workspace),
        EditTool(workspace, ledger),
        BashTool(workspace, bash),
        TodoReadTool(todos),
        TodoWriteTool(todos),
    )
