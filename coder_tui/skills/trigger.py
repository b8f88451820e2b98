"""Which skills a person's message calls: by `/name` at its beginning, or by naming one in a sentence."""

import re
from collections.abc import Iterable

from coder_tui.skills.skill import Skill

MOST_TEXT = 20_000
"""Characters in which names are looked for: what is longer was pasted, and names nothing on purpose."""
_SLASH = re.compile(r"\s*/([A-Za-z0-9][\w-]*)(?=\s|$)")
_QUOTE = "[`'\"“”‘’«»]?"


def called_by_slash(text: str, skills: Iterable[Skill]) -> Skill | None:
    """The skill of a message such as `/commit the parser only`."""
    match = _SLASH.match(text)
    if match is None:
        return None
    # Of two that differ in case only the one that was typed is meant.
    alike = sorted((skill for skill in skills if skill.name.lower() == match[1].lower()), key=_name)
    return next((skill for skill in alike if skill.name == match[1]), alike[0] if alike else None)


def named_in(text: str, skills: Iterable[Skill]) -> tuple[Skill, ...]:
    """Those named as "the code-review skill" or "skill debug". Only the person's own: a project chooses its
    names, and could wait for a word that people use anyway."""
    text = text[:MOST_TEXT]
    lowered = text.lower()
    if "skill" not in lowered:
        return ()
    own = (skill for skill in skills if skill.source.is_own and skill.name.lower() in lowered)
    return tuple(skill for skill in own if _names(text, skill.name))


def may_call(text: str) -> bool:
    """Whether it is worth a look: most messages call nothing."""
    return _SLASH.match(text) is not None or "skill" in text[:MOST_TEXT].lower()


def _name(skill: Skill) -> str:
    return skill.name


def _names(text: str, name: str) -> bool:
    quoted = f"{_QUOTE}{re.escape(name)}{_QUOTE}"
    pattern = rf"(?<![\w/.-]){quoted}\s+skill\b|\bskill\s+{quoted}(?![\w/-])"
    return re.search(pattern, text, re.IGNORECASE) is not None
