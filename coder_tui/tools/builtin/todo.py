"""The `todoread` and `todowrite` tools, and the todo list that they share."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from pydantic import Field

from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.display import TodosBlock
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.protocol.todos import TodoItem, TodoPriority, TodoStatus
from coder_tui.tools.base import JsonObject, NoParams, Params, ParamsT, PureTool, ToolContext, ToolResult

SaveTodos = Callable[[tuple[TodoItem, ...]], Awaitable[None]]


@dataclass(slots=True)
class TodoList:
    """The current items; `save` stores them and updates the screen."""

    session_id: str
    save: SaveTodos
    items: tuple[TodoItem, ...] = field(default=())

    async def replace(self, items: tuple[TodoItem, ...]) -> None:
        await self.save(items)
        self.items = items

    def restore(self, items: tuple[TodoItem, ...]) -> None:
        """Use items that the store already has."""
        self.items = items

    def as_result(self) -> JsonObject:
        active = next((item.id for item in self.items if item.status is TodoStatus.IN_PROGRESS), None)
        return {
            "ok": True,
            "session_id": self.session_id,
            "items": [
                {"id": item.id, "content": item.content, "status": item.status, "priority": item.priority}
                for item in self.items
            ],
            "count": len(self.items),
            "in_progress": active,
        }


class TodoTool(PureTool[ParamsT]):
    kind = ToolKind.THINK
    display_name = "Todos"
    permission = "todo"

    def __init__(self, todos: TodoList) -> None:
        self._todos = todos


class TodoReadTool(TodoTool[NoParams]):
    name = "todoread"
    params = NoParams

    def summary(self, params: NoParams) -> str:
        return "read the list"

    async def run(self, params: NoParams, ctx: ToolContext) -> ToolResult:
        return ToolResult(self._todos.as_result(), TodosBlock(self._todos.items))


MOST_TODOS = 200


class Todo(Params):
    id: str = Field(min_length=1, max_length=100)
    content: str = Field(min_length=1, max_length=2_000)
    status: TodoStatus
    priority: TodoPriority


class TodoWriteParams(Params):
    todos: list[Todo] = Field(max_length=MOST_TODOS)


class TodoWriteTool(TodoTool[TodoWriteParams]):
    name = "todowrite"
    params = TodoWriteParams

    def summary(self, params: TodoWriteParams) -> str:
        done = sum(todo.status is TodoStatus.COMPLETED for todo in params.todos)
        return f"{done}/{len(params.todos)} done"

    async def run(self, params: TodoWriteParams, ctx: ToolContext) -> ToolResult:
        _check(params.todos)
        items = tuple(TodoItem(todo.id, todo.content, todo.status, todo.priority) for todo in params.todos)
        await self._todos.replace(items)
        return ToolResult(self._todos.as_result(), TodosBlock(items))


def _check(todos: list[Todo]) -> None:
    active = [todo.id for todo in todos if todo.status is TodoStatus.IN_PROGRESS]
    if len(active) > 1:
        raise ToolError(
            ErrorType.INVALID_TOOL_PARAMS,
            f"invalid args: todos: only one item may be in_progress, not {', '.join(active)}",
        )
    if len({todo.id for todo in todos}) != len(todos):
        raise ToolError(ErrorType.INVALID_TOOL_PARAMS, "invalid args: todos: two items have the same id")
