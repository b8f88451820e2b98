"""Reads one hunk of a unified diff: by its counts where they fit, by what its lines look like otherwise."""

import re

from coder_tui.tools.editing.diff_names import NOTHING, strip_prefixes, without_date
from coder_tui.tools.editing.patch_model import Hunk
from coder_tui.tools.editing.script import Mark, Script, ScriptLine

HEADER = re.compile(r"@@(?: -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@| ?\.\.\. ?@@)?(.*)")
_SIGNATURE = re.compile(r"\d+\.\d+[\w. ()-]*")
_NO_NEWLINE = "\\"
_MARKS = {mark.value: mark for mark in Mark}


def read_hunk(lines: list[str], at: int, *, is_fenced: bool) -> tuple[Hunk, int]:
    """Return the hunk whose header is at `at`, and where the next thing begins."""
    header = HEADER.match(lines[at])
    start, old, new, rest = (header[1], header[2], header[4], header[5]) if header else (None, None, None, "")
    counted = None
    if start is not None:
        counted = _counted(lines, at + 1, int(old or 1), int(new or 1))
    body, end = counted or _looked_at(lines, at + 1, is_fenced=is_fenced)
    line = max(int(start), 1) if start is not None else None
    anchor = rest.strip().removesuffix("@@").strip()
    return Hunk(Script(tuple(body)), line, (anchor,) if anchor else ()), end


def _counted(lines: list[str], at: int, old: int, new: int) -> tuple[list[ScriptLine], int] | None:
    """The lines that the header counts; None where it is wrong."""
    body: list[ScriptLine] = []
    while old > 0 or new > 0:
        if at >= len(lines) or (_begins_file(lines, at) and not _is_change(lines, at)):
            return None
        line = _script_line(lines[at])
        if line is None:
            if not body or not lines[at].startswith(_NO_NEWLINE):
                return None
            body[-1] = _unended(body[-1])
        else:
            body.append(line)
            old -= line.mark is not Mark.ADD
            new -= line.mark is not Mark.DROP
        at += 1
        if old < 0 or new < 0:
            return None
    if at < len(lines) and lines[at].startswith(_NO_NEWLINE) and body:
        body[-1] = _unended(body[-1])
        at += 1
    return (body, at) if _is_boundary(lines, at) else None


def _is_boundary(lines: list[str], at: int) -> bool:
    if at >= len(lines) or _begins_file(lines, at) or _is_signature(lines, at):
        return True
    return not lines[at].startswith((" ", "+", "-", "\t"))


def _looked_at(lines: list[str], at: int, *, is_fenced: bool) -> tuple[list[ScriptLine], int]:
    """Everything up to the next header; what has no sign is context."""
    body: list[ScriptLine] = []
    bare = 0
    while at < len(lines) and not _ends_hunk(lines, at, is_fenced=is_fenced):
        line = _script_line(lines[at])
        if line is not None:
            body.append(line)
            bare = 0 if lines[at] else bare + 1
        elif lines[at].startswith(_NO_NEWLINE) and body:
            body[-1] = _unended(body[-1])
        else:
            body.append(ScriptLine(Mark.KEEP, lines[at]))
            # Text after a blank line and before the end is more likely prose than context.
            bare = bare + 1 if bare else 0
        at += 1
    return body[: len(body) - bare], at


def _ends_hunk(lines: list[str], at: int, *, is_fenced: bool) -> bool:
    line = lines[at]
    is_fence = is_fenced and line.lstrip().startswith("```")
    return is_fence or line.startswith("@@") or _begins_file(lines, at) or _is_signature(lines, at)


def _begins_file(lines: list[str], at: int) -> bool:
    if lines[at].startswith(("diff --git ", "Index: ")):
        return True
    following = lines[at + 1 : at + 3]
    if not lines[at].startswith("--- ") or not following or not following[0].startswith("+++ "):
        return False
    return len(following) == 1 or following[1].startswith("@@")


def _is_change(lines: list[str], at: int) -> bool:
    """Whether what looks like the names of a file is a line `-- x` that became `++ y`."""
    if not lines[at].startswith("--- "):
        return False
    has_hunks = at + 2 < len(lines)
    old, new = strip_prefixes(without_date(lines[at][4:]), without_date(lines[at + 1][4:]))
    return not has_hunks or (old != new and NOTHING not in (old, new))


def _is_signature(lines: list[str], at: int) -> bool:
    """Mailed patches end in `-- ` and a version."""
    follows = lines[at + 1] if at + 1 < len(lines) else ""
    return lines[at] in ("-- ", "--") and bool(_SIGNATURE.fullmatch(follows))


def _script_line(line: str) -> ScriptLine | None:
    """None for a line without a sign; an empty one is a blank line of context."""
    if not line or line == "\r":
        return ScriptLine(Mark.KEEP, line)
    mark = _MARKS.get(line[0])
    return ScriptLine(mark, line[1:]) if mark else None


def _unended(line: ScriptLine) -> ScriptLine:
    return ScriptLine(line.mark, line.text, has_end=False)
