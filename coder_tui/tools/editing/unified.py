"""Reads unified diffs, plain and git's, as forgivingly as their meaning stays certain."""

from dataclasses import dataclass, field

from coder_tui.tools.editing.diff_names import NOTHING, git_names, strip_prefixes, without_date
from coder_tui.tools.editing.hunk_body import HEADER, read_hunk
from coder_tui.tools.editing.patch_model import (
    FilePatch,
    Hunk,
    Operation,
    invalid_patch,
    joined_by_path,
    patch_lines,
)

_EXECUTABLE, _PLAIN = "100755", "100644"


@dataclass(slots=True)
class _Section:
    """The header and hunks of one file, as far as they were read."""

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
    """Return what the patch does to each file; prose, fences and counts that are wrong are passed over."""
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
    """Whether a pair of names continues a section: git's own lines may stand before it."""
    if section.has_names or section.hunks:
        return False
    known = {NOTHING, *section.renamed.values()}
    if section.git_names:
        known |= {*section.git_names, *strip_prefixes(*section.git_names)}
    return {*names, *strip_prefixes(*names)} & known >= set(strip_prefixes(*names))


def _read_extended(line: str, section: _Section) -> None:
    """Git's own lines between the names and the hunks."""
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
    """Both names without their prefixes; None stands for no file."""
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
    return (None if old == NOTHING else old), (None if new == NOTHING else new)


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
    # A new file is plain anyway.
    return mode == _EXECUTABLE if mode == _EXECUTABLE or "new mode" in section.modes else None
