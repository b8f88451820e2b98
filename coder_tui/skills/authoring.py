"""For authors of skills: lists all skills with their state, validates a skill, creates a new one.

Validation checks the format, and whether the files that a body names exist.
"""

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from coder_tui.config.paths import display_path
from coder_tui.config.trust import Trust
from coder_tui.protocol.errors import UsageError
from coder_tui.skills.discover import FoundSkills, Root, read_skill, skill_folders
from coder_tui.skills.session_skills import SessionSkills
from coder_tui.skills.skill import (
    DESCRIPTION_LIMIT,
    NAME_LIMIT,
    SKILL_FILE,
    Problem,
    Severity,
    Skill,
    SkillSource,
    is_proper_name,
)

MOST_WARNINGS = 3


class SkillState(StrEnum):
    READY = "ready"
    LOADED = "loaded"
    YOURS = "only by you"
    DENIED = "denied"
    SHADOWED = "shadowed"


@dataclass(frozen=True, slots=True)
class SkillRow:
    """`note` says why a skill is not used."""

    skill: Skill
    state: SkillState
    note: str = ""


def skill_rows(skills: SessionSkills) -> tuple[SkillRow, ...]:
    """Return all skills by name; a shadowed skill follows the one that is used."""
    loaded = frozenset(skills.loaded())
    rows = [*(_row(skills, skill, loaded) for skill in skills.found.skills), *_shadowed(skills)]
    return tuple(sorted(rows, key=lambda row: (row.skill.name, row.state is SkillState.SHADOWED)))


def _row(skills: SessionSkills, skill: Skill, loaded: frozenset[str]) -> SkillRow:
    if skills.is_denied(skill.name):
        verdict = skills.verdict(skill.name)
        return SkillRow(skill, SkillState.DENIED, f"{verdict.rule}, from {verdict.source}")
    if skill.name in loaded:
        return SkillRow(skill, SkillState.LOADED)
    return SkillRow(skill, SkillState.READY if skill.is_for_model else SkillState.YOURS)


def _shadowed(skills: SessionSkills) -> Iterator[SkillRow]:
    for shadowed in skills.found.shadowed:
        yield SkillRow(shadowed.skill, SkillState.SHADOWED, f"by {display_path(shadowed.by.file)}")


def skill_report(skills: SessionSkills) -> tuple[str, ...]:
    """Return lines for the user: the skills, then their problems."""
    rows = skill_rows(skills)
    width = max((len(row.skill.name) for row in rows), default=0)
    lines = []
    for row in rows:
        note = f"  ({row.note})" if row.note else ""
        lines.append(f"  {row.skill.name:<{width}}  {row.skill.source:<12}  {row.state}{note}")
        if row.state is not SkillState.SHADOWED:
            lines.append(f"  {'':<{width}}  {row.skill.description}")
    count = len(skills.found.skills)
    heading = f"{count} {'skill' if count == 1 else 'skills'}. Call one with /NAME, or name it in a message."
    problems = [f"  {problem}" for problem in skills.found.problems]
    return (heading, *lines, *(("Problems:", *problems) if problems else ()))


def skill_warnings(found: FoundSkills) -> tuple[str, ...]:
    """Return the first few warnings for the user; trust is asked for elsewhere."""
    wrong = [problem for problem in found.problems if problem.severity is Severity.ERROR]
    lines = [f"A skill is not used: {problem}" for problem in wrong[:MOST_WARNINGS]]
    if len(wrong) > MOST_WARNINGS:
        lines.append(f"{len(wrong) - MOST_WARNINGS} more skills are not used; /skills shows why.")
    return tuple(lines)


TEMPLATE_DESCRIPTION = "Say what this skill does, and when to use it."
_TEXT = """---
name: {name}
description: {description}
---
# {title}

## When to use it

## Steps

1.

## How to tell that it is done
"""


def new_skill(root: Path, name: str, description: str) -> Path:
    """Create `root/name/SKILL.md` and return its path; raise `UsageError` if that fails."""
    if not is_proper_name(name):
        rule = f"1 to {NAME_LIMIT} characters of a-z, 0-9 and single hyphens"
        raise UsageError(f"{name!r} is not a valid skill name: use {rule}")
    if len(description) > DESCRIPTION_LIMIT:
        raise UsageError(f"the description is longer than {DESCRIPTION_LIMIT} characters")
    folder = root / name
    title = name.replace("-", " ").capitalize()
    words = " ".join(description.split()) or TEMPLATE_DESCRIPTION
    try:
        root.mkdir(parents=True, exist_ok=True)
        folder.mkdir()
        text = _TEXT.format(name=name, description=json.dumps(words, ensure_ascii=False), title=title)
        (folder / SKILL_FILE).write_text(text, encoding="utf-8")
    except FileExistsError as error:
        raise UsageError(f"{display_path(folder)} already exists") from error
    except OSError as error:
        raise UsageError(f"cannot write {display_path(folder)}: {error.strerror or error}") from error
    return folder / SKILL_FILE


_LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)\s]*)?\)")
_NAMED = re.compile(r"`((?:scripts|references|assets)/[\w./-]*\w)`")
_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)


def skills_at(path: Path) -> tuple[Path, ...]:
    """Return the skill folders at a path: a skill's folder, its `SKILL.md`, or a folder with many skills."""
    folder = path.parent if path.name == SKILL_FILE else path
    folders, _ = skill_folders(Root(folder, SkillSource.USER))
    return tuple(folders)


def validate(directory: Path) -> tuple[Problem, ...]:
    """Return all problems of the skill in this folder, by line. Blocks."""
    # As a user's skill: validation does not depend on trust.
    parsed = read_skill(directory, SkillSource.USER, None, Trust(Path(os.devnull)))
    problems = list(parsed.problems)
    if parsed.skill is not None:
        text = parsed.skill.file.read_text(encoding="utf-8-sig")
        problems += _missing_files(directory, text)
        if parsed.skill.description == TEMPLATE_DESCRIPTION:
            line = text[: text.index(TEMPLATE_DESCRIPTION)].count("\n") + 1
            message = "the description is still the template's"
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
        return "is outside the skill's folder"
    return "" if path.exists() else "does not exist"
