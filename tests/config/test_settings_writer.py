"""Change one value in the user's settings file: everything else is unchanged."""

from pathlib import Path

import pytest

from coder_tui.config.write import save_setting, settings_file_in
from coder_tui.protocol.errors import ConfigError

TOML = """# mine
[ui]  # colours
theme = "nord"   # for the evening

[limits]
max_steps = 7
"""


def test_a_value_is_changed_and_every_comment_stays(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text(TOML)
    file.chmod(0o640)
    assert save_setting(file, "ui", "theme", "gruvbox") == file
    assert file.read_text() == TOML.replace('"nord"', '"gruvbox"')
    assert file.stat().st_mode & 0o777 == 0o640


def test_a_missing_section_and_a_missing_file_are_created(tmp_path: Path) -> None:
    file = tmp_path / "new" / "config.toml"
    save_setting(file, "ui", "theme", "nord")
    assert file.read_text() == '[ui]\ntheme = "nord"\n'
    assert file.stat().st_mode & 0o777 == 0o600


def test_json_is_kept_as_json(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text('{"limits": {"max_steps": 7}}')
    save_setting(file, "ui", "theme", "nord")
    assert file.read_text() == (
        '{\n  "limits": {\n    "max_steps": 7\n  },\n  "ui": {\n    "theme": "nord"\n  }\n}\n'
    )


def test_a_file_with_a_mistake_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("[ui]\nthem = 3\n")
    with pytest.raises(ConfigError):
        save_setting(file, "ui", "theme", "nord")
    assert file.read_text() == "[ui]\nthem = 3\n"


def test_two_settings_files_are_refused(tmp_path: Path) -> None:
    assert settings_file_in(tmp_path) == tmp_path / "config.toml"
    (tmp_path / "config.json").write_text("{}")
    assert settings_file_in(tmp_path) == tmp_path / "config.json"
    (tmp_path / "config.toml").write_text("")
    with pytest.raises(ConfigError, match="both exist"):
        settings_file_in(tmp_path)
