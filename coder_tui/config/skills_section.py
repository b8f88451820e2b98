"""Settings of the folders that skills are looked for in."""

from pathlib import PurePath
from typing import Annotated

from pydantic import AfterValidator

from coder_tui.config.section import Section


def _whole_path(path: str) -> str:
    # From the workspace a relative one would lead into whatever project is open, trusted or not.
    if not (PurePath(path).is_absolute() or path.startswith("~/")):
        raise ValueError("must be a whole path, such as ~/skills or /srv/skills")
    return path


class SkillsSection(Section):
    """Further folders, searched after the person's own; the later wins. A project must never set them."""

    paths: tuple[Annotated[str, AfterValidator(_whole_path)], ...] = ()
