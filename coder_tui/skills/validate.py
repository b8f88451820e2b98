"""Checks skills for those who write them: the format, and whether the files that a body names exist."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from coder_tui.config.trust import Trust
from coder_tui.skills.discover import read_skill, skill_folders
from coder_tui.skills.roots import Root
from coder_tui.skills.scaffold import TEMPLATE_DESCRIPTION
from coder_tui.skills.skill import SKILL_FILE, Problem, Severity, SkillSource

_LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)\s]*)?\)")
_NAMED = re.compile(r"`((?:scripts|references|assets)/[\w./-]*\w)`")
_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)


def skills_at(path: Path) -> tuple[Path, ...]:
    """The skill folders that a path means: one, its `SKILL.md`, or a folder with many below."""
    folder = path.parent if path.name == SKILL_FILE else path
    folders, _ = skill_folders(Root(folder, SkillSource.USER))
    return tuple(folders)


def validate(directory: Path) -> tuple[Problem, ...]:
    """Everything that is wrong with the skill in this folder, by line. Blocks."""
    # Whether a project is trusted is another question than whether its skills are right.
    parsed = read_skill(directory, SkillSource.USER, None, Trust(Path(os.devnull)))
    problems = list(parsed.problems)
    if parsed.skill is not None:
        text = parsed.skill.file.read_text(encoding="utf-8-sig")
        problems += _missing_files(directory, text)
        if parsed.skill.description == TEMPLATE_DESCRIPTION:
            line = text[: text.index(TEMPLATE_DESCRIPTION)].count("\n") + 1
            message = "the description is still the one that a new skill begins with"
            problems.append(Problem(Severity.WARNING, parsed.skill.file, line, message))
    return tuple(sorted(problems, key=lambda problem: problem.line))


def _missing_files(directory: Path, text: str) -> Iterator[Problem]:
    is_code = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            is_code = not is_code
        if is_code:
            continue
        for name in (*_LINK.findall(line), *_NAMED.findall(line)):
            if reason := _why_missing(directory, name):
                yield Problem(Severity.WARNING, directory / SKILL_FILE, number, f"{name} {reason}")


def _why_missing(directory: Path, name: str) -> str:
    if _ELSEWHERE.match(name) or name.startswith("/"):
        return ""
    path = Path(os.path.realpath(directory / name))
    if not path.is_relative_to(os.path.realpath(directory)):
        return "lies outside of the skill's folder"
    return "" if path.exists() else "does not exist"
