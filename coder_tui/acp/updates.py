"""One event of a session as what an editor is told of it.

What a person can set for a session in their editor: its mode and its model.

The modes of a session, in an editor's words.
"""

from collections.abc import Iterable

from acp.helpers import plan_entry, text_block, update_current_mode, update_plan
from acp.schema import (
    AgentMessageChunk,
    AgentPlanUpdate,
    AgentThoughtChunk,
    AvailableCommandsUpdate,
    ConfigOptionUpdate,
    Cost,
    CurrentModeUpdate,
    SessionConfigOptionSelect,
    SessionConfigSelectOption,
    SessionInfoUpdate,
    SessionMode,
    SessionModeState,
    ToolCallProgress,
    ToolCallStart,
    UsageUpdate,
    UserMessageChunk,
)

from coder_tui.protocol.access import Mode
from coder_tui.protocol.events import (
    CompactionFinished,
    Event,
    ModeChanged,
    Notice,
    RetryScheduled,
    SessionRenamed,
    TextDelta,
    ThinkingDelta,
    TodosChanged,
    TurnFinished,
    UsageUpdated,
)
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.text.safe_text import safe_line, safe_text

Update = (
    UserMessageChunk
    | AgentMessageChunk
    | AgentThoughtChunk
    | ToolCallStart
    | ToolCallProgress
    | AgentPlanUpdate
    | AvailableCommandsUpdate
    | ConfigOptionUpdate
    | CurrentModeUpdate
    | SessionInfoUpdate
    | UsageUpdate
)


def update_of(event: Event) -> Update | None:
    """For what stands for itself; calls and requests have a history, and are told elsewhere."""
    match event:
        case TextDelta(message_id, text):
            return message(text, message_id)
        case ThinkingDelta(message_id, text):
            return thought(text, message_id)
        case Notice(NoticeLevel.INFO, text):
            return thought(f"{text}\n\n")
        case Notice(_, text):
            return remark(text)
        case TurnFinished(message=text) if text:
            return remark(text)
        case RetryScheduled():
            return thought(f"{event.reason} Trying again in {event.delay:.0f} s.\n\n")
        case CompactionFinished() if event.sentence:
            return thought(f"{event.sentence}\n\n")
        case TodosChanged(items):
            return update_plan(
                plan_entry(safe_text(item.content), priority=item.priority.value, status=item.status.value)
                for item in items
            )
        case ModeChanged(mode):
            return update_current_mode(mode.value)
        case SessionRenamed(title):
            return SessionInfoUpdate(session_update="session_info_update", title=safe_line(title))
        case UsageUpdated(context_window=int(window)):
            return _usage(event, window)
        case _:
            return None


def message(text: str, message_id: str | None = None) -> AgentMessageChunk:
    block = text_block(safe_text(text))
    return AgentMessageChunk(session_update="agent_message_chunk", content=block, message_id=message_id)


def thought(text: str, message_id: str | None = None) -> AgentThoughtChunk:
    block = text_block(safe_text(text))
    return AgentThoughtChunk(session_update="agent_thought_chunk", content=block, message_id=message_id)


def remark(text: str) -> AgentMessageChunk:
    """The program's own words, apart from the model's."""
    return message(f"\n\n{text}\n\n")


def report(text: str) -> AgentMessageChunk:
    """What a command says; its lines stay lines, although editors read Markdown."""
    return remark(f"```\n{text}\n```" if "\n" in text else text)


def persons(text: str, message_id: str | None = None) -> UserMessageChunk:
    block = text_block(safe_text(text))
    return UserMessageChunk(session_update="user_message_chunk", content=block, message_id=message_id)


def _usage(event: UsageUpdated, window: int) -> UsageUpdate:
    spent = event.session.cost
    cost = None if spent is None else Cost(amount=spent, currency="USD")
    return UsageUpdate(session_update="usage_update", used=event.context_tokens, size=window, cost=cost)


MODES = {
    Mode.ASK: ("Ask", "Ask before a file is changed or a command runs"),
    Mode.EDITS: ("Edits", "Change files of the project without a question, ask before commands"),
    Mode.AUTO: ("Auto", "Run what no rule forbids and no protection guards, without a question"),
    Mode.PLAN: ("Plan", "Read, ask and make a plan; change nothing"),
}


def modes_of(mode: Mode) -> SessionModeState:
    available = [
        SessionMode(id=each.value, name=name, description=about) for each, (name, about) in MODES.items()
    ]
    return SessionModeState(current_mode_id=mode.value, available_modes=available)


MODE, MODEL = "mode", "model"
Options = list[SessionConfigOptionSelect]


def options_of(mode: Mode, model: str, models: Iterable[str]) -> Options:
    """The whole set, as the protocol wants it each time."""
    names = dict.fromkeys((model, *models))
    return [
        SessionConfigOptionSelect(
            id=MODE,
            name="Mode",
            description="What happens without a question",
            category="mode",
            type="select",
            current_value=mode.value,
            options=[
                SessionConfigSelectOption(value=each.value, name=name, description=about)
                for each, (name, about) in MODES.items()
            ],
        ),
        SessionConfigOptionSelect(
            id=MODEL,
            name="Model",
            category="model",
            type="select",
            current_value=model,
            options=[SessionConfigSelectOption(value=name, name=safe_line(name)) for name in names],
        ),
    ]


def update_options(options: Options) -> ConfigOptionUpdate:
    return ConfigOptionUpdate(session_update="config_option_update", config_options=[*options])
