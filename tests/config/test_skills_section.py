"""Folders of skills are whole paths: a relative one would lead into any project that is open."""

import pytest
from pydantic import ValidationError

from coder_tui.config.sections import SkillsSection


def test_whole_paths_are_taken_as_they_are() -> None:
    assert SkillsSection(paths=("~/skills", "/srv/skills")).paths == ("~/skills", "/srv/skills")


@pytest.mark.parametrize("path", ["skills", "./skills", "../skills", "", "~other/skills"])
def test_a_relative_path_is_refused(path: str) -> None:
    with pytest.raises(ValidationError, match="must be a whole path"):
        SkillsSection(paths=(path,))
