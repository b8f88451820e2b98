"""Calls written for other programs mean the same here."""

from typing import Any

import pytest

from coder_tui.tools.aliases import TOOL_ALIASES, TOOL_PARAMETER_ALIASES, canonical_arguments
from coder_tui.tools.base import JsonObject
from tests.tools.calling import Bench


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(tmp_path_factory.mktemp("aliases") / "ws")


def understood(bench: Bench, name: str, arguments: JsonObject) -> JsonObject:
    """The fields that the call sets, after everything was renamed and checked."""
    tool = bench.tools[TOOL_ALIASES.get(name, name)]
    fields = frozenset(tool.params.model_fields)
    params = tool.params.model_validate(canonical_arguments(arguments, fields, tool.name))
    return dict(params.model_dump(exclude_unset=True))


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
        ("run_shell_command", {"cmd": "ls"}, {"command": "ls"}),
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
