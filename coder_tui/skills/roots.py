"""The folders that skills are looked for in, weakest first."""

from dataclasses import dataclass
from pathlib import Path

from coder_tui.config.instructions import project_folders
from coder_tui.config.paths import Directories
from coder_tui.config.project import SKILL_FOLDERS
from coder_tui.resources import bundled
from coder_tui.skills.skill import SkillSource

_USERS = (".claude/skills", ".agents/skills")


@dataclass(frozen=True, slots=True)
class Root:
    """`project` is the folder whose trust the skills below rest on; None where they are the person's own."""

    folder: Path
    source: SkillSource
    project: Path | None = None


def skill_roots(
    workspace: Path, directories: Directories, paths: tuple[str, ...], home: Path
) -> tuple[Root, ...]:
    """Built-in, the person's, `skills.paths`, the project's: from its repository's root to the workspace."""
    users = (*(home / name for name in _USERS), directories.config / "skills")
    return (
        Root(bundled("skills"), SkillSource.BUILTIN),
        *(Root(folder, SkillSource.USER) for folder in users),
        *(Root(_expanded(path, home), SkillSource.PATHS) for path in paths),
        *(
            Root(project / name, SkillSource.PROJECT, project)
            for project in project_folders(workspace)
            for name in SKILL_FOLDERS
            if project / name not in users
        ),
    )


def _expanded(path: str, home: Path) -> Path:
    return home / path[2:] if path.startswith("~/") else Path(path)
