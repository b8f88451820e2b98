"""Run the whole chain of `edit` on a text, as the tool does."""

from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.editing.replace import Replacement, replace_text
from coder_tui.workspace.files.text import TextFile


def replaced(text: str, old: str, new: str, *, replace_all: bool = False) -> Replacement:
    return replace_text(TextFile(text), "f", old, new, replace_all=replace_all)


def outcome(text: str, old: str, new: str) -> tuple[str, str]:
    """Return the new text and the strategy's name."""
    result = replaced(text, old, new)
    return result.text, result.strategy.value


def refusal(text: str, old: str, new: str) -> ErrorType:
    try:
        result = replaced(text, old, new)
    except ToolError as error:
        return error.type
    raise AssertionError(f"was not refused: {result}")
