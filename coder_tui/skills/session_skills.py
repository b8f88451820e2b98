"""The skills of one session: which there are, which may be used, which are loaded.

What a model always sees of skills: name and description, so that it knows when to load one.

Which skills a person's message calls: by `/name` at its beginning, or by naming one in a sentence.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from coder_tui.config.trust import Trust
from coder_tui.policy.model import Action, Verdict
from coder_tui.policy.rules import Effect
from coder_tui.protocol.access import Target, TargetKind, ToolKind
from coder_tui.skills.discover import SKIPPED, Found, Search
from coder_tui.skills.skill import SKILL_FILE, Skill

PERMISSION = "skill"
MOST_FILES = 200


class SkillError(Exception):
    """A skill cannot be loaded any more; the sentence says why."""


@dataclass(frozen=True, slots=True)
class LoadedSkill:
    """`files` lie in the skill's folder, by their relative names."""

    skill: Skill
    files: tuple[str, ...]

    @property
    def text(self) -> str:
        """What a model gets to read."""
        listed = "\n".join(f"- {name}" for name in self.files) or "none"
        lines = (
            f'<skill name="{self.skill.name}" directory="{self.skill.directory}">',
            self.skill.body,
            "",
            "Files beside it, relative to that directory; read them when the text sends you there:",
            listed,
            "</skill>",
        )
        return "\n".join(lines)


def using(name: str) -> Action:
    """What policy is asked about: the use of one skill, by its name."""
    return Action(PERMISSION, PERMISSION, ToolKind.READ, (Target(TargetKind.NAME, name),))


def opens_nothing(folder: Path) -> None:
    """For where nothing is run."""


class SkillShelf:
    """`found` is what there is now; `let_read` opens a loaded skill's folder for reading."""

    def __init__(
        self,
        search: Search,
        found: Found,
        decide_on: Callable[[Action], Verdict],
        let_read: Callable[[Path], None],
    ) -> None:
        self.found = self._first = found
        self._search = search
        self._decide_on = decide_on
        self._let_read = let_read
        self._memory: list[str] = []
        self._held: Callable[[], tuple[str, ...]] = lambda: tuple(self._memory)

    def refresh(self) -> None:
        """Look again: a skill may have been written meanwhile. Blocks."""
        found = self._search.look()
        if found != self.found:
            self.found = found

    def follow(self, held: Callable[[], tuple[str, ...]]) -> None:
        """From now on a conversation tells what is loaded: some of it may be undone, or forgotten."""
        self._held = held
        for name in held():
            if (skill := self.find(name)) is not None and not self.is_denied(name):
                self._let_read(skill.directory)

    def find(self, name: str) -> Skill | None:
        return next((skill for skill in self.found.skills if skill.name == name), None)

    def verdict(self, name: str) -> Verdict:
        return self._decide_on(using(name))

    def is_denied(self, name: str) -> bool:
        return self.verdict(name).effect is Effect.DENY

    def offered(self) -> tuple[Skill, ...]:
        """Those that the model is told of: as the session began, for its prompt must stay the same."""
        return self._for_model(self._first)

    def available(self) -> tuple[Skill, ...]:
        """Those that the model may load now."""
        return self._for_model(self.found)

    def _for_model(self, found: Found) -> tuple[Skill, ...]:
        return tuple(skill for skill in found.skills if skill.is_for_model and not self.is_denied(skill.name))

    def callable_by_person(self) -> tuple[Skill, ...]:
        return tuple(skill for skill in self.found.skills if not self.is_denied(skill.name))

    def loaded(self) -> tuple[str, ...]:
        """The names of what the conversation holds, in order: what compaction must keep."""
        return self._held()

    def is_loaded(self, name: str) -> bool:
        return name in self.loaded()

    def load(self, skill: Skill) -> LoadedSkill:
        """Read it as it is now, and remember it. Blocks."""
        parsed = self._search.read(skill)
        if parsed.skill is None:
            raise SkillError("; ".join(map(str, parsed.problems)))
        # It was offered and cleared by this name, whatever its file says meanwhile.
        fresh = replace(parsed.skill, name=skill.name)
        self._memory.append(fresh.name)
        self._let_read(fresh.directory)
        return LoadedSkill(fresh, tuple(skill_files(fresh.directory)))


def no_skills() -> SkillShelf:
    """For sessions that need none."""
    denied = Verdict(Effect.DENY, "no skills", "built-in")
    search = Search((), lambda: Trust(Path(os.devnull)))
    return SkillShelf(search, Found(), lambda action: denied, opens_nothing)


def skill_files(directory: Path) -> Iterator[str]:
    """What lies beside the instructions, at most so many; links are not followed."""
    count = 0
    for place, folders, names in os.walk(directory):
        folders[:] = sorted(name for name in folders if name not in SKIPPED)
        for name in sorted(names):
            path = Path(place, name)
            if path == directory / SKILL_FILE or path.is_symlink():
                continue
            count += 1
            if count > MOST_FILES:
                yield f"… (more than {MOST_FILES}; look with list)"
                return
            yield os.fsencode(path.relative_to(directory)).decode(errors="replace")


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
