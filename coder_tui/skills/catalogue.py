"""What a model always sees of skills: name and description, so that it knows when to load one."""

from collections.abc import Iterable

from coder_tui.skills.skill import Skill

LONGEST_DESCRIPTION = 400
LONGEST_CATALOGUE = 12_000
_HEADING = (
    "Skills are instructions for particular kinds of work. When a request fits one of these descriptions, "
    'load it first with the tool `skill` (action "load"), and follow it.'
)


def catalogue_text(skills: Iterable[Skill]) -> str:
    """A part of the system prompt, the same bytes for the same skills; empty where there are none."""
    lines = [f"- {skill.name}: {_shortened(skill.description)}" for skill in skills]
    if not lines:
        return ""
    kept: list[str] = []
    room = LONGEST_CATALOGUE
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            kept.append(f'({len(lines) - len(kept)} more: the tool `skill`, action "list", names them)')
            break
        kept.append(line)
    return "\n".join(["<skills>", _HEADING, *kept, "</skills>"])


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_DESCRIPTION else text[: LONGEST_DESCRIPTION - 1] + "…"
