"""Folders of skills are absolute paths: a relative one would lead into the open project."""

import pytest
from pydantic import ValidationError

from coder_tui.config.sections import SkillsSection


def test_absolute_paths_are_kept() -> None:
    assert SkillsSection(paths=("~/skills", "/srv/skills")).paths == ("~/skills", "/srv/skills")


@pytest.mark.parametrize("path", ["skills", "./skills", "../skills", "", "~other/skills"])
def test_a_relative_path_is_refused(path: str) -> None:
    with pytest.raises(ValidationError, match="must be an absolute path"):
        SkillsSection(paths=(path,))
