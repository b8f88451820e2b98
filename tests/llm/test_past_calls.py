"""A malformed call is sent back in a form that providers accept."""

import json

import pytest

from coder_tui.llm.chat_messages import past_arguments, past_name


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ('{"path":  "a"}', '{"path":  "a"}'),
        ("", "{}"),
        ("  ", "{}"),
        ('{"content": "one\ntwo"}', '{"content": "one\\ntwo"}'),
        ('{"text": "cut', '{"unreadable_arguments": "{\\"text\\": \\"cut"}'),
        ("[1]", '{"unreadable_arguments": "[1]"}'),
        ("[" * 100_000, json.dumps({"unreadable_arguments": "[" * 2_000})),
        ('{"a": NaN}', '{"unreadable_arguments": "{\\"a\\": NaN}"}'),
        ('{"a": 1e999}', '{"unreadable_arguments": "{\\"a\\": 1e999}"}'),
        ('{"a": 1.50}', '{"a": 1.50}'),
        ("9" * 5_000, json.dumps({"unreadable_arguments": "9" * 2_000})),
    ],
    ids=[
        "object",
        "none",
        "blank",
        "newline",
        "cut",
        "list",
        "deep",
        "no number",
        "endless",
        "fraction",
        "digits",
    ],
)
def test_arguments_are_always_an_object(text: str, sent: str) -> None:
    assert past_arguments(text) == sent


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("read", "read"),
        ("mcp__a__b-c", "mcp__a__b-c"),
        ("", "invalid"),
        ("functions.read", "invalid"),
        ("a" * 65, "invalid"),
        ("lese_\u00e4", "invalid"),
    ],
)
def test_a_name_that_providers_refuse_is_replaced(name: str, sent: str) -> None:
    assert past_name(name) == sent
