"""Names that models learned from other programs, and what they are called here."""

from collections.abc import Mapping
from typing import Any

from coder_tui.tools.reshape import FIRST, reshaped

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
    "filePath": "path",
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
    "file_text": "content",
    "contents": "content",
    "text": "content",
}
"""Those that mean the same wherever the tool has such a field."""

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
"""Those that mean different things in different tools; they go before the general ones."""


def canonical_name(name: str, known: frozenset[str]) -> str:
    """The name a call is recorded under; unknown names come back as they are."""
    if name in known:
        return name
    folded = name.strip().lower()
    return TOOL_ALIASES.get(folded, folded if folded in known else name)


def canonical_arguments(
    arguments: Mapping[str, Any], fields: frozenset[str], tool: str = ""
) -> dict[str, Any]:
    """Rename aliased keys where the tool has the canonical field and the call does not use it already."""
    aliases = {**PARAMETER_ALIASES, **TOOL_PARAMETER_ALIASES.get(tool, {})}
    renamed: dict[str, Any] = {}
    for key, value in reshaped(arguments, tool).items():
        target = aliases.get(key, key)
        is_free = key not in fields and target in fields and target not in arguments and target not in renamed
        renamed[target if is_free else key] = value
    return renamed
