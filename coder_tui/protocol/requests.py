"""Questions that the core puts to a person, and the answers."""

from dataclasses import dataclass
from enum import StrEnum

from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.display import DisplayBlock
from coder_tui.protocol.findings import Finding


class Decision(StrEnum):
    ALLOW_ONCE = "allow_once"
    ALLOW_ALWAYS = "allow_always"
    MODIFY = "modify"
    DENY = "deny"
    CANCEL_TURN = "cancel_turn"
    NOBODY_THERE = "nobody_there"


class GrantForm(StrEnum):
    """How a grant's patterns are read."""

    EXACT = "exact"
    """The very target."""
    FOLDER = "folder"
    """A folder, and everything below it."""
    GLOB = "glob"
    """A rule's pattern, as it would stand in settings."""


class GrantScope(StrEnum):
    """How long a grant holds, and where it is kept."""

    SESSION = "session"
    PROJECT = "project"
    USER = "user"


@dataclass(frozen=True, slots=True)
class Grant:
    """What "allow always" would add; `key` is a tool or group. Each part of a command needs a pattern."""

    key: str
    patterns: tuple[str, ...]
    label: str
    form: GrantForm = GrantForm.EXACT
    scope: GrantScope = GrantScope.SESSION


@dataclass(frozen=True, slots=True)
class Editable:
    """The part of a call that a person may rewrite before it runs; `suffix` helps an editor to colour it."""

    field: str
    text: str
    suffix: str = ""


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
    findings: tuple[Finding, ...] = ()
    sandbox: str = ""
    """How a command would be confined, in a few words; empty for what is no command."""
    editable: Editable | None = None
    agent: str = ""
    """Who asks, where that is not the main agent."""


@dataclass(frozen=True, slots=True)
class ApprovalReply:
    decision: Decision
    message: str = ""
    grant: Grant | None = None
    edited: str | None = None
    """With `MODIFY`: what the person made of the editable text."""


Request = ApprovalRequest
Reply = ApprovalReply
