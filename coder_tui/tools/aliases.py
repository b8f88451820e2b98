"""Map tool and parameter names that models learned from other programs to ours.

Arguments whose meaning differs, not only their name, are converted if that is certain.
"""

import re
import shlex
from collections.abc import Mapping
from typing import Any

FIRST = ("start", "start_line", "startLine", "line_start", "from_line")
_LAST = ("end", "end_line", "endLine", "line_end", "to_line")
_NAME_PARTS = ("keyword", "query", "name", "includes")
_MAGIC = frozenset("*?[{/")
_SHELLS = frozenset({"sh", "bash", "/bin/sh", "/bin/bash", "/usr/bin/bash"})
_MOST_SECONDS = 600
_ADDRESS = re.compile(r"https?://[^\s<>\"'`)\]]+")
_OTHER_TODO = frozenset({"description", "activeForm"})

Arguments = Mapping[str, Any]


def reshaped(arguments: Arguments, tool: str) -> Arguments:
    match tool:
        case "read":
            return _range_as_page(arguments)
        case "glob":
            return _part_as_pattern(arguments)
        case "read_many" if isinstance(arguments.get("paths"), str):
            return {**arguments, "paths": [arguments["paths"]]}
        case "edit":
            return _without_talk(arguments)
        case "bash":
            return _in_milliseconds(_words_as_command(arguments))
        case "fetch" if "url" not in arguments:
            return _address_of(arguments)
        case "todowrite" if isinstance(arguments.get("todos"), list):
            todos = [_todo(todo, number) for number, todo in enumerate(arguments["todos"], start=1)]
            return {**arguments, "todos": todos}
        case _:
            return arguments


def _without(arguments: Arguments, *keys: str) -> dict[str, Any]:
    return {key: value for key, value in arguments.items() if key not in keys}


def _range_as_page(arguments: Arguments) -> Arguments:
    """Turn `start_line` and `end_line` into an offset and a number of lines."""
    first = next((arguments[key] for key in (*FIRST, "offset") if key in arguments), 1)
    ends = [key for key in _LAST if key in arguments]
    if "limit" in arguments or len(ends) != 1:
        return arguments
    last = arguments[ends[0]]
    if not isinstance(first, int) or not isinstance(last, int) or not 0 < first <= last:
        return arguments
    return {**_without(arguments, ends[0]), "limit": last - first + 1}


def _part_as_pattern(arguments: Arguments) -> Arguments:
    """Turn a part of a name into a pattern that matches it anywhere."""
    key = next((key for key in _NAME_PARTS if isinstance(arguments.get(key), str)), None)
    if key is None or "pattern" in arguments:
        return arguments
    part = arguments[key]
    pattern = part if not _MAGIC.isdisjoint(part) else f"*{part}*"
    return {**_without(arguments, key), "pattern": pattern}


def _without_talk(arguments: Arguments) -> Arguments:
    """Drop the purpose of an edit, and an expected count of one, which is the default."""
    kept = _without(arguments, "instruction")
    return _without(kept, "expected_replacements") if kept.get("expected_replacements") == 1 else kept


def _words_as_command(arguments: Arguments) -> Arguments:
    """Join a command given as a list of words, often a shell with its script."""
    match arguments.get("command"):
        case [str(shell), "-c" | "-lc", str(text)] if shell in _SHELLS:
            return {**arguments, "command": text}
        case [str(), *_] as words if all(isinstance(word, str) for word in words):
            return {**arguments, "command": shlex.join(words)}
        case _:
            return arguments


def _in_milliseconds(arguments: Arguments) -> Arguments:
    """Treat small values as seconds: nobody means less than a second, and more is not allowed."""
    given = arguments.get("timeout")
    if isinstance(given, bool) or not isinstance(given, int) or given <= 0 or "timeout_ms" in arguments:
        return arguments
    return {**_without(arguments, "timeout"), "timeout_ms": given * 1000 if given <= _MOST_SECONDS else given}


def _address_of(arguments: Arguments) -> Arguments:
    """Take the address from a prompt that contains exactly one."""
    prompt = arguments.get("prompt")
    found = set(_ADDRESS.findall(prompt)) if isinstance(prompt, str) else set()
    return (
        {**_without(arguments, "prompt"), "url": found.pop().rstrip(".,;:!?")}
        if len(found) == 1
        else arguments
    )


def _todo(todo: object, number: int) -> object:
    """Add the id and priority that todo lists of other programs lack."""
    if not isinstance(todo, dict) or _OTHER_TODO.isdisjoint(todo):
        return todo
    content = {"content": todo["description"]} if "description" in todo and "content" not in todo else {}
    return {"id": str(number), "priority": "medium", **_without(todo, *_OTHER_TODO), **content}


TOOL_ALIASES: Mapping[str, str] = {
    **dict.fromkeys(("read_file", "partially_read_by_range"), "read"),
    "partially_read_around_keyword": "read_around",
    "read_many_files": "read_many",
    **dict.fromkeys(("ls", "list_directory"), "list"),
    "get_file_size": "file_info",
    "search_file_name_includes": "glob",
    **dict.fromkeys(("search_file_contains_keyword", "ripgrep", "search_file_content"), "grep"),
    **dict.fromkeys(("write_file", "edit_file_full_replace"), "write"),
    **dict.fromkeys(("replace", "edit_file_search_replace", "search_replace"), "edit"),
    **dict.fromkeys(("shell_exec", "run_shell_command", "shell"), "bash"),
    **dict.fromkeys(("webfetch", "web_fetch"), "fetch"),
    **dict.fromkeys(("web_search", "google_web_search"), "websearch"),
    "get_warning_error": "lsp_diagnostics",
    "project_outline": "outline",
    "self_fork": "fork",
    "get_available_models": "models",
    "get_env_var": "env_var",
    "save_memory": "memory",
    "write_todos": "todowrite",
}

PARAMETER_ALIASES: Mapping[str, str] = {
    **dict.fromkeys(
        (
            "uri",
            "file_path",
            "filePath",
            "filepath",
            "filename",
            "file",
            "absolute_path",
            "dir_path",
            "directory",
        ),
        "path",
    ),
    **dict.fromkeys(("old_str", "oldString"), "old_string"),
    **dict.fromkeys(("new_str", "newString"), "new_string"),
    "replaceAll": "replace_all",
    "cmd": "command",
    **dict.fromkeys(("file_text", "contents", "text"), "content"),
}
"""Aliases that mean the same in every tool that has such a field."""

_PATHS = dict.fromkeys(("files", "uris", "file_paths", "filePaths", "patterns", "globs", "include"), "paths")
_FOLDER = dict.fromkeys(("folder", "dir", "cwd"), "path")

TOOL_PARAMETER_ALIASES: Mapping[str, Mapping[str, str]] = {
    "read": {**dict.fromkeys(FIRST, "offset"), "num_lines": "limit", "max_lines": "limit", "lines": "limit"},
    "read_many": {**_PATHS, "lines": "limit", "max_lines": "limit"},
    "read_around": {
        **dict.fromkeys(("query", "pattern", "search", "needle", "text"), "keyword"),
        **dict.fromkeys(("context_lines", "lines", "around", "radius", "-C"), "context"),
        **dict.fromkeys(("max_matches", "max_results", "limit"), "max_hits"),
    },
    "list": _FOLDER,
    "outline": {**_FOLDER, "max_depth": "depth", "maxDepth": "depth"},
    "mkdir": _FOLDER,
    "glob": {**_FOLDER, "glob": "pattern", "glob_pattern": "pattern", "include": "pattern"},
    "grep": {
        **_FOLDER,
        **dict.fromkeys(("regex", "query", "keyword", "search"), "pattern"),
        **dict.fromkeys(("include", "include_pattern", "file_pattern", "glob_pattern"), "glob"),
        **dict.fromkeys(("max_results", "head_limit", "limit"), "max_matches"),
        **dict.fromkeys(("context_lines", "-C"), "context"),
        **dict.fromkeys(("-i", "case_insensitive", "ignoreCase"), "ignore_case"),
    },
    "edit": {
        **dict.fromkeys(("search", "search_string", "old_text", "find"), "old_string"),
        **dict.fromkeys(("replace", "replacement", "new_text", "replace_string"), "new_string"),
    },
    "bash": dict.fromkeys(("run_in_background", "is_background"), "background"),
    "fetch": {
        **dict.fromkeys(("uri", "link", "href"), "url"),
        **dict.fromkeys(("data", "content"), "body"),
        "timeout": "timeout_sec",
    },
    "websearch": {
        **dict.fromkeys(("pattern", "keyword", "keywords"), "query"),
        **dict.fromkeys(("numResults", "num_results", "limit", "count"), "max_results"),
    },
}
"""Aliases that mean different things in different tools; they take precedence."""


def canonical_name(name: str, known: frozenset[str]) -> str:
    """Return the name under which a call is recorded; unknown names are returned as they are."""
    if name in known:
        return name
    folded = name.strip().lower()
    return TOOL_ALIASES.get(folded, folded if folded in known else name)


def canonical_arguments(
    arguments: Mapping[str, Any], fields: frozenset[str], tool: str = ""
) -> dict[str, Any]:
    """Rename aliased keys if the tool has the canonical field and the call does not use it."""
    aliases = {**PARAMETER_ALIASES, **TOOL_PARAMETER_ALIASES.get(tool, {})}
    renamed: dict[str, Any] = {}
    for key, value in reshaped(arguments, tool).items():
        target = aliases.get(key, key)
        is_free = key not in fields and target in fields and target not in arguments and target not in renamed
        renamed[target if is_free else key] = value
    return renamed
