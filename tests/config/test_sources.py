"""Which sources are found, which are ignored, and which one set a value."""

import subprocess
import sys
from pathlib import Path

import pytest

from coder_tui.config.paths import Directories
from coder_tui.config.settings_file import SettingsFile
from coder_tui.config.sources import RawTable, Sources, find_sources, origin_of, quick_value
from coder_tui.protocol.errors import ConfigError


def _find(
    root: Path,
    environ: dict[str, str] | None = None,
    flags: RawTable | None = None,
    config: Path | None = None,
) -> Sources:
    directories = Directories(root, root, root, root)
    return find_sources(directories, root / "project", environ or {}, flags or {}, config)


def test_without_anything_there_are_no_sources(tmp_path: Path) -> None:
    assert _find(tmp_path) == Sources()


def test_the_user_file_may_be_json(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text('{"ui": {"theme": "a"}}')
    assert _find(tmp_path).file == SettingsFile(path, '{"ui": {"theme": "a"}}', {"ui": {"theme": "a"}})


def test_two_user_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "config.toml").write_text("")
    with pytest.raises(ConfigError) as caught:
        _find(tmp_path)
    assert (
        str(caught.value) == f"{tmp_path}/config.toml and {tmp_path}/config.json both exist; keep one of them"
    )


def test_a_named_file_replaces_the_user_file_and_must_exist(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("broken =")
    other = tmp_path / "other.toml"
    with pytest.raises(ConfigError) as caught:
        _find(tmp_path, config=other)
    assert str(caught.value) == f"--config: the file {other} does not exist"
    other.write_text("[ui]")
    assert _find(tmp_path, config=other).file == SettingsFile(other, "[ui]", {"ui": {}})


def test_a_project_file_that_is_not_trusted_sets_nothing_and_is_reported(tmp_path: Path) -> None:
    project = tmp_path / "project/.coder-tui"
    project.mkdir(parents=True)
    (project / "config.toml").write_text("not TOML at all")

    sources = _find(tmp_path)

    assert sources.project_values == {}
    warning, broken = sources.warnings
    assert warning == (
        "found .coder-tui/config.toml, not used: this folder is not trusted; "
        "run 'coder-tui trust' to see what it would do and to decide"
    )
    assert "config.toml:1:5: not valid TOML" in broken


def test_folder_variables_empty_ones_and_foreign_ones_are_not_settings(tmp_path: Path) -> None:
    environ = {
        "CODER_TUI_DATA_DIR": "/d",
        "CODER_TUI_UI__THEME": "",
        "coder_tui_ui__motion": "1",
        "HOME": "/",
        "CODER_TUI_BASH__SHELL": "/bin/dash",
    }
    assert _find(tmp_path, environ).environ == {"CODER_TUI_BASH__SHELL": "/bin/dash"}


_FILE = SettingsFile(Path("/c.toml"), "[ui]\ntheme = 'file'\n", {"ui": {"theme": "file"}})


@pytest.mark.parametrize(
    ("sources", "value", "origin"),
    [
        (Sources(), None, "default"),
        (Sources(file=_FILE), "file", "/c.toml:2"),
        (Sources(_FILE, {"CODER_TUI_UI": '{"theme": "json"}'}), "json", "CODER_TUI_UI"),
        (Sources(_FILE, {"CODER_TUI_UI": '{"motion": true}'}), "file", "/c.toml:2"),
        (
            Sources(_FILE, {"CODER_TUI_UI": '{"theme": "json"}', "CODER_TUI_UI__THEME": "variable"}),
            "variable",
            "CODER_TUI_UI__THEME",
        ),
        (Sources(_FILE, {"CODER_TUI_UI__THEME": "x"}, {"ui": {"theme": "flag"}}), "flag", "--theme"),
    ],
)
def test_the_stronger_source_gives_the_quick_value_and_the_origin(
    sources: Sources, value: object, origin: str
) -> None:
    assert (quick_value(sources, "ui", "theme"), origin_of(sources, "ui.theme")) == (value, origin)


def test_flags_with_special_names_are_called_by_them() -> None:
    flags = {
        "model": {"name": "x", "api_base": "y"},
        "limits": {"max_steps": 1},
        "workspace": {"extra_roots": ["a"]},
    }
    paths = [
        ("model", "name"),
        ("model", "api_base"),
        ("limits", "max_steps"),
        ("workspace", "extra_roots", 0),
    ]
    assert [origin_of(Sources(flags=flags), path) for path in paths] == [
        "--model",
        "--api-base",
        "--max-turns",
        "--add-dir",
    ]


def test_finding_sources_loads_no_validation_library() -> None:
    code = (
        "import sys, coder_tui.config.sources; print('pydantic' in sys.modules, 'rapidfuzz' in sys.modules)"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout == "False False\n"
