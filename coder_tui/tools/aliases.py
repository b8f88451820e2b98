"""Names that models learned from other programs, and what they are called here."""

from collections.abc import Mapping
from typing import Any

TOOL_ALIASES: Mapping[str, str] = {
    "read_file": "read",
    "partially_read_by_range": "read",
    "partially_read_around_keyword": "read_around",
    "read_many_files": "read_many",
    "ls": "list",
    "list_directory": "list",
    "get_file_size": "file_info",
    "search_file_name_includes": "glob",
    "search_file_contains_keyword": "grep",
    "ripgrep": "grep",
    "search_file_content": "grep",
    "write_file": "write",
    "edit_file_full_replace": "write",
    "replace": "edit",
    "edit_file_search_replace": "edit",
    "search_replace": "edit",
    "shell_exec": "bash",
    "run_shell_command": "bash",
    "shell": "bash",
    "webfetch": "fetch",
    "web_fetch": "fetch",
    "web_search": "websearch",
    "google_web_search": "websearch",
    "get_warning_error": "lsp_diagnostics",
    "project_outline": "outline",
    "self_fork": "fork",
    "get_available_models": "models",
    "get_env_var": "env_var",
    "save_memory": "memory",
    "write_todos": "todowrite",
}

PARAMETER_ALIASES: Mapping[str, str] = {
    "uri": "path",
    "file_path": "path",
    "filepath": "path",
    "filename": "path",
    "file": "path",
    "absolute_path": "path",
    "dir_path": "path",
    "directory": "path",
    "old_str": "old_string",
    "oldString": "old_string",
    "new_str": "new_string",
    "newString": "new_string",
    "replaceAll": "replace_all",
    "cmd": "command",
    "regex": "pattern",
    "query": "pattern",
    "keyword": "pattern",
    "include": "glob",
    "file_text": "content",
    "contents": "content",
    "text": "content",
}


def canonical_name(name: str, known: frozenset[str]) -> str:
    """The name a call is recorded under; unknown names come back as they are."""
    if name in known:
        return name
    folded = name.strip().lower()
    return TOOL_ALIASES.get(folded, folded if folded in known else name)


def canonical_arguments(arguments: Mapping[str, Any], fields: frozenset[str]) -> dict[str, Any]:
    """Rename aliased keys where the tool has the canonical field and the call does not use it already."""
    renamed: dict[str, Any] = {}
    for key, value in arguments.items():
        target = PARAMETER_ALIASES.get(key, key)
        is_free = key not in fields and target in fields and target not in arguments and target not in renamed
        renamed[target if is_free else key] = value
    return renamed
