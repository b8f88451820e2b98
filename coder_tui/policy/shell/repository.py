"""Whether a repository's own settings would make git run programs even when it only looks."""

import re
from pathlib import Path

MOST_BYTES = 200_000
# A filter runs for status and diff, textconv and an external command for diff and log, fsmonitor for all.
_DANGEROUS = re.compile(
    r"\[\s*(filter|include|includeif)\b"
    r"|\bfsmonitor\s*=(?!\s*(true|false)\s*$)"
    r"|\b(textconv|external|command|worktree)\s*="
    r"|\bworktreeconfig\s*=\s*true",
    re.IGNORECASE | re.MULTILINE,
)


def runs_programs(directory: str) -> bool:
    """Looks at the repository that holds `directory`; what cannot be read counts as dangerous."""
    for folder in (Path(directory), *Path(directory).parents):
        marker = folder / ".git"
        try:
            if marker.is_dir():
                return _names_program(marker / "config")
            if marker.exists():
                return _leads_inside(marker, folder)
        except (OSError, ValueError):
            return True
    return False


def _names_program(config: Path) -> bool:
    if not config.exists():
        return False
    with config.open("rb") as file:
        content = file.read(MOST_BYTES + 1)
    return len(content) > MOST_BYTES or _DANGEROUS.search(content.decode(errors="replace")) is not None


def _leads_inside(marker: Path, folder: Path) -> bool:
    """A working tree beside its repository is ordinary; one that brings its repository along is not."""
    with marker.open("rb") as file:
        content = file.read(MOST_BYTES).decode(errors="replace")
    target = Path(folder, content.removeprefix("gitdir:").strip()).resolve()
    return (
        target.is_relative_to(folder.resolve()) and ".git" not in target.relative_to(folder.resolve()).parts
    )
