"""The skills of one session: which exist, which may be used, which are loaded.

The model always sees their names and descriptions, so that it knows when to load one. The user calls one by
`/name` at the start of a message, or by naming it in a sentence. The list of skills in the system prompt is
written here, with descriptions cut to a limit.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path

from coder_tui.policy.rules import Effect
from coder_tui.policy.targets import Action, Verdict
from coder_tui.protocol.access import Target, TargetKind, ToolKind
from coder_tui.skills.discover import SKIPPED, FoundSkills, Search
from coder_tui.skills.skill import SKILL_FILE, Skill

PERMISSION = "skill"
MOST_FILES = 200


class SkillError(Exception):
    """A skill can no longer be loaded; the message says why."""


@dataclass(frozen=True, slots=True)
class LoadedSkill:
    """`files` are the relative paths of the files in the skill's folder."""

    skill: Skill
    files: tuple[str, ...]

    @property
    def text(self) -> str:
        """The text for the model."""
        listed = "\n".join(f"- {name}" for name in self.files) or "none"
        lines = (
            f'<skill name="{self.skill.name}" directory="{self.skill.directory}">',
            self.skill.body,
            "",
            "Files in that directory; read them when the text refers to them:",
            listed,
            "</skill>",
        )
        return "\n".join(lines)


def skill_action(name: str) -> Action:
    """Return the action that policy decides on: the use of a skill."""
    return Action(PERMISSION, PERMISSION, ToolKind.READ, (Target(TargetKind.NAME, name),))


def open_nothing(folder: Path) -> None:
    """Do nothing: for callers that run nothing."""


class SessionSkills:
    """`found` are the present skills; `allow_reading` permits reading a loaded skill's folder."""

    def __init__(
        self,
        search: Search,
        found: FoundSkills,
        decide_on: Callable[[Action], Verdict],
        allow_reading: Callable[[Path], None],
        held: Callable[[], tuple[str, ...]] | None = None,
    ) -> None:
        """`held` returns the skills in the conversation: a loaded one may have been undone or compacted."""
        self.found = self._first = found
        self._search = search
        self._decide_on = decide_on
        self._allow_reading = allow_reading
        self._memory: list[str] = []
        self._held = held or (lambda: tuple(self._memory))
        for name in self._held():
            if (skill := self.find(name)) is not None and not self.is_denied(name):
                self._allow_reading(skill.directory)

    def refresh(self) -> None:
        """Search again: a skill may have been added or changed. Blocks."""
        found = self._search.look()
        if found != self.found:
            self.found = found

    def find(self, name: str) -> Skill | None:
        return next((skill for skill in self.found.skills if skill.name == name), None)

    def verdict(self, name: str) -> Verdict:
        return self._decide_on(skill_action(name))

    def is_denied(self, name: str) -> bool:
        return self.verdict(name).effect is Effect.DENY

    def offered(self) -> tuple[Skill, ...]:
        """Return the skills in the system prompt: those at the start, so that the prompt stays the same."""
        return self._for_model(self._first)

    def available(self) -> tuple[Skill, ...]:
        """Return the skills that the model may load now."""
        return self._for_model(self.found)

    def _for_model(self, found: FoundSkills) -> tuple[Skill, ...]:
        return tuple(skill for skill in found.skills if skill.is_for_model and not self.is_denied(skill.name))

    def callable_by_user(self) -> tuple[Skill, ...]:
        return tuple(skill for skill in self.found.skills if not self.is_denied(skill.name))

    def loaded(self) -> tuple[str, ...]:
        """Return the names of the skills in the conversation, in order; compaction must keep them."""
        return self._held()

    def is_loaded(self, name: str) -> bool:
        return name in self.loaded()

    def load(self, skill: Skill) -> LoadedSkill:
        """Read a skill as it is now, and remember it. Blocks."""
        parsed = self._search.read(skill)
        if parsed.skill is None:
            raise SkillError("; ".join(map(str, parsed.problems)))
        # It was offered and approved by this name, even if its file has another by now.
        fresh = replace(parsed.skill, name=skill.name)
        self._memory.append(fresh.name)
        self._allow_reading(fresh.directory)
        return LoadedSkill(fresh, tuple(skill_files(fresh.directory)))


def skill_files(directory: Path) -> Iterator[str]:
    """Yield a bounded number of files in a skill's folder; links are not followed."""
    count = 0
    for place, folders, names in os.walk(directory):
        folders[:] = sorted(name for name in folders if name not in SKIPPED)
        for name in sorted(names):
            path = Path(place, name)
            if path == directory / SKILL_FILE or path.is_symlink():
                continue
            count += 1
            if count > MOST_FILES:
                yield f"… (more than {MOST_FILES}; use list to see all)"
                return
            yield os.fsencode(path.relative_to(directory)).decode(errors="replace")


LONGEST_DESCRIPTION = 400
LONGEST_SKILL_LIST = 12_000
_HEADING = (
    "Skills are instructions for particular kinds of work. If a request fits one of these descriptions, "
    'load it first with the tool `skill` (action "load"), and follow it.'
)


def skill_list_text(skills: Iterable[Skill]) -> str:
    """Return the system prompt's part about skills, always the same for the same skills, or ""."""
    lines = [f"- {skill.name}: {_shortened(skill.description)}" for skill in skills]
    if not lines:
        return ""
    kept: list[str] = []
    room = LONGEST_SKILL_LIST
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            kept.append(f'({len(lines) - len(kept)} more: use the tool `skill`, action "list")')
            break
        kept.append(line)
    return "\n".join(["<skills>", _HEADING, *kept, "</skills>"])


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_DESCRIPTION else text[: LONGEST_DESCRIPTION - 1] + "…"


MOST_TEXT = 20_000
"""Characters in which names are searched: longer text was pasted, and names nothing on purpose."""
_SLASH = re.compile(r"\s*/([A-Za-z0-9][\w-]*)(?=\s|$)")
_QUOTE = "[`'\"“”‘’«»]?"


def called_by_slash(text: str, skills: Iterable[Skill]) -> Skill | None:
    """Return the skill of a message such as `/commit the parser only`."""
    match = _SLASH.match(text)
    if match is None:
        return None
    # If two names differ only in case, the one typed exactly wins.
    alike = sorted(
        (skill for skill in skills if skill.name.lower() == match[1].lower()), key=attrgetter("name")
    )
    return next((skill for skill in alike if skill.name == match[1]), alike[0] if alike else None)


def named_in(text: str, skills: Iterable[Skill]) -> tuple[Skill, ...]:
    """Return the skills named as "the code-review skill" or "skill debug".

    Only the user's own: a project chooses its names, and could choose a word that people use anyway.
    """
    text = text[:MOST_TEXT]
    lowered = text.lower()
    if "skill" not in lowered:
        return ()
    own = (skill for skill in skills if skill.source.is_own and skill.name.lower() in lowered)
    return tuple(skill for skill in own if _names(text, skill.name))


def may_call(text: str) -> bool:
    """Return whether a message may call a skill; most do not."""
    return _SLASH.match(text) is not None or "skill" in text[:MOST_TEXT].lower()


def _names(text: str, name: str) -> bool:
    quoted = f"{_QUOTE}{re.escape(name)}{_QUOTE}"
    pattern = rf"(?<![\w/.-]){quoted}\s+skill\b|\bskill\s+{quoted}(?![\w/-])"
    return re.search(pattern, text, re.IGNORECASE) is not None
