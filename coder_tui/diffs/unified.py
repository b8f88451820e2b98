"""Read unified diffs to show and count them, and write the diff of one file's change for models and users.

Reading is forgiving, and no line of a diff is hidden.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from coder_tui.diffs.compare import compare, grouped, with_context
from coder_tui.diffs.hunks import CONTEXT, patch
from coder_tui.protocol.comparison import Change, Comparison, FileState, Gap, Same, Section

_HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@ ?(.*)")
_SILENT = ("index ", "similarity index ", "old mode ", "new file mode ", "deleted file mode ")
_NOWHERE = "/dev/null"


@dataclass(slots=True)
class _Hunk:
    old: int
    new: int
    old_left: int
    new_left: int
    heading: str
    lines: list[tuple[str, str]] = field(default_factory=list)

    @property
    def is_full(self) -> bool:
        return self.old_left <= 0 and self.new_left <= 0


@dataclass(slots=True)
class _File:
    old: str | None = None
    new: str | None = None
    renamed: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    hunks: list[_Hunk] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        return self == _File()


class FileStatistics(NamedTuple):
    path: str
    additions: int
    deletions: int


def file_statistics(diff: str) -> tuple[FileStatistics, ...]:
    """Count the lines that a diff changes in each file; empty if the diff is not certain to be read right.

    unidiff silently drops lines that it does not understand: behind a hunk that is longer than its header
    says, below `@@ ... @@`, in combined diffs. So the diff must have as many lines after it was read.
    """
    # Not needed before the first diff is counted, and takes 6 ms to import.
    from unidiff.errors import UnidiffParseError
    from unidiff.patch import PatchSet

    try:
        files = PatchSet(diff)
    except UnidiffParseError:
        return ()
    if str(files).count("\n") != diff.count("\n") or any("\r" in file.path for file in files):
        return ()
    return tuple(FileStatistics(file.path, file.added, file.removed) for file in files)


def parse_unified(diff: str, path: str = "") -> tuple[Comparison, ...]:
    """Return a comparison for each file; `path` names a file that the diff does not name."""
    files = [_File()]
    lines = diff.removesuffix("\n").split("\n") if diff else []
    for at, line in enumerate(lines):
        following = lines[at + 1] if at + 1 < len(lines) else ""
        _read(line, following, files)
    found = [file for file in files if not file.is_empty]
    return tuple(_comparison(file, path if len(found) == 1 else "") for file in found)


def _read(line: str, following: str, files: list[_File]) -> None:
    file = files[-1]
    hunk = file.hunks[-1] if file.hunks else None
    if found := _HUNK.match(line):
        file.hunks.append(_started(found))
    elif line.startswith("diff --git "):
        files.append(_File(*_git_names(line)))
    elif line.startswith("--- ") and following.startswith("+++ ") and (hunk is None or hunk.is_full):
        if hunk is not None:
            files.append(_File())
        files[-1].old = _name(line)
    elif hunk is not None:
        _take(line, hunk)
    elif line.startswith("+++ ") and file.old is not None:
        file.new = _name(line)
    elif line.startswith(("rename from ", "rename to ")):
        file.renamed[line.split(" ", 2)[1]] = line.split(" ", 2)[2]
    elif line and not line.startswith(_SILENT):
        file.notes.append(line)


def _started(found: re.Match[str]) -> _Hunk:
    old, old_count, new, new_count, heading = found.groups()
    old_left, new_left = int(old_count or 1), int(new_count or 1)
    # A range of no lines is named by the line before it.
    old_at = int(old) - 1 if old_left else int(old)
    new_at = int(new) - 1 if new_left else int(new)
    return _Hunk(max(0, old_at), max(0, new_at), old_left, new_left, heading)


def _take(line: str, hunk: _Hunk) -> None:
    sign = line[:1] if line[:1] in {"+", "-", "\\"} else " "
    if sign == "\\":
        if hunk.lines:
            last_sign, last = hunk.lines[-1]
            hunk.lines[-1] = (last_sign, last.removesuffix("\n"))
        return
    text = line if sign == " " and line[:1] != " " else line[1:]
    hunk.lines.append((sign, f"{text}\n"))
    hunk.old_left -= sign != "+"
    hunk.new_left -= sign != "-"


def _comparison(file: _File, path: str) -> Comparison:
    sections: list[Section] = []
    old_end = new_end = 0
    for hunk in file.hunks:
        hidden = max(0, min(hunk.old - old_end, hunk.new - new_end))
        if hidden or hunk.heading or sections:
            sections.append(Gap(hunk.old - hidden, hunk.new - hidden, hidden, hunk.heading))
        inside = _sections(hunk)
        sections += inside
        old_end = hunk.old + sum(sign != "+" for sign, _ in hunk.lines)
        new_end = hunk.new + sum(sign != "-" for sign, _ in hunk.lines)
    state, old_path, new_path = _state(file)
    done = tuple(sections)
    shown = path or new_path
    return Comparison(shown, done, grouped(done, shown), state, old_path, tuple(file.notes))


def _state(file: _File) -> tuple[FileState, str, str]:
    old = file.renamed.get("from") or file.old or ""
    new = file.renamed.get("to") or file.new or ""
    if _NOWHERE in {old, new}:
        state = FileState.CREATED if old == _NOWHERE else FileState.DELETED
        return state, "", old if new == _NOWHERE else new
    return (FileState.RENAMED, old, new) if old and new and old != new else (FileState.CHANGED, "", new)


def _sections(hunk: _Hunk) -> list[Section]:
    sections: list[Section] = []
    old, new = hunk.old, hunk.new
    for run in _runs(hunk.lines):
        deleted = tuple(text for sign, text in run if sign == "-")
        added = tuple(text for sign, text in run if sign == "+")
        same = tuple(text for sign, text in run if sign == " ")
        sections.append(Same(old, new, same) if same else Change(old, new, deleted, added))
        old, new = old + len(deleted) + len(same), new + len(added) + len(same)
    return sections


def _runs(lines: Sequence[tuple[str, str]]) -> list[list[tuple[str, str]]]:
    """Group lines that belong together; a deletion that follows an addition begins another change."""
    runs: list[list[tuple[str, str]]] = []
    before = ""
    for sign, text in lines:
        if before and (sign == " ") == (before == " ") and before + sign != "+-":
            runs[-1].append((sign, text))
        else:
            runs.append([(sign, text)])
        before = sign
    return runs


def _git_names(line: str) -> tuple[str | None, str | None]:
    old, _, new = line.removeprefix("diff --git ").partition(" b/")
    return (_without_prefix(old), new) if new else (None, None)


def _name(line: str) -> str:
    return _without_prefix(line[4:].split("\t", 1)[0].rstrip("\r"))


def _without_prefix(name: str) -> str:
    return name[2:] if name.startswith(("a/", "b/")) else name


DIFF_LIMIT = 50 * 1024
_NEEDS_QUOTES = re.compile(r'[\x00-\x1f\x7f"\\]')


@dataclass(frozen=True, slots=True)
class FileDiff:
    """`file` is the same change as data."""

    text: str
    additions: int
    deletions: int
    file: Comparison = field(default=Comparison("", (), ()), repr=False, compare=False)

    def cut(self, limit: int = DIFF_LIMIT) -> tuple[str, bool]:
        """Return at most `limit` bytes of whole lines, and whether anything is missing."""
        data = self.text.encode("utf-8", "replace")
        if len(data) <= limit:
            return self.text, False
        kept = data[: data.rfind(b"\n", 0, limit) + 1]
        return kept.decode("utf-8", "replace"), True


def unified_diff(path: str, old: str | None, new: str | None, old_path: str = "") -> FileDiff:
    """Compare two versions of `path`; None means no file. `old_path` is its name before a rename."""
    file = with_context(compare(old, new, path, old_path), CONTEXT)
    pieces = [_header(path, old, new)] if file.hunks or (old is None) != (new is None) else []
    pieces.append(patch(file, [hunk.id for hunk in file.hunks], is_short=True))
    return FileDiff("".join(pieces), file.additions, file.deletions, file)


def _header(path: str, old: str | None, new: str | None) -> str:
    old_name = "/dev/null" if old is None else _quoted(f"a/{path.lstrip('/')}")
    new_name = "/dev/null" if new is None else _quoted(f"b/{path.lstrip('/')}")
    return f"--- {old_name}\n+++ {new_name}\n"


def _quoted(name: str) -> str:
    """Quote a name as git does, so that it cannot pass for lines of the diff."""
    if not _NEEDS_QUOTES.search(name):
        return name
    return '"' + _NEEDS_QUOTES.sub(_escape, name) + '"'


def _escape(match: re.Match[str]) -> str:
    named = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
    return named.get(match[0], f"\\{ord(match[0]):03o}")
