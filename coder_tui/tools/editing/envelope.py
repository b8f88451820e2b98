"""Parse the `*** Begin Patch` envelope that GPT models write."""

import re
from dataclasses import dataclass, field

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
from coder_tui.tools.editing.unified import HEADER

# Markers start their line. With a blank in front, the same text is context of a hunk.
_FILE = re.compile(r"\*\*\* (Add|Create|Delete|Remove|Update|Modify) File(?:: *| +)(.+)")
_MOVE = re.compile(r"\*\*\* (?:Move|Rename) to(?:: *| +)(.+)")
_MARKER = r"\*\*\* (?:Add|Create|Delete|Remove|Update|Modify) File(?:: *| +)"
_FIRST = re.compile(rf"^(?:({_MARKER})|diff --git |--- .*\n\+\+\+ )", re.MULTILINE)
_END_OF_FILE = "*** End of File"
_WRAPPERS = re.compile(r"\*\*\* (Begin|End) Patch\b.*|\*\*\* Environment ID:.*")
_OPERATIONS = {
    **dict.fromkeys(("Add", "Create"), Operation.CREATE),
    **dict.fromkeys(("Delete", "Remove"), Operation.DELETE),
    **dict.fromkeys(("Update", "Modify"), Operation.MODIFY),
}


def is_envelope(text: str) -> bool:
    """Return whether a marker of the envelope comes before any header of a unified diff."""
    text = text.lstrip()
    first = _FIRST.search(text)
    return first[1] is not None if first else text.startswith("*** Begin Patch")


@dataclass(slots=True)
class _Chunk:
    anchors: list[str] = field(default_factory=list)
    line: int | None = None
    lines: list[ScriptLine] = field(default_factory=list)
    is_at_end: bool = False


@dataclass(slots=True)
class _Section:
    operation: Operation
    path: str
    number: int
    new_path: str = ""
    chunks: list[_Chunk] = field(default_factory=list)
    content: list[str] = field(default_factory=list)


def parse_envelope(text: str) -> tuple[FilePatch, ...]:
    """Return what the envelope does to each file. Fences, shell wrappers and a missing end are tolerated."""
    sections: list[_Section] = []
    lines = _body(text)
    for number, line in enumerate(lines, start=1):
        if sections and not sections[-1].chunks and _is_header(lines, number - 1, sections[-1].path):
            continue
        # Before the first file there is no context that a blank could mark.
        if found := _FILE.fullmatch(line.rstrip() if sections else line.strip()):
            sections.append(_Section(_OPERATIONS[found[1]], _path(found[2]), number))
        elif not _WRAPPERS.fullmatch(line.rstrip()) and sections:
            _read_line(line, sections[-1], number)
    if not sections:
        raise invalid_patch("it names no file", "Write *** Update File: and the path, then the changes.")
    return joined_by_path([_file_patch(section) for section in sections])


def _body(text: str) -> list[str]:
    """Return the lines without what is wrapped around them: fences, and the shell's `<<EOF`."""
    lines = patch_lines(text.lstrip())
    while lines and not lines[-1].strip():
        lines.pop()
    if lines and lines[-1].strip() == "*** End Patch":
        lines[-1] = lines[-1].strip()
    begins = [at for at, line in enumerate(lines) if line.lstrip().startswith("*** ")]
    first = begins[0] if begins else 0
    ends = [at for at, line in enumerate(lines) if line.startswith("*** End Patch")]
    last = ends[-1] if ends else len(lines)
    if not ends:
        # What closes the wrapper is at the very end.
        while last > first and lines[last - 1].strip() in ("```", "EOF", ""):
            last -= 1
    return lines[first:last]


def _is_header(lines: list[str], at: int, path: str) -> bool:
    """Return whether a line belongs to the header of a unified diff that names the file once more."""
    if lines[at].startswith("diff --git "):
        return f"a/{path} " in f"{lines[at]} "
    start = at - 1 if lines[at].startswith("+++ ") else at
    names = [line[4:].partition("\t")[0].strip() for line in lines[start : start + 2]]
    is_pair = [line[:4] for line in lines[start : start + 2]] == ["--- ", "+++ "]
    return is_pair and all(name in (path, f"a/{path}", f"b/{path}", "/dev/null") for name in names)


def _path(text: str) -> str:
    """Return the name without quotes, backticks and stars around it."""
    name = text.strip().removesuffix("***").strip()
    for quote in ("`", '"', "'", "**"):
        inside = name.removeprefix(quote).removesuffix(quote)
        is_name = quote != "**" or "." in inside or "/" in inside
        if inside and is_name and len(inside) == len(name) - 2 * len(quote):
            return inside
    return name


def _read_line(line: str, section: _Section, number: int) -> None:
    if section.operation is Operation.CREATE:
        section.content.append(line)
    elif section.operation is Operation.DELETE:
        if line.strip():
            raise invalid_patch(f"line {number}: a file that is deleted has no lines")
    elif found := _MOVE.fullmatch(line.rstrip()):
        has_changes = any(line.text.strip() for chunk in section.chunks for line in chunk.lines)
        if has_changes or section.new_path:
            raise invalid_patch(f"line {number}: *** Move to: belongs right after *** Update File:")
        section.new_path = _path(found[1])
    elif line.rstrip() == _END_OF_FILE:
        if section.chunks:
            section.chunks[-1].is_at_end = True
    elif line.startswith("@@"):
        _read_anchor(line, section)
    else:
        _read_change(line, section)


def _read_anchor(line: str, section: _Section) -> None:
    header = HEADER.match(line)
    if not section.chunks or section.chunks[-1].lines:
        section.chunks.append(_Chunk())
    chunk = section.chunks[-1]
    if header and header[1]:
        chunk.line = max(int(header[1]), 1)
    anchor = (header[5] if header else line[2:]).strip().removesuffix("@@").strip()
    if anchor:
        chunk.anchors.append(anchor)


def _read_change(line: str, section: _Section) -> None:
    if not section.chunks:
        section.chunks.append(_Chunk())
    chunk = section.chunks[-1]
    if chunk.is_at_end and not line.strip():
        return
    if line[:1] in ("+", "-", " "):
        chunk.lines.append(ScriptLine(Mark(line[0]), line[1:]))
    else:
        # Models often drop the leading blank of an empty context line, and sometimes of others.
        chunk.lines.append(ScriptLine(Mark.KEEP, line, has_sign=False))


def _file_patch(section: _Section) -> FilePatch:
    path, new_path = section.path, section.new_path or section.path
    match section.operation:
        case Operation.CREATE:
            return FilePatch(Operation.CREATE, path, path, (_created(section),), may_replace=True)
        case Operation.DELETE:
            return FilePatch(Operation.DELETE, path, path)
        case _:
            # Blank lines between the markers mean nothing.
            chunks = [chunk for chunk in section.chunks if any(line.text.strip() for line in chunk.lines)]
            if not chunks and new_path == path:
                raise invalid_patch(f"line {section.number}: Update file hunk for path '{path}' is empty")
            if new_path == path:
                return FilePatch(Operation.MODIFY, path, path, tuple(map(_hunk, chunks)))
            # Context alone only shows which file is moved.
            changed = [chunk for chunk in chunks if any(line.mark is not Mark.KEEP for line in chunk.lines)]
            return FilePatch(Operation.RENAME, path, new_path, tuple(map(_hunk, changed)))


def _created(section: _Section) -> Hunk:
    lines = section.content
    while lines and not lines[-1].strip():
        lines.pop()
    signed = [at for at, line in enumerate(lines) if line.startswith("+")]
    has_signs = bool(signed)
    # A line between others is one of the file that lost its sign; what follows them may be prose.
    outside = [line for at, line in enumerate(lines) if signed and not signed[0] < at < signed[-1]]
    if stray := [line for line in outside if line.strip() and not line.startswith("+")]:
        raise invalid_patch(f"a line of the new file {section.path} does not begin with +: {stray[0][:80]!r}")
    texts = [line.removeprefix("+") if has_signs else line for line in lines]
    return Hunk(Script(tuple(ScriptLine(Mark.ADD, text) for text in texts)))


def _hunk(chunk: _Chunk) -> Hunk:
    script = Script(tuple(chunk.lines))
    return Hunk(script, chunk.line, tuple(chunk.anchors), chunk.is_at_end, appends=not chunk.anchors)
