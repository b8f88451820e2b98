"""The skills of one session: which there are, which may be used, which are loaded."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from coder_tui.config.trust import Trust
from coder_tui.policy.action import Action, Verdict
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
