"""`todoread`: the todo list as it stands."""

from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.display import TodosBlock
from coder_tui.tools.base import Access, Params, Tool, ToolContext, ToolResult
from coder_tui.tools.builtin.todos import TodoList


class TodoReadParams(Params):
    pass


class TodoReadTool(Tool[TodoReadParams]):
    name = "todoread"
    kind = ToolKind.THINK
    display_name = "Todos"
    params = TodoReadParams
    permission = "todo"

    def __init__(self, todos: TodoList) -> None:
        self._todos = todos

    def summary(self, params: TodoReadParams) -> str:
        return "read the list"

    async def access(self, params: TodoReadParams, ctx: ToolContext) -> Access | None:
        return None

    async def run(self, params: TodoReadParams, ctx: ToolContext) -> ToolResult:
        return ToolResult(self._todos.as_result(), TodosBlock(self._todos.items))
