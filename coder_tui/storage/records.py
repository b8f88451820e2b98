"""The records that the store accepts and returns, and protocol values as text for a column."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Annotated, Generic, TypeVar

from pydantic import Field, TypeAdapter, ValidationError

from coder_tui.protocol.access import Mode, ToolKind
from coder_tui.protocol.display import DisplayBlock
from coder_tui.protocol.errors import StorageError
from coder_tui.protocol.messages import Compaction, Message, ToolMessage, Usage
from coder_tui.protocol.outcomes import Outcome
from coder_tui.protocol.subagents import ChildLine
from coder_tui.protocol.todos import TodoItem
from coder_tui.storage.database import Damage

T = TypeVar("T")

# SQLite accepts only UTF-8, but a file name or a model's text may contain lone surrogates.
_SURROGATE = re.compile("[\ud800-\udfff]")
_TO_ESCAPE = re.compile(r"[\\\ud800-\udfff]")
_ESCAPED = re.compile(r"\\(?:\\|u([0-9a-f]{4}))")
_MARK = "\\~"


def pack_text(text: str) -> str:
    """Make any text storable; almost all text is unchanged."""
    if text.startswith(_MARK) or _SURROGATE.search(text):
        return _MARK + _TO_ESCAPE.sub(_escape, text)
    return text


def unpack_text(text: str) -> str:
    if not isinstance(text, str):
        raise StorageError("the store is damaged: a column that should hold text does not")
    if text.startswith(_MARK):
        return _ESCAPED.sub(_unescape, text[len(_MARK) :])
    return text


class _Codec(Generic[T]):
    """Converts one kind of value."""

    def __init__(self, make: Callable[[], TypeAdapter[T]]) -> None:
        # Built when first used: a front end imports this module before its first paint.
        self._adapter = cache(make)

    def pack(self, value: T) -> str:
        # Not dump_json: it refuses lone surrogates, and escaped ones would be joined into pairs.
        return pack_text(json.dumps(self._adapter().dump_python(value, mode="json"), ensure_ascii=False))

    def unpack(self, text: str) -> T:
        try:
            return self._adapter().validate_python(json.loads(unpack_text(text)))
        except (ValidationError, json.JSONDecodeError, RecursionError) as error:
            raise StorageError(
                f"the store contains a value that this program cannot read: {text[:80]!r}"
            ) from error


_MESSAGES: _Codec[Message] = _Codec(lambda: TypeAdapter(Annotated[Message, Field(discriminator="role")]))
_DISPLAYS: _Codec[DisplayBlock] = _Codec(
    lambda: TypeAdapter(Annotated[DisplayBlock, Field(discriminator="type")])
)
_TODOS: _Codec[tuple[TodoItem, ...]] = _Codec(lambda: TypeAdapter(tuple[TodoItem, ...]))
pack_message, unpack_message = _MESSAGES.pack, _MESSAGES.unpack
pack_display, unpack_display = _DISPLAYS.pack, _DISPLAYS.unpack
pack_todos, unpack_todos = _TODOS.pack, _TODOS.unpack


def _escape(match: re.Match[str]) -> str:
    return "\\\\" if match[0] == "\\" else f"\\u{ord(match[0]):04x}"


def _unescape(match: re.Match[str]) -> str:
    return chr(int(match[1], 16)) if match[1] else "\\"


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """A session's summary; `cost` is None if no price is known."""

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
class FinishedCall:
    """A finished call as it is stored and shown; `message` is its result for the model."""

    call_id: str
    tool: str
    outcome: Outcome
    summary: str
    display: DisplayBlock
    duration_ms: int
    message: ToolMessage


@dataclass(frozen=True, slots=True)
class StoredCall:
    """A call and how it ended; `outcome`, `result` and `display` are None until then."""

    record: CallRecord
    outcome: Outcome | None
    result: str | None
    display: DisplayBlock | None
    summary: str
    duration_ms: int


@dataclass(frozen=True, slots=True)
class DecisionRecord:
    """The policy's decision on a call, its rule, and the user's answer ("" if not asked)."""

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
    """Sub-agents by call; their messages are loaded on demand."""
    last_turn: int = 0
    """The highest number that any of its turns had."""
    compactions: tuple[Compaction, ...] = ()
    """The compactions in effect."""
    damage: Damage = field(default_factory=Damage)
    last_costs: dict[str, float] = field(default_factory=dict)
    """The dollars of each model's newest call, including sub-agents' calls, if the price is known."""
