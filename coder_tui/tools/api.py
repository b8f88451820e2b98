"""Everything that a user's own tool needs to import."""

from coder_tui.protocol.access import Target, TargetKind, ToolKind
from coder_tui.protocol.display import DiffBlock, MarkdownBlock, TableBlock, TerminalBlock, TextBlock
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.base import Access, Audience, Params, Tool, ToolContext, ToolResult

__all__ = [
    "Access",
    "Audience",
    "DiffBlock",
    "ErrorType",
    "MarkdownBlock",
    "Params",
    "TableBlock",
    "Target",
    "TargetKind",
    "TerminalBlock",
    "TextBlock",
    "Tool",
    "ToolContext",
    "ToolError",
    "ToolKind",
    "ToolResult",
]
