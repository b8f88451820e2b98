"""Hunks of a preview that the person refused: left out of what is written, and told to the model."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from coder_tui.diffs.hunks import patch
from coder_tui.diffs.model import Change, Comparison, split_lines
from coder_tui.diffs.unified import parse_unified
from coder_tui.protocol.display import DiffBlock, DisplayBlock
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.base import JsonObject, ToolContext
from coder_tui.workspace.files.text import show


@dataclass(frozen=True, slots=True)
class RefusedIn:
    """One file of a preview and its refused hunks, by id."""

    comparison: Comparison
    hunks: tuple[str, ...]

    @property
    def is_whole(self) -> bool:
        """Whether no hunk of the file is left."""
        return len(self.hunks) == len(self.comparison.hunks)

    @property
    def changes(self) -> tuple[Change, ...]:
        sections = sorted(self.comparison.sections_of(self.hunks))
        found = (self.comparison.sections[index] for index in sections)
        return tuple(section for section in found if isinstance(section, Change))


def hunk_count(preview: DisplayBlock | None) -> int:
    """How many hunks a person sees; screens count them in the same way, for it is the same text."""
    return sum(len(file.hunks) for file in _files(preview))


def refused_by_file(preview: DisplayBlock | None, refused: Iterable[int]) -> tuple[RefusedIn, ...]:
    """Every file of the preview in order, with its refused hunks; they are counted through from 0."""
    wanted, found, count = frozenset(refused), [], 0
    for file in _files(preview):
        ids = tuple(hunk.id for number, hunk in enumerate(file.hunks, count) if number in wanted)
        found.append(RefusedIn(file, ids))
        count += len(file.hunks)
    if not wanted <= frozenset(range(count)):
        raise ToolError(
            ErrorType.INTERNAL, "A hunk was refused that is not in the preview; nothing was done."
        )
    return tuple(found)


def refused_in(ctx: ToolContext) -> tuple[RefusedIn, ...]:
    preview = ctx.access.preview if ctx.access is not None else None
    return refused_by_file(preview, ctx.refused_hunks)


def without_refused(before: str, after: str, refused: RefusedIn) -> str:
    """The new text with the refused hunks as they were; exact, also where the preview shows stand-ins."""
    old, new = split_lines(before), split_lines(after)
    for change in reversed(refused.changes):
        gone = old[change.old : change.old + len(change.deleted)]
        come = new[change.new : change.new + len(change.added)]
        if (_shown(gone), _shown(come)) != (change.deleted, change.added):
            raise ToolError(ErrorType.STALE_FILE, "The file is not as it was shown; nothing was written.")
        new[change.new : change.new + len(change.added)] = gone
    return "".join(new)


def told(preview: DisplayBlock | None, refused: tuple[int, ...]) -> JsonObject:
    """What the model must know: what it proposed is not what was written."""
    count = hunk_count(preview)
    return {
        "refused_by_person": f"The person refused {len(refused)} of {count} hunks: those were not written, "
        "the others were. Do not write them again without asking.",
        "refused_hunks": [item for file in refused_by_file(preview, refused) for item in _items(file)],
    }


def _items(refused: RefusedIn) -> Iterator[JsonObject]:
    file = refused.comparison
    for hunk in refused.hunks:
        changes = RefusedIn(file, (hunk,)).changes
        first, last = changes[0].new + 1, changes[-1].new + len(changes[-1].added)
        yield {
            "path": file.path,
            "start_line": first,
            "end_line": max(first, last),
            "diff": patch(file, (hunk,)),
        }


def _files(preview: DisplayBlock | None) -> tuple[Comparison, ...]:
    return parse_unified(preview.diff, preview.path) if isinstance(preview, DiffBlock) else ()


def _shown(lines: list[str]) -> tuple[str, ...]:
    return tuple(map(show, lines))
