"""Skills on disk, as people write them."""

from pathlib import Path


def put_skill(root: Path, name: str, description: str = "Does things.", body: str = "Do it.") -> Path:
    """Write `root/name/SKILL.md`; returns the skill's folder."""
    folder = root / name
    folder.mkdir(parents=True, exist_ok=True)
    text = f"---\nname: {Path(name).name}\ndescription: {description}\n---\n{body}\n"
    (folder / "SKILL.md").write_text(text, encoding="utf-8")
    return folder
