"""Every value of the protocol survives a round trip."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coder_tui.protocol.display import (
    DiffBlock,
    DisplayBlock,
    ImageBlock,
    MarkdownBlock,
    SubagentsBlock,
    TableBlock,
    TerminalBlock,
    TextBlock,
    TodosBlock,
)
from coder_tui.protocol.errors import StorageError
from coder_tui.protocol.messages import (
    AssistantMessage,
    FinishReason,
    Message,
    ThinkingBlock,
    ToolCall,
    ToolMessage,
    Usage,
    UserMessage,
)
from coder_tui.protocol.subagents import ChildLine, ChildState
from coder_tui.protocol.todos import TodoItem, TodoPriority, TodoStatus
from coder_tui.storage.records import (
    pack_display,
    pack_message,
    pack_text,
    pack_todos,
    unpack_display,
    unpack_message,
    unpack_text,
    unpack_todos,
)

# Surrogates, NULs and backslashes far more often than by chance.
_text = st.text(st.one_of(st.characters(), st.sampled_from("\x00\\~u\ud83d\ude00\udcff\u2028")), max_size=12)
_counts = st.integers(0, 10**9)
_usage = st.builds(Usage, _counts, _counts, cost=st.none() | st.floats(0, 1e6))
_todo = st.builds(TodoItem, _text, _text, st.sampled_from(TodoStatus), st.sampled_from(TodoPriority))
_thinking = st.builds(ThinkingBlock, _text, st.none() | _text, st.none() | _text)
_messages: st.SearchStrategy[Message] = st.one_of(
    st.builds(UserMessage, _text, _text),
    st.builds(
        AssistantMessage,
        _text,
        _text,
        st.lists(_thinking, max_size=2).map(tuple),
        st.lists(st.builds(ToolCall, _text, _text, _text), max_size=2).map(tuple),
        _text,
        st.sampled_from(FinishReason),
        _usage,
    ),
    st.builds(ToolMessage, _text, _text, _text, _text),
)
_rows = st.lists(st.lists(_text, max_size=2).map(tuple), max_size=2).map(tuple)
_child = st.builds(
    ChildLine,
    _text,
    _text,
    _text,
    st.sampled_from(ChildState),
    _text,
    _text,
    _counts,
    st.none() | st.just(0.5),
)
_displays: st.SearchStrategy[DisplayBlock] = st.one_of(
    st.builds(TextBlock, _text),
    st.builds(MarkdownBlock, _text),
    st.builds(DiffBlock, _text, _text, _counts, _counts),
    st.builds(TerminalBlock, _text, _text, st.none() | st.integers(-99, 99), _text),
    st.builds(TodosBlock, st.lists(_todo, max_size=2).map(tuple)),
    st.builds(TableBlock, st.lists(_text, max_size=2).map(tuple), _rows),
    st.builds(SubagentsBlock, st.lists(_child, max_size=2).map(tuple)),
    st.builds(ImageBlock, _text, _text, _counts, _counts, _counts),
)


@settings(deadline=None)
@given(_text)
def test_any_text_becomes_utf8_and_comes_back(text: str) -> None:
    packed = pack_text(text)
    assert unpack_text(packed.encode().decode()) == text


def test_ordinary_text_is_stored_as_it_is() -> None:
    assert pack_text("C:\\dir – ünï 😀\n") == "C:\\dir – ünï 😀\n"


@settings(deadline=None)
@given(_messages)
def test_messages_round_trip(message: Message) -> None:
    assert unpack_message(pack_message(message)) == message


@settings(deadline=None)
@given(_displays)
def test_display_blocks_round_trip(block: DisplayBlock) -> None:
    assert unpack_display(pack_display(block)) == block


@settings(deadline=None)
@given(st.lists(_todo, max_size=3).map(tuple))
def test_todos_round_trip(items: tuple[TodoItem, ...]) -> None:
    assert unpack_todos(pack_todos(items)) == items


@pytest.mark.parametrize("text", ["", "\x00\x00", '{"role": "user"', '{"role": "ghost"}', '{"role": "user"}'])
def test_a_damaged_row_is_a_storage_error(text: str) -> None:
    with pytest.raises(StorageError, match="the store contains a value that this program cannot read"):
        unpack_message(text)
