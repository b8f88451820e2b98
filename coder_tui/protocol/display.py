"""What the user sees of a call: display blocks, each drawn by one widget."""

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
    """The change of one file. `diff` is a unified diff, `path` is relative to the workspace."""

    path: str
    diff: str
    additions: int
    deletions: int
    type: Literal["diff"] = "diff"


@dataclass(frozen=True, slots=True)
class TerminalBlock:
    """A command and its output. `exit_code` is None until it ends."""

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
    """The sub-agents of a call, in the order of the request."""

    children: tuple[ChildLine, ...]
    type: Literal["subagents"] = "subagents"


@dataclass(frozen=True, slots=True)
class ImageBlock:
    """A picture that was read. `width` is 0 if its size is unknown."""

    name: str
    media_type: str
    width: int
    height: int
    size_bytes: int
    type: Literal["image"] = "image"

    def describe(self, times: str = "×") -> str:
        """Describe the picture in a line: `shot.png  640×480  image/png  34.1 kB`."""
        size = f"{self.width}{times}{self.height}" if self.width else ""
        return "  ".join(filter(None, (self.name, size, self.media_type, format_bytes(self.size_bytes))))


def format_bytes(count: int) -> str:
    """Format a size with its unit."""
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
