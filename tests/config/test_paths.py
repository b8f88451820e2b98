"""The program's folders."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from coder_tui.config.paths import Directories, display_path, find_directories
from coder_tui.protocol.errors import ConfigError, StorageError


def test_platform_directories_follow_the_xdg_variables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if sys.platform == "darwin":
        pytest.skip("macOS has its own folders")
    for name in ("CONFIG", "DATA", "CACHE", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name))
    assert find_directories({}) == Directories(
        config=tmp_path / "CONFIG/coder-tui",
        data=tmp_path / "DATA/coder-tui",
        cache=tmp_path / "CACHE/coder-tui",
        log=tmp_path / "STATE/coder-tui/log",
    )


def test_own_variables_move_each_directory_and_the_log_goes_with_the_data(tmp_path: Path) -> None:
    environ = {
        "CODER_TUI_CONFIG_DIR": str(tmp_path / "c"),
        "CODER_TUI_DATA_DIR": str(tmp_path / "d"),
        "CODER_TUI_CACHE_DIR": str(tmp_path / "k"),
    }
    assert find_directories(environ) == Directories(
        tmp_path / "c", tmp_path / "d", tmp_path / "k", tmp_path / "d/log"
    )


def test_an_unknown_home_folder_is_a_config_error() -> None:
    with pytest.raises(ConfigError) as caught:
        find_directories({"CODER_TUI_DATA_DIR": "~no-such-user-here/x"})
    assert str(caught.value) == (
        "CODER_TUI_DATA_DIR: no home folder is known for ~no-such-user-here/x; use an absolute path"
    )


def _directories(root: Path) -> Directories:
    return Directories(root / "config", root / "data", root / "cache", root / "log")


def test_ensure_creates_private_directories_and_leaves_the_settings_folder(tmp_path: Path) -> None:
    directories = _directories(tmp_path / "new")
    directories.ensure()
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "new").iterdir()}
    assert modes == {"data": 0o700, "cache": 0o700, "log": 0o700}


def test_ensure_keeps_the_mode_of_a_directory_that_exists(tmp_path: Path) -> None:
    directories = _directories(tmp_path)
    directories.data.mkdir(mode=0o755)
    directories.ensure()
    assert stat.S_IMODE(directories.data.stat().st_mode) == 0o755


def test_a_data_directory_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    blocker = tmp_path / "file"
    blocker.write_text("")
    with pytest.raises(StorageError) as caught:
        _directories(blocker).ensure()
    assert str(caught.value) == (
        f"cannot use the data directory {blocker}/data: Not a directory; "
        "make it writable or set CODER_TUI_DATA_DIR to another folder"
    )


_FORKED = """
import os, sys
from pathlib import Path
from coder_tui.config.paths import Directories
from coder_tui.protocol.errors import StorageError
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
root = Path(sys.argv[1])
try:
    Directories(root, root, root, root).ensure()
except StorageError as error:
    print(error)
"""


def test_a_data_directory_without_write_permission_is_one_sentence() -> None:
    root = Path("/usr")
    done = subprocess.run(
        [sys.executable, "-c", _FORKED, str(root)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        check=True,
    )
    assert done.stdout == (
        "cannot use the data directory /usr: no permission to write; "
        "make it writable or set CODER_TUI_DATA_DIR to another folder\n"
    )


def test_display_path_shortens_only_paths_in_the_home_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    shown = [display_path(Path(path)) for path in ("/home/ada/x", "/home/ada2/x", "/home/ada", "/etc")]
    assert shown == ["~/x", "/home/ada2/x", "/home/ada", "/etc"]
