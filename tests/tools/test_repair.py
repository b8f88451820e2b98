import pytest

from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.arguments import parse_arguments


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"path": "a"}', {"path": "a"}),
        ("", {}),
        ("  \n", {}),
        ('```json\n{"path": "a"}\n```', {"path": "a"}),
        ('{"paths": ["a", "b",],}', {"paths": ["a", "b"]}),
        ('"{\\"path\\": \\"a\\"}"', {"path": "a"}),
        ('{"content": "one\ntwo"}', {"content": "one\ntwo"}),
        ('{"content": "keeps ,} inside",}', {"content": "keeps ,} inside"}),
    ],
)
def test_what_is_certain_is_repaired(text: str, expected: dict[str, object]) -> None:
    assert parse_arguments(text) == expected


@pytest.mark.parametrize(
    "text",
    ['{"path": "a', "[1]", "null", "7", '{"a": 1} {"b": 2}', "[" * 10_000, "{'a': 1}", "9" * 5_000],
    ids=["cut", "list", "null", "number", "two", "deep", "quotes", "digits"],
)
def test_ambiguous_arguments_are_refused(text: str) -> None:
    with pytest.raises(ToolError, match=r"^invalid args: not valid JSON") as caught:
        parse_arguments(text)
    assert caught.value.type is ErrorType.INVALID_TOOL_PARAMS
