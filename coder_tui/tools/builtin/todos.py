"""The session's todo list as two tools share it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from coder_tui.protocol.todos import TodoItem, TodoStatus
from coder_tui.tools.base import JsonObject

SaveTodos = Callable[[tuple[TodoItem, ...]], Awaitable[None]]


@dataclass(slots=True)
class TodoList:
    """The current items; `save` stores them and tells the screen."""

    session_id: str
    save: SaveTodos
    items: tuple[TodoItem, ...] = field(default=())

    async def replace(self, items: tuple[TodoItem, ...]) -> None:
        await self.save(items)
        self.items = items

    def take(self, items: tuple[TodoItem, ...]) -> None:
        """The store has these by now."""
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
