"""Skills on disk, as people write them."""

from collections.abc import Callable, Sequence
from pathlib import Path

from coder_tui.config.trust import Trust
from coder_tui.policy.rules import Effect
from coder_tui.policy.targets import Action, Verdict
from coder_tui.skills.discover import Root, Search
from coder_tui.skills.session_skills import SessionSkills, open_nothing


def put_skill(root: Path, name: str, description: str = "Does things.", body: str = "Do it.") -> Path:
    """Write `root/name/SKILL.md`; returns the skill's folder."""
    folder = root / name
    folder.mkdir(parents=True, exist_ok=True)
    text = f"---\nname: {Path(name).name}\ndescription: {description}\n---\n{body}\n"
    (folder / "SKILL.md").write_text(text, encoding="utf-8")
    return folder


def session_skills_of(
    *roots: Root,
    denied: Sequence[str] = (),
    trust: Trust | None = None,
    allow_reading: Callable[[Path], None] = open_nothing,
    held: Callable[[], tuple[str, ...]] | None = None,
) -> SessionSkills:
    """What lies below the roots; skills of these names are denied."""
    known = trust or Trust(Path("/nowhere/trust.json"))

    def decide_on(action: Action) -> Verdict:
        is_denied = any(target.value in denied for target in action.targets)
        return Verdict(Effect.DENY if is_denied else Effect.ASK, "skill 'x' = deny", "config.toml:2")

    search = Search(roots, lambda: known)
    return SessionSkills(search, search.look(), decide_on, allow_reading, held)
