"""Says where the program keeps what it keeps, so that one variable moves each folder."""

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
    """The program's folders; none of them lies in a workspace."""

    config: Path
    data: Path
    cache: Path
    log: Path

    @property
    def database(self) -> Path:
        return self.data / "sessions.db"

    @property
    def unsent(self) -> Path:
        """What was typed in sessions and not sent yet."""
        return self.data / "unsent"

    @property
    def pictures(self) -> Path:
        """What this process took from the clipboard; it goes away with the process."""
        return self.cache / "pictures" / str(os.getpid())

    def ensure(self) -> None:
        """Create the folders the program writes to; the settings folder is the person's to create."""
        _ensure_private(self.data, "data", DATA_VARIABLE)
        _ensure_private(self.cache, "cache", CACHE_VARIABLE)
        _ensure_private(self.log, "log", DATA_VARIABLE)


def find_directories(environ: Mapping[str, str]) -> Directories:
    """Ask the platform (XDG variables hold), unless a variable of ours names another folder."""
    dirs = PlatformDirs("coder-tui", appauthor=False)
    data = _override(environ, DATA_VARIABLE)
    return Directories(
        config=_override(environ, CONFIG_VARIABLE) or dirs.user_config_path,
        data=data or dirs.user_data_path,
        cache=_override(environ, CACHE_VARIABLE) or dirs.user_cache_path,
        log=data / "log" if data else dirs.user_log_path,
    )


def display_path(path: Path) -> str:
    """Name a path as a person would, with `~` for the home folder."""
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
        raise ConfigError(f"{variable}: no home folder is known for {value}; name the whole path") from error


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
