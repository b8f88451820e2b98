"""The hooks of a project's `.claude/settings.json`: all that is used of it, and that trust is about."""

import json
from collections.abc import Iterator
from pathlib import Path

from coder_tui.config.inventory import ItemKind, ProjectItem
from coder_tui.config.project import ProjectFile, ProjectFileError, read_project_file

CLAUDE_SETTINGS = ".claude/settings.json"
_HOOKS = "hooks"
_LONGEST = 1_000


def hooks_file(workspace: Path, name: str = CLAUDE_SETTINGS) -> ProjectFile | None:
    """The file reduced to its hooks, so that a change elsewhere in it asks nobody; None without any."""
    file = read_project_file(workspace, name)
    if file is None or b'"hooks"' not in file.data:
        return None
    try:
        values = json.loads(file.data)
    except (ValueError, RecursionError) as error:
        raise ProjectFileError(f"is not valid JSON ({str(error)[:100]})") from error
    hooks = values.get(_HOOKS) if isinstance(values, dict) else None
    return ProjectFile(name, json.dumps(hooks, indent=1).encode()) if hooks else None


def hook_items(file: ProjectFile) -> Iterator[ProjectItem]:
    hooks = json.loads(file.data)
    for event, entry in (hooks if isinstance(hooks, dict) else {"": hooks}).items():
        shown = json.dumps(entry, ensure_ascii=False)
        cut = f"{shown[:_LONGEST]} … {shown[-200:]}" if len(shown) > _LONGEST else shown
        yield ProjectItem(ItemKind.HOOK, file.name, 0, f'runs on its own for "{event}": {cut}')
