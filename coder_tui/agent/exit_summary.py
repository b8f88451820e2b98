"""Summarize a session on exit: what it changed and cost, how its check ended, how to resume it."""

import asyncio
import shlex
from collections.abc import Sequence
from pathlib import Path

from coder_tui.diffs.unified import unified_diff
from coder_tui.text.safe_text import safe_line
from coder_tui.workspace.files.confine import relative_name
from coder_tui.workspace.undo.changed_files import ChangedFile

MOST_FILES = 8
PATIENCE = 2.0
"""Seconds that the user waits for lines to be counted."""


async def exit_summary(
    title: str, files: Sequence[ChangedFile], folder: Path, check: str, cost: float | None, resume: str
) -> str:
    """Return safe lines for the normal screen."""
    lines = [safe_line(title), *await _changes(files, folder)]
    if check:
        lines.append(safe_line(check))
    if cost is not None:
        lines.append(f"${cost:.2f}")
    way = f"coder-tui --resume {resume}" if _is_here(folder) else resume_command(resume, folder)
    return "\n".join([*lines, way])


def resume_command(session_id: str, folder: Path, *, is_for_one_prompt: bool = False) -> str:
    """Return the command that resumes a session from any folder."""
    place = shlex.quote(str(folder))
    run = f"coder-tui run --resume {session_id} --directory {place}"
    return safe_line(run if is_for_one_prompt else f"coder-tui --resume {session_id} {place}")


def _is_here(folder: Path) -> bool:
    try:
        return Path.cwd() == folder
    except OSError:  # the folder that the program was started in is gone
        return False


async def _changes(files: Sequence[ChangedFile], folder: Path) -> list[str]:
    if not files:
        return []
    count = "1 file changed" if len(files) == 1 else f"{len(files)} files changed"
    try:
        async with asyncio.timeout(PATIENCE):
            counts = [await asyncio.to_thread(_lines, file) for file in files]
    except TimeoutError:
        return [count]
    added, removed = (sum(column) for column in zip(*counts, strict=True))
    rows = [
        f"  {_letter(file)} {safe_line(relative_name(file.path, folder))}  +{plus} -{minus}"
        for file, (plus, minus) in zip(files, counts, strict=True)
    ]
    rest = [f"  and {len(rows) - MOST_FILES} more"] if len(rows) > MOST_FILES else []
    return [f"{count}  +{added} -{removed}", *rows[:MOST_FILES], *rest]


def _lines(file: ChangedFile) -> tuple[int, int]:
    if file.is_too_large:
        return 0, 0
    before, after = (
        None if data is None else data.decode("utf-8", "replace") for data in (file.before, file.after)
    )
    diff = unified_diff("", before, after)
    return diff.additions, diff.deletions


def _letter(file: ChangedFile) -> str:
    if file.is_too_large:
        return "M"
    return "A" if file.before is None else "D" if file.after is None else "M"
