"""What the reading git tools share: the place they declare, and the shape of their answer."""

from pathlib import Path

from coder_tui.protocol.access import Target, TargetKind
from coder_tui.protocol.display import DisplayBlock, TextBlock
from coder_tui.shell.process import Completed
from coder_tui.tools.base import Access, JsonObject, ToolResult
from coder_tui.workspace.confine import Located, Workspace
from coder_tui.workspace.git import Opened
from coder_tui.workspace.git_settings import programs_of_repository

NO_FILTERS = "The repository's own filters were not run: files that they convert may show as changed."
MOST_NOTED = 20


def locate_unfollowed(workspace: Workspace, path: str) -> Located:
    """As git sees a path: the folders of the way resolved, a link at its end not followed."""
    whole = workspace.locate(path)
    name = Path(path).name
    if name in ("", "..", "~"):
        return whole
    parent = workspace.locate(str(Path(path).parent))
    spelled = parent.path / name
    if spelled == whole.path:
        return whole
    is_root = parent.path == workspace.root
    return Located(
        spelled, name if is_root else f"{parent.shown}/{name}", parent.is_inside, parent.escapes_by_link
    )


def declare_place(path: Path) -> Access:
    return Access((Target(TargetKind.PATH, str(path)),))


def content_result(
    content: str,
    done: Completed,
    opened: Opened,
    *,
    block: DisplayBlock | None = None,
    notes: tuple[str, ...] = (),
) -> ToolResult:
    fields: JsonObject = {"ok": True, "content": content}
    if done.truncated:
        fields["truncated"] = True
    if programs_of_repository(opened.entries):
        notes = (*notes, NO_FILTERS)
    if notes:
        fields["note"] = " ".join(notes)
    shown = "\n".join(part for part in (content.rstrip("\n"), *notes) if part)
    return ToolResult(fields, block or TextBlock(shown))


def named(paths: tuple[str, ...]) -> str:
    """A few names, and how many more there are."""
    more = f" and {len(paths) - MOST_NOTED} more" if len(paths) > MOST_NOTED else ""
    return ", ".join(paths[:MOST_NOTED]) + more
