"""What a person sees of a call: display blocks, each drawn by one widget."""

from dataclasses import dataclass
from typing import Literal

from coder_tui.protocol.subagents import ChildLine
from coder_tui.protocol.todos import TodoItem


@dataclass(frozen=True, slots=True)
class TextBlock:
    text: str
    type: Literal["text"] = "text"


@dataclass(frozen=True, slots=True)
class MarkdownBlock:
    text: str
    type: Literal["markdown"] = "markdown"


@dataclass(frozen=True, slots=True)
class DiffBlock:
    """One file's change; `diff` is a unified diff, `path` relative to the workspace."""

    path: str
    diff: str
    additions: int
    deletions: int
    type: Literal["diff"] = "diff"


@dataclass(frozen=True, slots=True)
class TerminalBlock:
    """A command and what it printed; `exit_code` is None before it ends."""

    command: str
    output: str
    exit_code: int | None
    directory: str = ""
    type: Literal["terminal"] = "terminal"


@dataclass(frozen=True, slots=True)
class TodosBlock:
    items: tuple[TodoItem, ...]
    type: Literal["todos"] = "todos"


@dataclass(frozen=True, slots=True)
class TableBlock:
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    type: Literal["table"] = "table"


@dataclass(frozen=True, slots=True)
class SubagentsBlock:
    """The sub-agents of a call, in the order in which they were asked for."""

    children: tuple[ChildLine, ...]
    type: Literal["subagents"] = "subagents"


@dataclass(frozen=True, slots=True)
class ImageBlock:
    """A picture that was looked at; `width` is 0 where its size is not known."""

    name: str
    media_type: str
    width: int
    height: int
    size_bytes: int
    type: Literal["image"] = "image"

    def words(self, times: str = "×") -> str:
        """All that text can say of it: `shot.png  640×480  image/png  34.1 kB`."""
        size = f"{self.width}{times}{self.height}" if self.width else ""
        return "  ".join(filter(None, (self.name, size, self.media_type, in_bytes(self.size_bytes))))


def in_bytes(count: int) -> str:
    """A size as people read it."""
    for unit, name in ((1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")):
        if count >= unit:
            return f"{count / unit:.1f} {name}"
    return f"{count} B"


DisplayBlock = (
    TextBlock
    | MarkdownBlock
    | DiffBlock
    | TerminalBlock
    | TodosBlock
    | TableBlock
    | SubagentsBlock
    | ImageBlock
)
