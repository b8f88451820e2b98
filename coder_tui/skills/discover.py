"""Finds every skill below some folders: bounded, never through a link that leads out, told what is wrong.

The folders that skills are looked for in, weakest first.
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
    """`project` is the folder whose trust the skills below rest on; None where they are the person's own."""

    folder: Path
    source: SkillSource
    project: Path | None = None


def skill_roots(
    workspace: Path, directories: Directories, paths: tuple[str, ...], home: Path
) -> tuple[Root, ...]:
    """Built-in, the person's, `skills.paths`, the project's: from its repository's root to the workspace."""
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
    """A skill that is not used because another of its name is stronger."""

    skill: Skill
    by: Skill


@dataclass(frozen=True, slots=True)
class Found:
    """`skills` by name, one each."""

    skills: tuple[Skill, ...] = ()
    shadowed: tuple[Shadowed, ...] = ()
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Search:
    """Where to look, and whom to believe; `trust` is asked anew each time."""

    roots: tuple[Root, ...]
    trust: Callable[[], Trust]

    def look(self) -> Found:
        """Everything as it is now. Blocks."""
        return discover(self.roots, self.trust())

    def read(self, skill: Skill) -> Parsed:
        """One skill as it is now. Blocks."""
        return read_skill(skill.directory, skill.source, skill.project, self.trust())


def discover(roots: Iterable[Root], trust: Trust) -> Found:
    """Look through the roots, weakest first. Reads files, runs nothing. Blocks."""
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
    return Found(skills, tuple(shadowed), tuple(problems))


def read_skill(directory: Path, source: SkillSource, project: Path | None, trust: Trust) -> Parsed:
    """One skill as it is now; a project's only in the content that the person trusts."""
    file = directory / SKILL_FILE
    if not _is_text(directory):
        return Parsed(None, (Problem(Severity.ERROR, file, 0, "its path is not valid Unicode"),))
    try:
        if project is not None and (reason := _distrust(project, directory, trust)):
            return Parsed(None, (Problem(Severity.WARNING, file, 0, reason),))
        read = read_project_file(directory, SKILL_FILE)
    except ProjectFileError as error:
        return Parsed(None, (Problem(Severity.ERROR, file, 0, str(error)),))
    if read is None:
        return Parsed(None, (Problem(Severity.ERROR, file, 0, "is not there"),))
    if project is not None and not trust.trusts(project, replace(read, name=_name_in(project, file))):
        return Parsed(None, (Problem(Severity.ERROR, file, 0, "changed while it was read"),))
    return parse_skill(read.data, directory, source, project)


def _below(root: Root, trust: Trust) -> tuple[list[Skill], list[Problem]]:
    """The skills of one root; of a name that stands there twice, the one that is found first."""
    folders, problems = skill_folders(root)
    skills: dict[str, Skill] = {}
    for folder in folders:
        parsed = read_skill(folder, root.source, root.project, trust)
        problems += parsed.problems
        if parsed.skill is None:
            continue
        first = skills.setdefault(parsed.skill.name, parsed.skill)
        if first is not parsed.skill:
            message = f"the name {first.name} is taken by {display_path(first.file)}"
            problems.append(Problem(Severity.ERROR, parsed.skill.file, 0, message))
    return list(skills.values()), problems


def skill_folders(root: Root) -> tuple[list[Path], list[Problem]]:
    """Level by level, so that what lies nearer to the root comes first."""
    start = Path(os.path.realpath(root.folder))
    if root.project is not None and _is_linked(root, root.project):
        return [], [Problem(Severity.WARNING, root.folder, 0, "lies behind a link, so it is not used")]
    found: list[Path] = []
    problems: list[Problem] = []
    level, seen = [start], 0
    for _ in range(DEEPEST + 1):
        deeper: list[Path] = []
        for folder in level:
            seen += 1
            if seen > MOST_FOLDERS:
                message = f"holds more than {MOST_FOLDERS} folders; the rest was not looked at"
                return found, [*problems, Problem(Severity.WARNING, root.folder, 0, message)]
            if os.path.lexists(folder / SKILL_FILE):
                found.append(folder)
                continue
            deeper += _subfolders(folder)
            problems += _links_out(folder, start)
        level = deeper
    return found, problems


def _is_linked(root: Root, project: Path) -> bool:
    """Trust goes by names below the project: a link would give a file two of them."""
    plain = Path(os.path.realpath(project)) / root.folder.relative_to(project)
    return Path(os.path.realpath(root.folder)) != plain


def _subfolders(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:  # not there, not a folder, or not ours to read: nothing to offer
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
            message = "is a link that leads out of its folder, not followed; name the place in skills.paths"
            yield Problem(Severity.WARNING, folder / name, 0, message)


def _distrust(project: Path, directory: Path, trust: Trust) -> str:
    """Why a project's skill may not be used; empty where every file of it is trusted as it is."""
    for name in files_below(Path(os.path.realpath(project)), _name_in(project, directory)):
        try:
            file = read_project_file(project, name)
        except ProjectFileError as error:
            return f"not used: {name} {error}, so it cannot be trusted"
        if file is not None and not trust.trusts(project, file):
            ask = f"'coder-tui trust {display_path(project)}' shows it, and asks"
            return f"not used: {name} is not trusted; {ask}"
    return ""


def _name_in(project: Path, path: Path) -> str:
    return path.relative_to(os.path.realpath(project)).as_posix()


def _is_text(path: Path) -> bool:
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True
