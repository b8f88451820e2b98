"""Printed text contains no secret, even if a secret was split between pieces."""

from typing import Any

import pytest

from coder_tui.cli.output import print_error, print_json, print_line
from coder_tui.headless import StreamPrinter
from coder_tui.protocol.display import TextBlock
from coder_tui.protocol.events import (
    ChildEvent,
    Event,
    MessageFinished,
    Notice,
    SubagentEvent,
    SubagentFinished,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolProgressed,
    TurnFinished,
)
from coder_tui.protocol.outcomes import NoticeLevel, Outcome, TurnOutcome
from coder_tui.protocol.subagents import ChildState
from coder_tui.text.redact import MASK, Redactor, process_redactor

KEY = "sk-ant-abcdefgh0123456789"


def printed(*events: Event) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = []
    printer = StreamPrinter(lines.append, Redactor({}))
    for event in events:
        printer.event(event)
    return lines


def test_pieces_come_as_lines_in_which_no_key_is_split() -> None:
    text = f"first\nkey {KEY} end"
    pieces = [TextDelta("m", text[start : start + 5]) for start in range(0, len(text), 5)]
    lines = printed(*pieces, MessageFinished("m", "whole", ""))
    assert lines[:-1] == [
        {"type": "text_delta", "message_id": "m", "text": "first\n"},
        {"type": "text_delta", "message_id": "m", "text": f"key {MASK} end"},
    ]


def test_each_text_ends_with_what_it_belongs_to() -> None:
    lines = printed(
        ThinkingDelta("m", "hm"),
        TextDelta("m", "so"),
        ToolProgressed("c", "half"),
        Notice(NoticeLevel.INFO, "between"),
        MessageFinished("m", "so", "hm"),
        ToolFinished("c", "bash", Outcome.OK, "x", TextBlock(""), 1),
    )
    assert [line["type"] for line in lines] == [
        "notice",
        "thinking_delta",
        "text_delta",
        "message_finished",
        "tool_progressed",
        "tool_finished",
    ]


def test_the_text_of_a_failed_turn_is_not_lost() -> None:
    lines = printed(TextDelta("m", "half a line"), TurnFinished(1, TurnOutcome.INTERRUPTED, "", 5))
    assert [line.get("text") for line in lines] == ["half a line", None]


def of_child(child_id: str, *events: ChildEvent) -> list[SubagentEvent]:
    return [SubagentEvent("c", child_id, f"agent {child_id}", event) for event in events]


def test_events_of_sub_agents_are_wrapped_and_named_and_their_texts_joined() -> None:
    first, second = f"key {KEY[:9]}", KEY[9:]
    lines = printed(
        *of_child("1", TextDelta("m", first)),
        *of_child("2", TextDelta("m", "other words")),
        *of_child("1", TextDelta("m", second), MessageFinished("m", "whole", "")),
        *of_child("2", SubagentFinished(ChildState.STOPPED, "stopped", 5)),
    )
    around = {"type": "subagent_event", "parent_call_id": "c"}
    one, two = {"child_id": "1", "agent": "agent 1"}, {"child_id": "2", "agent": "agent 2"}
    assert [line for line in lines if line["event"]["type"] != "message_finished"] == [
        {**around, **one, "event": {"type": "text_delta", "message_id": "m", "text": f"key {MASK}"}},
        {**around, **two, "event": {"type": "text_delta", "message_id": "m", "text": "other words"}},
        {
            **around,
            **two,
            "event": {
                "type": "subagent_finished",
                "state": "stopped",
                "summary": "stopped",
                "duration_ms": 5,
            },
        },
    ]


def test_every_way_to_print_hides_secrets(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "no shape 12")
    process_redactor.cache_clear()
    print_line(f"said {KEY} no shape 12")
    print_error(f"printed {KEY} no shape 12")
    print_json({"a": [f"{KEY} no shape 12"], "password": "x"})
    process_redactor.cache_clear()
    out, err = capsys.readouterr()
    assert out == f'said {MASK} {MASK}\n{{"a": ["{MASK} {MASK}"], "password": "{MASK}"}}\n'
    assert err == f"printed {MASK} {MASK}\n"
