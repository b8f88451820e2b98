"""How a dialog that shows a request ends."""

from dataclasses import dataclass

from coder_tui.protocol.requests import Reply


@dataclass(frozen=True, slots=True)
class Closed:
    """`reply` is None when the dialog only docked or was withdrawn."""

    reply: Reply | None
    wants_list: bool = False
    """Whether all that waits is to be shown next."""
