"""Which files hold instructions for whoever works in a folder, and whether a project's may be read."""

import os
from collections.abc import Iterator
from pathlib import Path

INSTRUCTIONS = ("AGENTS.override.md", "AGENTS.md", "CLAUDE.md", "GEMINI.md")
"""The first that a folder has is read."""
ANY_CONTENT = "any content"
"""Stands where trust has a hash: the text permits nothing, and people edit it all the time."""


def instruction_file(folder: Path) -> Path | None:
    return next((path for name in INSTRUCTIONS if _is_file(path := folder / name)), None)


def _is_file(path: Path) -> bool:
    """A link into a folder that one may not look into leads to none."""
    return os.access(path, os.F_OK) and path.is_file()


def project_folders(workspace: Path) -> tuple[Path, ...]:
    """From the repository's root down to the workspace; outside of a repository the workspace alone."""
    around = (workspace, *workspace.parents)
    for count, folder in enumerate(around):
        if (folder / ".git").exists():
            return tuple(reversed(around[: count + 1]))
    return (workspace,)


def instruction_names(workspace: Path) -> Iterator[str]:
    """What lies there now, outermost first, by names relative to the workspace."""
    folders = project_folders(workspace)
    for depth, folder in enumerate(folders):
        if (path := instruction_file(folder)) is not None:
            yield "../" * (len(folders) - 1 - depth) + path.name
