"""Calls written for other programs mean the same here."""

from typing import Any

import pytest

from coder_tui.tools.aliases import TOOL_ALIASES, TOOL_PARAMETER_ALIASES, canonical_arguments
from coder_tui.tools.base import JsonObject, Params
from coder_tui.tools.builtin.fetch_request import FetchParams
from coder_tui.tools.builtin.todo import TodoWriteParams
from tests.tools.calling import Bench

ELSEWHERE: dict[str, type[Params]] = {"fetch": FetchParams, "todowrite": TodoWriteParams}
"""Parameters of tools that the bench does not have."""


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(tmp_path_factory.mktemp("aliases") / "ws")


def understood(bench: Bench, name: str, arguments: JsonObject) -> JsonObject:
    """Return the fields that the call sets, after everything was renamed and checked."""
    tool = TOOL_ALIASES.get(name, name)
    model = params_of(bench, tool)
    params = model.model_validate(canonical_arguments(arguments, frozenset(model.model_fields), tool))
    return dict(params.model_dump(exclude_unset=True))


def params_of(bench: Bench, tool: str) -> type[Params]:
    return ELSEWHERE.get(tool) or bench.tools[tool].params


@pytest.mark.parametrize(
    ("name", "arguments", "meant"),
    [
        ("read_file", {"absolute_path": "a", "offset": 3}, {"path": "a", "offset": 3}),
        ("read_file", {"filePath": "a"}, {"path": "a"}),
        (
            "partially_read_by_range",
            {"uri": "a", "start_line": 5, "end_line": 9},
            {"path": "a", "offset": 5, "limit": 5},
        ),
        ("partially_read_by_range", {"uri": "a", "end_line": 9}, {"path": "a", "limit": 9}),
        ("partially_read_around_keyword", {"uri": "a", "keyword": "k"}, {"path": "a", "keyword": "k"}),
        ("read_around", {"path": "a", "pattern": "k"}, {"path": "a", "keyword": "k"}),
        ("read_around", {"path": "a", "query": "k", "-C": 2}, {"path": "a", "keyword": "k", "context": 2}),
        ("read_many_files", {"include": ["a", "b"]}, {"paths": ["a", "b"]}),
        ("read_many_files", {"paths": "a"}, {"paths": ["a"]}),
        ("ls", {"dir_path": "a"}, {"path": "a"}),
        ("list_directory", {"directory": "a"}, {"path": "a"}),
        ("get_file_size", {"uri": "a"}, {"path": "a"}),
        ("search_file_name_includes", {"keyword": "conf"}, {"pattern": "*conf*"}),
        (
            "search_file_name_includes",
            {"keyword": "*.py", "directory": "d"},
            {"pattern": "*.py", "path": "d"},
        ),
        ("search_file_contains_keyword", {"keyword": "k"}, {"pattern": "k"}),
        ("search_file_content", {"pattern": "k", "include": "*.py"}, {"pattern": "k", "glob": "*.py"}),
        ("ripgrep", {"regex": "k", "-i": True}, {"pattern": "k", "ignore_case": True}),
        ("write_file", {"file_path": "a", "content": "c"}, {"path": "a", "content": "c"}),
        ("edit_file_full_replace", {"uri": "a", "file_text": "c"}, {"path": "a", "content": "c"}),
        (
            "edit_file_search_replace",
            {"uri": "a", "old_str": "x", "new_str": "y"},
            {"path": "a", "old_string": "x", "new_string": "y"},
        ),
        (
            "edit_file_search_replace",
            {"uri": "a", "search": "x", "replace": "y"},
            {"path": "a", "old_string": "x", "new_string": "y"},
        ),
        (
            "replace",
            {
                "file_path": "a",
                "instruction": "why",
                "old_string": "x",
                "new_string": "y",
                "expected_replacements": 1,
            },
            {"path": "a", "old_string": "x", "new_string": "y"},
        ),
        ("run_shell_command", {"cmd": "ls"}, {"command": "ls"}),
        (
            "run_shell_command",
            {"command": "ls", "is_background": True},
            {"command": "ls", "background": True},
        ),
        ("shell", {"command": ["bash", "-lc", "ls | wc"]}, {"command": "ls | wc"}),
        ("shell", {"command": ["echo", "a b"]}, {"command": "echo 'a b'"}),
        ("shell", {"command": "ls", "timeout": 60}, {"command": "ls", "timeout_ms": 60_000}),
        ("shell", {"command": "ls", "timeout": 60_000}, {"command": "ls", "timeout_ms": 60_000}),
        ("web_fetch", {"prompt": "Sum up https://a.example/b."}, {"url": "https://a.example/b"}),
        (
            "write_todos",
            {"todos": [{"description": "a", "status": "pending"}]},
            {"todos": [{"id": "1", "content": "a", "status": "pending", "priority": "medium"}]},
        ),
        (
            "todowrite",
            {"todos": [{"content": "a", "status": "completed", "activeForm": "doing a"}]},
            {"todos": [{"id": "1", "content": "a", "status": "completed", "priority": "medium"}]},
        ),
    ],
)
def test_a_call_in_other_words_is_understood(
    bench: Bench, name: str, arguments: dict[str, Any], meant: dict[str, Any]
) -> None:
    assert understood(bench, name, arguments) == meant


@pytest.mark.parametrize(
    "arguments",
    [
        {"path": "a", "start_line": 9, "end_line": 5},
        {"path": "a", "end_line": 5, "limit": 2},
        {"path": "a", "offset": -3, "end_line": 5},
    ],
)
def test_a_range_that_means_nothing_is_left_to_be_refused(arguments: dict[str, Any]) -> None:
    assert "end_line" in canonical_arguments(arguments, frozenset({"path", "offset", "limit"}), "read")


def test_aliases_lead_to_fields_that_the_tools_have(bench: Bench) -> None:
    wrong = [
        (name, target)
        for name, aliases in TOOL_PARAMETER_ALIASES.items()
        for target in aliases.values()
        if name in bench.tools and target not in bench.tools[name].params.model_fields
    ]
    assert wrong == []


def test_no_alias_hides_a_field(bench: Bench) -> None:
    hidden = [
        (name, alias)
        for name, aliases in TOOL_PARAMETER_ALIASES.items()
        for alias in aliases
        if name in bench.tools and alias in bench.tools[name].params.model_fields
    ]
    assert hidden == []


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("edit", {"path": "a", "expected_replacements": 2}),
        ("bash", {"command": ["echo", 7]}),
        ("bash", {"command": "ls", "timeout": True}),
        ("bash", {"command": "ls", "directory": "d"}),
        ("fetch", {"prompt": "https://a.example and https://b.example"}),
        ("todowrite", {"todos": [{"content": "a", "status": "pending"}]}),
    ],
    ids=["several places", "no words", "no number", "elsewhere", "two addresses", "our own shape"],
)
def test_what_could_mean_several_things_is_left_to_be_refused(
    bench: Bench, tool: str, given: dict[str, Any]
) -> None:
    fields = frozenset(params_of(bench, tool).model_fields)
    assert canonical_arguments(given, fields, tool) == given
