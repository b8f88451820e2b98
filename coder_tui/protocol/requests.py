"""Questions that the core puts to a person, and the answers."""

from dataclasses import dataclass
from enum import StrEnum

from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.display import DisplayBlock


class Decision(StrEnum):
    ALLOW_ONCE = "allow_once"
    ALLOW_ALWAYS = "allow_always"
    DENY = "deny"
    CANCEL_TURN = "cancel_turn"
    NOBODY_THERE = "nobody_there"


@dataclass(frozen=True, slots=True)
class Grant:
    """What "allow always" would add for this session: `key` is a tool or group, `pattern` the very target.

    With `is_folder` the pattern is a folder and covers everything below it.
    """

    key: str
    pattern: str
    label: str
    is_folder: bool = False


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """May this call run? Holds all that a dialog shows; `grants` are the scopes that "always" offers."""

    id: str
    call_id: str
    tool: str
    kind: ToolKind
    title: str
    preview: DisplayBlock
    facts: tuple[str, ...] = ()
    grants: tuple[Grant, ...] = ()
    is_undoable: bool = False
    rule: str = ""
    summary: str = ""


@dataclass(frozen=True, slots=True)
class ApprovalReply:
    decision: Decision
    message: str = ""
    grant: Grant | None = None


Request = ApprovalRequest
Reply = ApprovalReply
