"""What language servers say of changes that wait: before their dialogs open, or while they are read."""

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # nothing waits before the first paint
    from coder_tui.protocol.diagnostics import ProposalCheck


class ProposalChecks:
    """By call."""

    def __init__(self) -> None:
        self._known: dict[str, ProposalCheck] = {}
        self._followed: dict[str, Callable[[ProposalCheck], None]] = {}

    def take(self, call_id: str, check: "ProposalCheck") -> None:
        self._known[call_id] = check
        if (show := self._followed.get(call_id)) is not None:
            show(check)

    def follow(self, call_id: str, show: "Callable[[ProposalCheck], None]") -> None:
        """Show what is known, and what comes."""
        self._followed[call_id] = show
        if (check := self._known.get(call_id)) is not None:
            show(check)

    def forget(self, call_id: str) -> None:
        self._known.pop(call_id, None)
        self._followed.pop(call_id, None)
