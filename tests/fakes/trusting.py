"""A project's question of trust, as a test says, and the answers to it."""

from dataclasses import dataclass, field

from coder_tui.config.inventory import ProjectInventory
from coder_tui.protocol.errors import StorageError


@dataclass
class Trusting:
    """Notes the answers."""

    inventory: ProjectInventory | None
    answers: list[str] = field(default_factory=list)
    problem: StorageError | None = None

    async def question(self) -> ProjectInventory | None:
        return self.inventory

    async def accept(self, inventory: ProjectInventory) -> None:
        assert inventory is self.inventory
        if self.problem is not None:
            raise self.problem
        self.answers.append("accept")

    async def refuse(self, inventory: ProjectInventory) -> None:
        assert inventory is self.inventory
        self.answers.append("refuse")
