"""What the store takes and gives."""

from dataclasses import dataclass, field
from datetime import datetime

from coder_tui.protocol.access import Mode, ToolKind
from coder_tui.protocol.display import DisplayBlock
from coder_tui.protocol.messages import Compaction, Message, Usage
from coder_tui.protocol.outcomes import Outcome
from coder_tui.protocol.subagents import ChildLine
from coder_tui.protocol.todos import TodoItem
from coder_tui.storage.database import Damage


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """A session at a glance; `cost` is None where no price is known."""

    id: str
    title: str
    directory: str
    model: str
    mode: Mode
    created: datetime
    updated: datetime
    message_count: int
    cost: float | None


@dataclass(frozen=True, slots=True)
class CallRecord:
    """A tool call before it runs; `call_id` is unique in its session."""

    call_id: str
    message_id: str
    tool: str
    arguments: str
    summary: str
    kind: ToolKind


@dataclass(frozen=True, slots=True)
class StoredCall:
    """A call and how it ended; `outcome`, `result` and `display` are None before that."""

    record: CallRecord
    outcome: Outcome | None
    result: str | None
    display: DisplayBlock | None
    summary: str
    duration_ms: int


@dataclass(frozen=True, slots=True)
class DecisionRecord:
    """What policy said of a call, by which rule, and what the person answered (empty: was not asked)."""

    call_id: str
    tool: str
    effect: str
    rule: str
    source: str
    answer: str


@dataclass(frozen=True, slots=True)
class StoredSession:
    info: SessionInfo
    messages: tuple[Message, ...]
    calls: dict[str, StoredCall]
    todos: tuple[TodoItem, ...]
    usage: Usage
    children: dict[str, tuple[ChildLine, ...]] = field(default_factory=dict)
    """By call; what they said is loaded when somebody wants to read it."""
    last_turn: int = 0
    """The highest number that a turn of it ever had."""
    compactions: tuple[Compaction, ...] = ()
    """Those in effect."""
    damage: Damage = field(default_factory=Damage)
    last_costs: dict[str, float] = field(default_factory=dict)
    """Dollars of the newest call of each model, those of sub-agents among them, where its price is known."""
