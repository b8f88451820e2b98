"""The keys that a permission rule may have: tools, their groups, and the special ones."""

_GROUPS = ("*", "external_directory", "todo", "lsp")
_TOOLS = (
    "read read_many read_around list file_info glob grep outline "
    "write create_file mkdir edit patch apply_patch memory "
    "bash bash_output bash_kill git_status git_diff git_log git_add git_commit fetch websearch "
    "todoread todowrite question plan_exit skill task fork task_finish batch mcp_search "
    "lsp_diagnostics lsp_definition lsp_hover lsp_references lsp_symbols models system_info env_var"
)
CUSTOM = "custom_"
"""Before the name of a tool that people wrote themselves."""
FOREIGN = ("mcp__", "discovered_tool_", CUSTOM)

PERMISSION_KEYS: tuple[str, ...] = (*_GROUPS, *_TOOLS.split())


def is_permission_key(key: str) -> bool:
    """A tool of a server or of a discovering command is named by that, not by us."""
    return key in PERMISSION_KEYS or key.startswith(FOREIGN)
