"""What there is to say of every skill that was found: used or not, and why.

Checks skills for those who write them: the format, and whether the files that a body names exist.

Begins a new skill: a folder with a `SKILL.md` that is right and wants to be filled.
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
from coder_tui.skills.discover import Found, Root, read_skill, skill_folders
from coder_tui.skills.session_skills import SkillShelf
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


def skill_rows(shelf: SkillShelf) -> tuple[SkillRow, ...]:
    """By name; a shadowed one right after the one that holds."""
    loaded = frozenset(shelf.loaded())
    rows = [*(_row(shelf, skill, loaded) for skill in shelf.found.skills), *_shadowed(shelf)]
    return tuple(sorted(rows, key=lambda row: (row.skill.name, row.state is SkillState.SHADOWED)))


def _row(shelf: SkillShelf, skill: Skill, loaded: frozenset[str]) -> SkillRow:
    if shelf.is_denied(skill.name):
        verdict = shelf.verdict(skill.name)
        return SkillRow(skill, SkillState.DENIED, f"{verdict.rule}, from {verdict.source}")
    if skill.name in loaded:
        return SkillRow(skill, SkillState.LOADED)
    return SkillRow(skill, SkillState.READY if skill.is_for_model else SkillState.YOURS)


def _shadowed(shelf: SkillShelf) -> Iterator[SkillRow]:
    for shadowed in shelf.found.shadowed:
        yield SkillRow(shadowed.skill, SkillState.SHADOWED, f"by {display_path(shadowed.by.file)}")


def skill_report(shelf: SkillShelf) -> tuple[str, ...]:
    """Lines for a person: the skills, then what is wrong."""
    rows = skill_rows(shelf)
    width = max((len(row.skill.name) for row in rows), default=0)
    lines = []
    for row in rows:
        note = f"  ({row.note})" if row.note else ""
        lines.append(f"  {row.skill.name:<{width}}  {row.skill.source:<12}  {row.state}{note}")
        if row.state is not SkillState.SHADOWED:
            lines.append(f"  {'':<{width}}  {row.skill.description}")
    count = len(shelf.found.skills)
    heading = (
        f"{count} {'skill' if count == 1 else 'skills'}; call one by /NAME, or by naming it in a message."
    )
    problems = [f"  {problem}" for problem in shelf.found.problems]
    return (heading, *lines, *(("Not as it should be:", *problems) if problems else ()))


def skill_warnings(found: Found) -> tuple[str, ...]:
    """What a person should know before the first turn, the first few; trust is asked for elsewhere."""
    wrong = [problem for problem in found.problems if problem.severity is Severity.ERROR]
    lines = [f"A skill is not used: {problem}" for problem in wrong[:MOST_WARNINGS]]
    if len(wrong) > MOST_WARNINGS:
        lines.append(f"{len(wrong) - MOST_WARNINGS} more skills are not used; /skills tells why.")
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
    """Make `root/name/SKILL.md`; returns the file. `UsageError` says what is in the way."""
    if not is_proper_name(name):
        rule = f"1 to {NAME_LIMIT} characters of a-z, 0-9 and single hyphens"
        raise UsageError(f"{name!r} cannot be the name of a skill: {rule}")
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
        raise UsageError(f"{display_path(folder)} exists already") from error
    except OSError as error:
        raise UsageError(f"cannot write {display_path(folder)}: {error.strerror or error}") from error
    return folder / SKILL_FILE


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
