"""What there is to say of every skill that was found: used or not, and why."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from coder_tui.config.paths import display_path
from coder_tui.skills.discover import Found
from coder_tui.skills.shelf import SkillShelf
from coder_tui.skills.skill import Severity, Skill

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
