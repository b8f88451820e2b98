"""A patch as it was understood, whichever way it was written."""

from dataclasses import dataclass, replace
from enum import StrEnum

from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.editing.script import Mark, Script


class Operation(StrEnum):
    CREATE = "create"
    MODIFY = "modify"
    DELETE = "delete"
    RENAME = "rename"


@dataclass(frozen=True, slots=True)
class Hunk:
    """One change with hints at its place. `line` counts from 1; None where the patch has no numbers."""

    script: Script
    line: int | None = None
    anchors: tuple[str, ...] = ()
    """Lines that are said to stand above the change, outermost first."""
    is_at_end: bool = False
    appends: bool = False
    """Whether a change without old lines belongs at the end of the file."""


@dataclass(frozen=True, slots=True)
class FilePatch:
    """What happens to one file. `new_path` differs from `path` in a rename alone."""

    operation: Operation
    path: str
    new_path: str
    hunks: tuple[Hunk, ...] = ()
    is_executable: bool | None = None
    keeps_source: bool = False
    """A copy: the file stays under its old name, too."""

    @property
    def is_pure_addition(self) -> bool:
        return bool(self.hunks) and all(not hunk.script.old for hunk in self.hunks)


def patch_lines(text: str) -> list[str]:
    """The lines of a patch. Returns at the end of every one are its own line ends, others are the file's."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    filled = [line for line in lines if line]
    if filled and all(line.endswith("\r") for line in filled):
        return [line.removesuffix("\r") for line in lines]
    return lines


def joined_by_path(patches: list[FilePatch]) -> tuple[FilePatch, ...]:
    """Put hunks for one file together; a path that is named for two different things is an error."""
    joined: dict[str, FilePatch] = {}
    for patch in patches:
        known = joined.get(patch.path)
        if known is None:
            joined[patch.path] = patch
        elif known.operation is patch.operation is Operation.MODIFY:
            joined[patch.path] = replace(known, hunks=known.hunks + patch.hunks)
        else:
            raise invalid_patch(f"{patch.path} is named twice")
    targets = [patch.new_path for patch in joined.values()]
    if len(set(targets)) < len(targets):
        raise invalid_patch("two files would get the same name")
    return tuple(joined.values())


def added_text(hunks: tuple[Hunk, ...]) -> str:
    """The content of a new file."""
    lines = [line for hunk in hunks for line in hunk.script.lines if line.mark is Mark.ADD]
    return "".join(f"{line.text}\n" if line.has_end else line.text for line in lines)


def invalid_patch(reason: str, hint: str = "") -> ToolError:
    return ToolError(ErrorType.INVALID_TOOL_PARAMS, f"invalid args: patch: {reason}", hint)
