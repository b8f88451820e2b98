"""Entries of a long session are packed; their rows stay the same."""

from coder_tui.protocol.access import ToolKind
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
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.protocol.subagents import ChildLine
from coder_tui.protocol.todos import TodoItem, TodoPriority, TodoStatus
from coder_tui.text.packed import PAGE
from coder_tui.ui.draw.call_entry import CallEntry, CallState
from coder_tui.ui.draw.entries import Entry, NoteEntry, ThinkingEntry, UserEntry, View, reply_entries
from coder_tui.ui.draw.entry_strips import UNPACKED, EntryStrips
from tests.ui.transcript_app import PALETTE

BLOCKS: tuple[DisplayBlock, ...] = (
    TextBlock("text"),
    MarkdownBlock("**bold**"),
    DiffBlock("a.py", "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-old\n+new\n", 1, 1),
    TerminalBlock("make", "done\n", 0),
    TodosBlock((TodoItem("1", "test it", TodoStatus.PENDING, TodoPriority.LOW),)),
    TableBlock(("name",), (("value",),)),
    SubagentsBlock((ChildLine("c", "explore", "look around"),)),
    ImageBlock("a.png", "image/png", 10, 10, 100),
)
KINDS: list[Entry] = [
    UserEntry("please", "m1"),
    ThinkingEntry("well"),
    NoteEntry(NoticeLevel.WARNING, "beware"),
    *reply_entries("short"),
    *reply_entries(
        "".join(f"## head {n}\n\n- item [{n}][ref]\n\ntext\n\n" for n in range(200)) + "[ref]: x.html"
    ),
    *(CallEntry("tool", "sum", ToolKind.OTHER, CallState.OK, block, call_id="c") for block in BLOCKS),
]


def test_packed_entries_are_drawn_the_same() -> None:
    strips = EntryStrips()
    strips.wrap_at(60)
    strips.set_view(View(is_open=True))
    given = [KINDS[number % len(KINDS)] for number in range(UNPACKED + 2 * PAGE + len(KINDS))]
    for entry in given:
        strips.add(entry)
    assert strips.entries.room > 0

    assert list(strips.entries) == given
    for index in range(len(KINDS)):
        rows = KINDS[index].draw(60, PALETTE, strips.view_of(index))
        assert strips.rows(index, PALETTE)[strips.gap(index) :] == rows


def test_a_call_that_ends_after_it_was_packed_is_updated() -> None:
    strips = EntryStrips()
    for number in range(UNPACKED + PAGE + 1):
        strips.add(UserEntry(f"message {number}"))
    strips.replace(3, UserEntry("another"))
    assert [strips.entries[index].source for index in (2, 3, 4)] == ["message 2", "another", "message 4"]
