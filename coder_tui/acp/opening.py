"""What an editor's requests need from above: sessions opened in a folder, and found again."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from coder_tui.agent.session import Session
from coder_tui.config.inventory import ProjectInventory
from coder_tui.storage.store import SessionInfo


@dataclass(frozen=True, slots=True)
class Wish:
    """A session in a folder; `resume` is the id of a stored one, `servers` are MCP servers as settings."""

    directory: str
    added: tuple[str, ...] = ()
    resume: str = ""
    servers: Mapping[str, Mapping[str, object]] = field(default_factory=dict)


class TrustDesk(Protocol):
    """Asks whether what a project brings along may be used."""

    async def question(self) -> ProjectInventory | None: ...
    async def accept(self, inventory: ProjectInventory) -> None: ...
    async def refuse(self, inventory: ProjectInventory) -> None: ...


@dataclass(frozen=True, slots=True)
class Opened:
    """`close` ends the session and all that was opened for it; `models` are those that `use_model` takes."""

    session: Session
    trust: TrustDesk
    close: Callable[[], Awaitable[None]]
    models: tuple[str, ...]
    use_model: Callable[[str], Awaitable[None]]


class Opener(Protocol):
    """Raises `UserError` with a sentence for the person."""

    async def open(self, wish: Wish) -> Opened: ...

    async def stored(self, directory: str | None, most: int) -> tuple[SessionInfo, ...]:
        """The sessions in which something was said, the one used last first."""

    def redact(self, text: str) -> str: ...
