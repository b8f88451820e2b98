"""Calls that are sent back as they stand, before anybody decides on them."""

from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.text.redact import MASK


def writes_mask() -> ToolError:
    """A model that was not shown a secret must not put the mask in its place."""
    return ToolError(
        ErrorType.INVALID_TOOL_PARAMS,
        f"invalid args: {MASK} stands for a secret that you were not shown; it would be lost",
        "Change only what is around it, for instance by `edit` with the lines before or after it.",
    )


def half_written() -> ToolError:
    return ToolError(
        ErrorType.INVALID_TOOL_PARAMS,
        "invalid args: the reply met the output limit in this call; it may be half written and did not run",
        "Send it again, in smaller pieces.",
    )
