"""Two versions of a file become a comparison."""

from collections.abc import Iterator, Sequence

from coder_tui.diffs.line_match import Run, matching_runs
from coder_tui.diffs.lines import split_lines
from coder_tui.diffs.model import Change, Comparison, FileState, Same, Section, grouped


def compare(old: str | None, new: str | None, path: str = "", old_path: str = "") -> Comparison:
    """None stands for no file; `old_path` is given where it differs."""
    old_lines, new_lines = split_lines(old or ""), split_lines(new or "")
    sections = tuple(_sections(old_lines, new_lines))
    return Comparison(path, sections, grouped(sections, path), _state(old, new, path, old_path), old_path)


def _state(old: str | None, new: str | None, path: str, old_path: str) -> FileState:
    if old is None or new is None:
        return FileState.CREATED if old is None else FileState.DELETED
    return FileState.RENAMED if old_path and old_path != path else FileState.CHANGED


def _sections(old: Sequence[str], new: Sequence[str]) -> Iterator[Section]:
    old_at = new_at = 0
    for run in [*matching_runs(old, new), Run(len(old), len(new), 0)]:
        if run.old > old_at or run.new > new_at:
            yield Change(old_at, new_at, tuple(old[old_at : run.old]), tuple(new[new_at : run.new]))
        old_at, new_at = run.old + run.length, run.new + run.length
        if run.length:
            yield Same(run.old, run.new, tuple(old[run.old : old_at]))
