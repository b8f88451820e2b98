"""Arguments of a foreign call as a list."""

import json

import pytest

from coder_tui.ui.requests.details import Detail, Weight
from coder_tui.ui.requests.preview import arguments


def field(name: str, text: str) -> Detail:
    return Detail(name, text, weight=Weight.FIELD)


def test_flat_values_are_read_as_they_are_and_nested_ones_as_json() -> None:
    text = json.dumps(
        {
            "title": "Cart is empty",
            "body": "one\ntwo\x1b[2J",
            "draft": False,
            "count": 3,
            "empty": "",
            "labels": ["bug", "cart"],
            "options": {"due": {"year": 2027}, "none": {}},
            "list": [{"a": 1}, []],
        }
    )
    assert arguments(text) == (
        field("title", "Cart is empty"),
        field("body", "one\ntwo␛[2J"),
        field("draft", "false"),
        field("count", "3"),
        field("empty", '""'),
        field("labels", '["bug", "cart"]'),
        field("options", '{\n  "due": {\n    "year": 2027\n  },\n  "none": {}\n}'),
        field("list", '[\n  {\n    "a": 1\n  },\n  []\n]'),
    )


def test_a_repeated_name_is_shown_twice() -> None:
    assert arguments('{"path": "a", "pa\\u202eth": "b", "path": "c"}') == (
        field("path", "a"),
        field("pa<U+202E>th", "b"),
        field("path", "c"),
    )


@pytest.mark.parametrize("text", ["", "words", "[1]", "{}", '"x"', "{'a': 1}", '{"a": ' * 5000, "null"])
def test_other_text_is_left_as_it_is(text: str) -> None:
    assert arguments(text) is None


def test_a_deep_value_falls_back_to_the_text() -> None:
    deep = '{"a": ' + "[" * 900 + "]" * 900 + "}"
    found = arguments(deep)
    assert found is None or len(found) == 1
