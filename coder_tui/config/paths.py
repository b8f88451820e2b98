"""Find the program's folders. One variable moves each of them."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from platformdirs import PlatformDirs

from coder_tui.protocol.errors import ConfigError, StorageError

CONFIG_VARIABLE = "CODER_TUI_CONFIG_DIR"
DATA_VARIABLE = "CODER_TUI_DATA_DIR"
CACHE_VARIABLE = "CODER_TUI_CACHE_DIR"
DIRECTORY_VARIABLES = frozenset({CONFIG_VARIABLE, DATA_VARIABLE, CACHE_VARIABLE})


@dataclass(frozen=True, slots=True)
class Directories:
    """The program's folders. None of them is in a workspace."""

    config: Path
    data: Path
    cache: Path
    log: Path

    @property
    def database(self) -> Path:
        return self.data / "sessions.db"

    @property
    def unsent(self) -> Path:
        """Text that was typed in sessions and not sent yet."""
        return self.data / "unsent"

    @property
    def pictures(self) -> Path:
        """Pictures from the clipboard. They are removed when this process ends."""
        return self.cache / "pictures" / str(os.getpid())

    def ensure(self) -> None:
        """Create the folders that the program writes to. The user creates the settings folder."""
        _ensure_private(self.data, "data", DATA_VARIABLE)
        _ensure_private(self.cache, "cache", CACHE_VARIABLE)
        _ensure_private(self.log, "log", DATA_VARIABLE)


def find_directories(environ: Mapping[str, str]) -> Directories:
    """Return the platform's folders (XDG variables apply), unless one of our variables names another."""
    dirs = PlatformDirs("coder-tui", appauthor=False)
    data = _override(environ, DATA_VARIABLE)
    return Directories(
        config=_override(environ, CONFIG_VARIABLE) or dirs.user_config_path,
        data=data or dirs.user_data_path,
        cache=_override(environ, CACHE_VARIABLE) or dirs.user_cache_path,
        log=data / "log" if data else dirs.user_log_path,
    )


def display_path(path: Path) -> str:
    """Format a path with `~` for the home folder."""
    try:
        home = str(Path.home())
    except RuntimeError:  # a user without a home folder
        return str(path)
    text = str(path)
    return f"~{text[len(home) :]}" if home != "/" and text.startswith(f"{home}/") else text


def _override(environ: Mapping[str, str], variable: str) -> Path | None:
    value = environ.get(variable, "")
    if not value:
        return None
    try:
        return Path(value).expanduser().absolute()
    except RuntimeError as error:
        raise ConfigError(f"{variable}: no home folder is known for {value}; use an absolute path") from error


def _ensure_private(path: Path, purpose: str, variable: str) -> None:
    # A folder that exists keeps its mode: the variable may name one that others share.
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(_refusal(path, purpose, variable, error.strerror or str(error))) from error
    if not os.access(path, os.W_OK | os.X_OK):
        raise StorageError(_refusal(path, purpose, variable, "no permission to write"))


def _refusal(path: Path, purpose: str, variable: str, reason: str) -> str:
    return (
        f"cannot use the {purpose} directory {display_path(path)}: {reason}; "
        f"make it writable or set {variable} to another folder"
    )
