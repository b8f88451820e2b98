"""One row with the state of the session; the least important parts go first in a narrow terminal.

The branch is read from git's own files: no process is started, so nothing of the repository runs.
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TypedDict, Unpack

from rich.cells import cell_len
from textual.content import Content
from textual.widget import Widget

from coder_tui.protocol.access import Mode
from coder_tui.text.safe_text import safe_line
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.keymap import named
from coder_tui.ui.keys import Context

AMBER_FROM, RED_FROM = 70, 90
_BAR_CELLS = 5


class Activity(StrEnum):
    STARTING = "starting"
    IDLE = "idle"
    WORKING = "working"
    CHECKING = "checking"
    WAITING = "waiting for you"


@dataclass(frozen=True, slots=True)
class Status:
    """Everything the bar shows; its texts are untrusted."""

    mode: Mode = Mode.ASK
    profile: str = ""
    model: str = ""
    context_tokens: int = 0
    context_window: int | None = None
    tokens: int = 0
    cost: float | None = None
    directory: Path | None = None
    branch: str = ""
    activity: Activity = Activity.STARTING
    todos: str = ""
    files: str = ""
    problems: str = ""
    jobs: int = 0
    """Commands that run in the background."""
    is_confined: bool = True
    """Whether commands run in a sandbox."""

    @property
    def context_percent(self) -> int | None:
        if not self.context_window:
            return None
        return round(100 * self.context_tokens / self.context_window)


class StatusChanges(TypedDict, total=False):
    """Fields of `Status` that change while a session runs."""

    mode: Mode
    profile: str
    model: str
    context_tokens: int
    context_window: int | None
    tokens: int
    cost: float | None
    directory: Path | None
    branch: str
    activity: Activity
    todos: str
    files: str
    problems: str
    jobs: int
    is_confined: bool


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of the bar; those with the lowest rank go first, rank None always stays."""

    text: str
    style: str
    rank: int | None
    gap: int = 2
    is_hint: bool = False


_MODE_STYLE = {
    Mode.ASK: "bold $background on $primary",
    Mode.EDITS: "bold $background on $warning",
    Mode.AUTO: "bold $background on $error",
    Mode.PLAN: "bold $background on $success",
}
_HINT = Segment("^P commands  F1 help", "$text-dim", 3, is_hint=True)


def short_count(tokens: int) -> str:
    if tokens < 1000:
        return str(tokens)
    return f"{tokens / 1000:.0f}k" if tokens < 1_000_000 else f"{tokens / 1_000_000:.1f}M"


def short_path(path: Path) -> str:
    home = Path.home()
    return f"~/{path.relative_to(home)}".removesuffix("/.") if path.is_relative_to(home) else str(path)


def _other_profile(name: str) -> str:
    """Name the agent, unless the mode says which one it is."""
    return "" if name in ("build", "plan") else safe_line(name)


def segments(status: Status, chrome: Chrome) -> list[Segment]:
    """Return all parts in order, safe to show."""
    provider, slash, model = safe_line(status.model).rpartition("/")
    cost = "" if status.cost is None else f"${status.cost:.2f}"
    branch = f"{chrome.branch}{safe_line(status.branch)}" if status.branch else ""
    directory = "" if status.directory is None else safe_line(short_path(status.directory))
    row = [
        Segment(f" {status.mode.upper()} ", _MODE_STYLE[status.mode], None, 1),
        Segment(_other_profile(status.profile), "bold $text-accent", 10),
        Segment(provider + slash, "$text-dim", 1, 0),
        Segment(model, "$foreground", 9),
        *_context(status, chrome),
        Segment(f"{short_count(status.tokens)} tok" if status.tokens else "", "$text-dim", 3),
        Segment(cost, "$foreground", 4),
        Segment(directory, "$text-dim", 2),
        Segment(branch, "$foreground", 5),
        Segment(f"todo {status.todos}" if status.todos else "", "$text-accent", 7),
        Segment(f"changes {status.files}" if status.files else "", "$text-dim", 2),
        Segment(f"problems {status.problems}" if status.problems else "", "bold $text-warning", 8),
        Segment(f"jobs {status.jobs}" if status.jobs else "", "$text-accent", 6),
        Segment("" if status.is_confined else "no sandbox", "$text-warning", 6),
        *_activity(status.activity, chrome),
    ]
    return [segment for segment in row if segment.text]


def _context(status: Status, chrome: Chrome) -> tuple[Segment, ...]:
    percent = status.context_percent
    if percent is None:
        return (Segment(f"ctx {short_count(status.context_tokens)}", "$foreground", None),)
    style = "$foreground"
    if percent >= AMBER_FROM:
        style = "bold $text-error" if percent >= RED_FROM else "bold $text-warning"
    filled = min(_BAR_CELLS, round(percent * _BAR_CELLS / 100))
    bar = f"ctx {chrome.full * filled}{chrome.empty * (_BAR_CELLS - filled)} "
    return Segment(bar, style, 1, 0), Segment(f"{percent}%", style, None)


def _activity(activity: Activity, chrome: Chrome) -> tuple[Segment, ...]:
    match activity:
        case Activity.STARTING:
            return (Segment("starting", "$text-dim", 8),)
        case Activity.IDLE:
            return ()
        case Activity.WORKING | Activity.CHECKING:
            word = Segment(f"{chrome.running} {activity}", "$text-primary", 8, 0)
            return word, Segment(", Esc to stop", "$text-primary", 4, is_hint=True)
        case Activity.WAITING:
            word = Segment(f"{chrome.waiting} waiting for you", "bold $text-warning", 8, 0)
            return word, Segment(", F8 to answer", "bold $text-warning", 4, is_hint=True)


def fit(row: list[Segment], width: int) -> list[Segment]:
    """Drop the least important segments until the row fits."""
    kept = list(row)
    while _width(kept) > width and (droppable := [item for item in kept if item.rank is not None]):
        kept.remove(min(droppable, key=lambda item: item.rank or 0))
    return kept


def _width(row: list[Segment]) -> int:
    return sum(cell_len(item.text) + item.gap for item in row) - (row[-1].gap if row else 0)


class StatusBar(Widget):
    """Draws the latest `Status` in one row."""

    DEFAULT_CSS = "StatusBar { height: 1; background: $panel; color: $foreground; }"

    def __init__(self, chrome: Chrome, directory: Path) -> None:
        super().__init__(id="status")
        self._chrome = chrome
        self.status = Status(directory=directory)

    def show(self, **changes: Unpack[StatusChanges]) -> None:
        """Change fields of the status; draws only if something differs."""
        changed = replace(self.status, **changes)
        if changed != self.status:
            self.status = changed
            self.refresh()

    def render(self) -> Content:
        width = self.size.width - 1
        last = self._named(_HINT)
        row = fit([*map(self._named, segments(self.status, self._chrome)), last], width)
        parts: list[tuple[str, str]] = []
        for item in row:
            if item is last:
                parts.append((" " * (width - _width(row)), ""))
            parts += [(item.text, item.style), (" " * item.gap, "")]
        return Content.assemble(*parts)

    def _named(self, item: Segment) -> Segment:
        if not item.is_hint:
            return item
        return replace(item, text=named(self, item.text, Context.GLOBAL, Context.SESSION))


_LONGEST_HEAD = 4096


def read_branch(directory: Path) -> str:
    """Return the branch, or a short commit id if none is checked out; empty outside a repository."""
    for folder in (directory, *directory.parents):
        if (git := _git_directory(folder / ".git")) is not None:
            return _named(_first_line(git / "HEAD"))
    return ""


def _git_directory(path: Path) -> Path | None:
    """Find git's directory; in a worktree or submodule a file says where it is."""
    if path.is_dir():
        return path
    line = _first_line(path)
    if not line.startswith("gitdir:"):
        return None
    return path.parent / line.removeprefix("gitdir:").strip()


def _first_line(path: Path) -> str:
    try:
        if not path.is_file():
            return ""
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.readline(_LONGEST_HEAD).strip()
    except OSError:
        return ""  # there is no branch to show


def _named(head: str) -> str:
    if head.startswith("ref:"):
        return head.removeprefix("ref:").strip().removeprefix("refs/heads/")
    return head[:7]
