"""Parse unified diffs, plain and git's, as leniently as their meaning stays certain.

A hunk is read by its counts if they fit, otherwise by what its lines look like. File names may be quoted,
dated or prefixed.
"""

import re
from dataclasses import dataclass, field, replace

from coder_tui.tools.editing.script import (
    FilePatch,
    Hunk,
    Mark,
    Operation,
    Script,
    ScriptLine,
    invalid_patch,
    joined_by_path,
    patch_lines,
)

_PAIRS = {("a/", "b/"), ("b/", "a/"), ("i/", "w/"), ("w/", "i/"), ("c/", "w/"), ("c/", "i/"), ("o/", "w/")}
_SIDES = ({"a/", "i/", "c/", "o/"}, {"b/", "w/"})
NOTHING = "/dev/null"
_DATE = re.compile(r"(\t.*|\s+\d{4}-\d\d-\d\d[ T]\d\d:\d\d.*)$")
_TWO_QUOTED = re.compile(r'("(?:[^"\\]|\\.)*"|\S+) ("(?:[^"\\]|\\.)*")')
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)")
_NAMED = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v"}


def without_date(name: str) -> str:
    """Return the name without date and quotes."""
    name = name.strip()
    if name.startswith("`") and name.endswith("`"):
        name = name.strip("`")
    if name.startswith('"') and (end := name.rfind('"')) > 0:
        return _unquoted(name[1:end])
    return _DATE.sub("", name).strip()


def git_names(text: str) -> tuple[str, str] | None:
    """Return the two names of a `diff --git` line; names with blanks are recognized if both are the same."""
    if quoted := _TWO_QUOTED.fullmatch(text.strip()):
        return without_date(quoted[1]), without_date(quoted[2])
    old, new = text[: len(text) // 2], text[len(text) // 2 + 1 :]
    if strip_prefixes(old, new)[0] == strip_prefixes(old, new)[1]:
        return old, new
    names = text.split()
    return (names[0], names[1]) if len(names) == 2 else None


def strip_prefixes(old: str, new: str) -> tuple[str, str]:
    """Remove a/ and b/ and similar prefixes if both sides have them or one side is no file."""
    pair = old[:2], new[:2]
    if pair in _PAIRS:
        return old[2:], new[2:]
    if old == NOTHING and pair[1] in _SIDES[1]:
        return old, new[2:]
    if new == NOTHING and pair[0] in _SIDES[0]:
        return old[2:], new
    return old, new


def _unquoted(name: str) -> str:
    data = _ESCAPE.sub(_character, name.encode("utf-8", "surrogateescape"))
    return data.decode("utf-8", "surrogateescape")


def _character(match: re.Match[bytes]) -> bytes:
    code = match[1]
    return bytes([int(code, 8) & 0xFF]) if len(code) == 3 else _NAMED.get(code, code)


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
    """Return the lines that the header counts; None if the counts are wrong."""
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
    """Return everything up to the next header; lines without a sign are context."""
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
            body.append(ScriptLine(Mark.KEEP, lines[at], has_sign=False))
            # Text after a blank line before the end is more likely prose than context.
            bare = bare + 1 if bare else 0
        at += 1
    return body[: len(body) - bare], at


def _ends_hunk(lines: list[str], at: int, *, is_fenced: bool) -> bool:
    line = lines[at]
    is_fence = is_fenced and line.lstrip().startswith("```")
    is_fence = is_fence or line.startswith("*** End Patch")
    return is_fence or line.startswith("@@") or _begins_file(lines, at) or _is_signature(lines, at)


def _begins_file(lines: list[str], at: int) -> bool:
    if lines[at].startswith(("diff --git ", "Index: ")):
        return True
    following = lines[at + 1 : at + 3]
    if not lines[at].startswith("--- ") or not following or not following[0].startswith("+++ "):
        return False
    return len(following) == 1 or following[1].startswith("@@")


def _is_change(lines: list[str], at: int) -> bool:
    """Return whether what looks like file names is a line `-- x` that became `++ y`."""
    if not lines[at].startswith("--- "):
        return False
    has_hunks = at + 2 < len(lines)
    old, new = strip_prefixes(without_date(lines[at][4:]), without_date(lines[at + 1][4:]))
    return not has_hunks or (old != new and NOTHING not in (old, new))


def _is_signature(lines: list[str], at: int) -> bool:
    """Return whether this is the end of a mailed patch: `-- ` and a version."""
    follows = lines[at + 1] if at + 1 < len(lines) else ""
    return lines[at] in ("-- ", "--") and bool(_SIGNATURE.fullmatch(follows))


def _script_line(line: str) -> ScriptLine | None:
    """Return None for a line without a sign; an empty line is blank context."""
    if not line or line == "\r":
        return ScriptLine(Mark.KEEP, line, has_sign=False)
    mark = _MARKS.get(line[0])
    return ScriptLine(mark, line[1:]) if mark else None


def _unended(line: ScriptLine) -> ScriptLine:
    return replace(line, has_end=False)


_EXECUTABLE, _PLAIN = "100755", "100644"


@dataclass(slots=True)
class _Section:
    """The header and hunks of one file read so far."""

    old: str | None = None
    new: str | None = None
    git_names: tuple[str, str] | None = None
    renamed: dict[str, str] = field(default_factory=dict)
    is_copy: bool = False
    modes: dict[str, str] = field(default_factory=dict)
    hunks: list[Hunk] = field(default_factory=list)

    @property
    def has_names(self) -> bool:
        return self.old is not None or self.new is not None


def parse_unified(text: str) -> tuple[FilePatch, ...]:
    """Return what the patch does to each file; prose, fences and wrong counts are skipped."""
    lines = patch_lines(text)
    sections: list[_Section] = []
    at = 0
    is_fenced = False
    while at < len(lines):
        line = lines[at]
        if line.lstrip().startswith("```"):
            is_fenced = not is_fenced
        if HEADER.match(line) and sections and (sections[-1].has_names or sections[-1].git_names):
            hunk, at = read_hunk(lines, at, is_fenced=is_fenced)
            sections[-1].hunks.append(hunk)
            continue
        _read_header(line, lines[at + 1] if at + 1 < len(lines) else "", sections)
        at += 1
    patches = [patch for section in sections if (patch := _file_patch(section))]
    if not patches:
        raise invalid_patch("no file is named in it", "Begin each file with --- and +++ lines.")
    return joined_by_path(patches)


def _read_header(line: str, following: str, sections: list[_Section]) -> None:
    if line.startswith("diff --git "):
        sections.append(_Section(git_names=git_names(line.removeprefix("diff --git "))))
        return
    if line.startswith("--- ") and following.startswith("+++ "):
        names = without_date(line[4:]), without_date(following[4:])
        if not sections or not _belongs(names, sections[-1]):
            sections.append(_Section())
        sections[-1].old = names[0]
        return
    if line.startswith("+++ "):
        if not sections or sections[-1].new is not None or sections[-1].hunks:
            sections.append(_Section())
        sections[-1].new = without_date(line[4:])
        return
    if sections and not sections[-1].hunks:
        _read_extended(line, sections[-1])


def _belongs(names: tuple[str, str], section: _Section) -> bool:
    """Return whether two names belong to a section that so far has only git's own lines."""
    if section.has_names or section.hunks:
        return False
    known = {NOTHING, *section.renamed.values()}
    if section.git_names:
        known |= {*section.git_names, *strip_prefixes(*section.git_names)}
    return {*names, *strip_prefixes(*names)} & known >= set(strip_prefixes(*names))


def _read_extended(line: str, section: _Section) -> None:
    """Read git's own lines between the names and the hunks."""
    for word in ("rename from ", "rename to ", "copy from ", "copy to "):
        if line.startswith(word):
            section.is_copy = word.startswith("copy")
            section.renamed[word.split()[1]] = without_date(line.removeprefix(word))
    for word in ("old mode ", "new mode ", "new file mode ", "deleted file mode "):
        if line.startswith(word):
            section.modes[word.strip()] = line.removeprefix(word).strip()
    if line.startswith(("GIT binary patch", "Binary files ")):
        raise invalid_patch("it changes a binary file", "Only text can be patched.")


def _file_patch(section: _Section) -> FilePatch | None:
    names = _names(section)
    if names is None:
        return None
    old, new = names
    operation = _operation(section, old, new)
    path, new_path = old or new, new or old
    if path is None or new_path is None:
        return None
    if operation is Operation.MODIFY and not section.hunks and not section.modes:
        return None
    return FilePatch(
        operation,
        path if operation is not Operation.CREATE else new_path,
        new_path if operation is not Operation.DELETE else path,
        tuple(section.hunks),
        _executable(section),
        keeps_source=section.is_copy,
    )


def _names(section: _Section) -> tuple[str | None, str | None] | None:
    """Return both names without their prefixes; None stands for no file."""
    if "from" in section.renamed and "to" in section.renamed:
        return section.renamed["from"], section.renamed["to"]
    if section.old is None and section.new is not None:
        name = strip_prefixes(NOTHING, section.new)[1]
        return name, name
    if section.has_names:
        old, new = section.old, section.new
    elif section.git_names:
        old, new = section.git_names
        old = NOTHING if "new file mode" in section.modes else old
        new = NOTHING if "deleted file mode" in section.modes else new
    else:
        return None
    old, new = strip_prefixes(old or "", new or "")
    if old.removeprefix(new) in _BACKUPS:
        # `diff file.orig file`: only the file itself is meant.
        old = new
    return (None if old == NOTHING else old), (None if new == NOTHING else new)


_BACKUPS = (".orig", ".bak", ".old", "~")


def _operation(section: _Section, old: str | None, new: str | None) -> Operation:
    if old is None or "new file mode" in section.modes:
        return Operation.CREATE
    if new is None or "deleted file mode" in section.modes:
        return Operation.DELETE
    return Operation.MODIFY if old == new else Operation.RENAME


def _executable(section: _Section) -> bool | None:
    mode = section.modes.get("new mode") or section.modes.get("new file mode")
    if mode is None:
        return None
    if mode not in (_EXECUTABLE, _PLAIN):
        raise invalid_patch(f"mode {mode} is not that of a plain file")
    # A new file is not executable anyway.
    return mode == _EXECUTABLE if mode == _EXECUTABLE or "new mode" in section.modes else None
