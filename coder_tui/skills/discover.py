"""Finds every skill below some folders, within limits, and reports problems.

Links that lead out of a folder are not followed. Folders come weakest first.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from coder_tui.config.paths import Directories, display_path
from coder_tui.config.project import (
    SKILL_FOLDERS,
    ProjectFileError,
    files_below,
    project_folders,
    read_project_file,
)
from coder_tui.config.trust import Trust
from coder_tui.resources import bundled
from coder_tui.skills.skill import SKILL_FILE, Parsed, Problem, Severity, Skill, SkillSource, parse_skill

_USERS = (".claude/skills", ".agents/skills")


@dataclass(frozen=True, slots=True)
class Root:
    """`project` is the folder that must be trusted for its skills; None if they are the user's own."""

    folder: Path
    source: SkillSource
    project: Path | None = None


def skill_roots(
    workspace: Path, directories: Directories, paths: tuple[str, ...], home: Path
) -> tuple[Root, ...]:
    """Return the folders: built-in, user, `skills.paths`, project from repository root to workspace."""
    users = (*(home / name for name in _USERS), directories.config / "skills")
    return (
        Root(bundled("skills"), SkillSource.BUILTIN),
        *(Root(folder, SkillSource.USER) for folder in users),
        *(Root(_expanded(path, home), SkillSource.PATHS) for path in paths),
        *(
            Root(project / name, SkillSource.PROJECT, project)
            for project in project_folders(workspace)
            for name in SKILL_FOLDERS
            if project / name not in users
        ),
    )


def _expanded(path: str, home: Path) -> Path:
    return home / path[2:] if path.startswith("~/") else Path(path)


DEEPEST = 6
MOST_FOLDERS = 2_000
SKIPPED = frozenset({".git", "node_modules", "__pycache__", ".venv"})


@dataclass(frozen=True, slots=True)
class Shadowed:
    """A skill that is not used because another of the same name takes precedence."""

    skill: Skill
    by: Skill


@dataclass(frozen=True, slots=True)
class FoundSkills:
    """`skills` are sorted by name, one per name."""

    skills: tuple[Skill, ...] = ()
    shadowed: tuple[Shadowed, ...] = ()
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Search:
    """Where to search, and what is trusted; `trust` is called each time."""

    roots: tuple[Root, ...]
    trust: Callable[[], Trust]

    def look(self) -> FoundSkills:
        """Find all skills as they are now. Blocks."""
        return discover(self.roots, self.trust())

    def read(self, skill: Skill) -> Parsed:
        """Read one skill as it is now. Blocks."""
        return read_skill(skill.directory, skill.source, skill.project, self.trust())


def discover(roots: Iterable[Root], trust: Trust) -> FoundSkills:
    """Search the roots, weakest first. Reads files, runs nothing. Blocks."""
    strongest: dict[str, Skill] = {}
    shadowed: list[Shadowed] = []
    problems: list[Problem] = []
    for root in roots:
        found, wrong = _below(root, trust)
        problems += wrong
        for skill in found:
            if (weaker := strongest.get(skill.name)) is not None:
                shadowed.append(Shadowed(weaker, skill))
            strongest[skill.name] = skill
    skills = tuple(strongest[name] for name in sorted(strongest))
    return FoundSkills(skills, tuple(shadowed), tuple(problems))


def read_skill(directory: Path, source: SkillSource, project: Path | None, trust: Trust) -> Parsed:
    """Read one skill as it is now; a project's skill only in the content that the user trusts."""
    file = directory / SKILL_FILE
    if not _is_text(directory):
        return Parsed(None, (Problem(Severity.ERROR, file, 0, "the path is not valid Unicode"),))
    try:
        if project is not None and (reason := _distrust(project, directory, trust)):
            return Parsed(None, (Problem(Severity.WARNING, file, 0, reason),))
        read = read_project_file(directory, SKILL_FILE)
    except ProjectFileError as error:
        return Parsed(None, (Problem(Severity.ERROR, file, 0, str(error)),))
    if read is None:
        return Parsed(None, (Problem(Severity.ERROR, file, 0, "the file does not exist"),))
    if project is not None and not trust.trusts(project, replace(read, name=_name_in(project, file))):
        return Parsed(None, (Problem(Severity.ERROR, file, 0, "the file changed while it was read"),))
    return parse_skill(read.data, directory, source, project)


def _below(root: Root, trust: Trust) -> tuple[list[Skill], list[Problem]]:
    """Return the skills of one root; of two with the same name, the first found."""
    folders, problems = skill_folders(root)
    skills: dict[str, Skill] = {}
    for folder in folders:
        parsed = read_skill(folder, root.source, root.project, trust)
        problems += parsed.problems
        if parsed.skill is None:
            continue
        first = skills.setdefault(parsed.skill.name, parsed.skill)
        if first is not parsed.skill:
            message = f"the name {first.name} is already used by {display_path(first.file)}"
            problems.append(Problem(Severity.ERROR, parsed.skill.file, 0, message))
    return list(skills.values()), problems


def skill_folders(root: Root) -> tuple[list[Path], list[Problem]]:
    """Return the skill folders level by level, those nearer to the root first."""
    start = Path(os.path.realpath(root.folder))
    if root.project is not None and _is_linked(root, root.project):
        return [], [Problem(Severity.WARNING, root.folder, 0, "not used: the path goes through a link")]
    found: list[Path] = []
    problems: list[Problem] = []
    level, seen = [start], 0
    for _ in range(DEEPEST + 1):
        deeper: list[Path] = []
        for folder in level:
            seen += 1
            if seen > MOST_FOLDERS:
                message = f"has more than {MOST_FOLDERS} folders; the rest was not searched"
                return found, [*problems, Problem(Severity.WARNING, root.folder, 0, message)]
            if os.path.lexists(folder / SKILL_FILE):
                found.append(folder)
                continue
            deeper += _subfolders(folder)
            problems += _links_out(folder, start)
        level = deeper
    return found, problems


def _is_linked(root: Root, project: Path) -> bool:
    """Return whether a root is behind a link: trust goes by path, and a link would give a file two."""
    plain = Path(os.path.realpath(project)) / root.folder.relative_to(project)
    return Path(os.path.realpath(root.folder)) != plain


def _subfolders(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:  # missing, not a folder, or not readable
        return []
    return [folder / name for name in sorted(names) if name not in SKIPPED]


def _links_out(folder: Path, start: Path) -> Iterator[Problem]:
    try:
        with os.scandir(folder) as entries:
            links = sorted(entry.name for entry in entries if entry.is_symlink())
    except OSError:
        return
    for name in links:
        target = Path(os.path.realpath(folder / name))
        if not target.is_relative_to(start) and os.path.lexists(target / SKILL_FILE):
            message = "not followed: the link leads out of its folder; add its target to skills.paths"
            yield Problem(Severity.WARNING, folder / name, 0, message)


def _distrust(project: Path, directory: Path, trust: Trust) -> str:
    """Say why a project's skill may not be used; "" if all its files are trusted as they are."""
    for name in files_below(Path(os.path.realpath(project)), _name_in(project, directory)):
        try:
            file = read_project_file(project, name)
        except ProjectFileError as error:
            return f"not used: {name} {error}, so it cannot be trusted"
        if file is not None and not trust.trusts(project, file):
            command = f"'coder-tui trust {display_path(project)}'"
            return f"not used: {name} is not trusted; run {command} to review it"
    return ""


def _name_in(project: Path, path: Path) -> str:
    return path.relative_to(os.path.realpath(project)).as_posix()


def _is_text(path: Path) -> bool:
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True
