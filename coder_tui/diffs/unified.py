"""Reads unified diffs for showing them: forgiving, and nothing in them is left out of sight."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from coder_tui.diffs.model import Change, Comparison, FileState, Gap, Same, Section, grouped

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


def parse_unified(diff: str, path: str = "") -> tuple[Comparison, ...]:
    """One comparison for each file; `path` names what the diff itself does not."""
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
    """Lines that belong together; a deletion that follows an addition begins another change."""
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
