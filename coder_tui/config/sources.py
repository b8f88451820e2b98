"""Find the raw settings and the source of each, without the cost of a validation library."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from coder_tui.config.paths import DIRECTORY_VARIABLES, Directories
from coder_tui.config.settings_file import KeyPath, SettingsFile, read_settings_file
from coder_tui.protocol.errors import ConfigError

if TYPE_CHECKING:  # most folders have no settings, and the first paint must not wait for this
    from coder_tui.config.project_settings import ProjectSettings

PREFIX = "CODER_TUI_"
PROJECT_FOLDER = ".coder-tui"
"""The folder of a project's own settings."""
DEFAULT_ORIGIN = "default"

# Flags that differ from the last part of their key.
_FLAG_NAMES: Mapping[KeyPath, str] = {
    ("model", "name"): "--model",
    ("limits", "max_steps"): "--max-turns",
    ("workspace", "extra_roots"): "--add-dir",
}

RawTable = Mapping[str, object]
"""Settings as given by a file or a flag: nested tables, unchecked."""


@dataclass(frozen=True, slots=True)
class Sources:
    """Everything that can set a value, weakest first: `file`, a trusted `project`, `environ`, `flags`."""

    file: SettingsFile | None = None
    environ: Mapping[str, str] = field(default_factory=dict)
    """Only the variables that are settings."""
    flags: RawTable = field(default_factory=dict)
    project: "ProjectSettings | None" = None

    @property
    def warnings(self) -> tuple[str, ...]:
        return self.project.warnings if self.project else ()

    @property
    def project_values(self) -> RawTable:
        """What the project may set. Empty until it is trusted."""
        return self.project.values if self.project else {}


def find_sources(
    directories: Directories,
    workspace: Path,
    environ: Mapping[str, str],
    flags: RawTable,
    config_file: Path | None = None,
) -> Sources:
    """Read all sources. `config_file` replaces the user's file, and must exist if given."""
    return Sources(
        file=_required_file(config_file) if config_file else _user_file(directories.config),
        environ={name: value for name, value in environ.items() if _is_setting(name, value)},
        flags=flags,
        project=_project_settings(workspace, directories),
    )


def _project_settings(workspace: Path, directories: Directories) -> "ProjectSettings | None":
    if not os.path.lexists(workspace / PROJECT_FOLDER):
        return None
    from coder_tui.config.project_settings import find_project_settings
    from coder_tui.config.trust import Trust

    return find_project_settings(workspace, Trust.load(directories))


class Layer(IntEnum):
    """The strength of a source."""

    DEFAULT = 0
    FILE = 1
    PROJECT = 2
    ENVIRON = 3
    FLAGS = 4


def layer_of(sources: Sources, path: KeyPath) -> Layer:
    """Return the strongest source that sets `path` or something in it."""
    return _find(sources, path)[0]


def quick_value(sources: Sources, *keys: str) -> object | None:
    """Look up one value, unchecked, which is enough for the first paint."""
    return _find(sources, keys)[1]


def _find(sources: Sources, path: KeyPath) -> tuple[Layer, object | None]:
    variable = variable_of(sources, path)
    environ = _parsed(sources.environ[variable]) if variable else {}
    for layer, table, rest in (
        (Layer.FLAGS, sources.flags, path),
        (Layer.ENVIRON, environ, path[len(variable_path(variable)) :] if variable else path),
        (Layer.PROJECT, sources.project_values, path),
        (Layer.FILE, sources.file.values if sources.file else {}, path),
    ):
        found, value = _look_up(table, rest)
        if found:
            return layer, value
    return Layer.DEFAULT, None


def origin_of(sources: Sources, key: str | KeyPath) -> str:
    """Return what set a key (dotted or in parts): a flag, a variable, `file:line`, or `default`."""
    path = tuple(key.split(".")) if isinstance(key, str) else key
    match layer_of(sources, path):
        case Layer.FLAGS:
            return flag_name(path)
        case Layer.ENVIRON:
            return variable_of(sources, path)
        case Layer.PROJECT:
            return sources.project.place(path) if sources.project else DEFAULT_ORIGIN
        case Layer.FILE:
            return sources.file.place(path) if sources.file else DEFAULT_ORIGIN
        case Layer.DEFAULT:
            return DEFAULT_ORIGIN
        case never:
            assert_never(never)


def flag_name(path: KeyPath) -> str:
    key = path[:2]
    return _FLAG_NAMES.get(key) or f"--{str(key[-1]).replace('_', '-')}"


def variable_of(sources: Sources, path: KeyPath) -> str:
    """Return the closest variable that sets `path` or something in it, or an empty string."""
    names = [name for name, value in sources.environ.items() if _sets(variable_path(name), value, path)]
    return max(names, key=lambda name: min(len(variable_path(name)), len(path)), default="")


def variable_path(name: str) -> KeyPath:
    return tuple(name[len(PREFIX) :].lower().split("__"))


def _is_setting(name: str, value: str) -> bool:
    # An empty variable counts as unset: that is how shells and CI systems clear one.
    return name.startswith(PREFIX) and name not in DIRECTORY_VARIABLES and value != ""


def _sets(keys: KeyPath, value: str, path: KeyPath) -> bool:
    if keys[: len(path)] == path:
        return True
    return keys == path[: len(keys)] and _look_up(_parsed(value), path[len(keys) :])[0]


def _parsed(value: str) -> object:
    """Parse a variable that holds a whole table as JSON."""
    if not value.startswith("{"):
        return value
    import json  # rarely needed, and not free

    try:
        parsed: object = json.loads(value)
        return parsed
    except ValueError:
        return value


def _look_up(table: object, path: KeyPath) -> tuple[bool, object]:
    for key in path:
        match table, key:
            case Mapping(), str() if key in table:
                table = table[key]
            case list(), int() if key < len(table):
                table = table[key]
            case _:
                return False, None
    return True, table


def _user_file(directory: Path) -> SettingsFile | None:
    found = [
        file for name in ("config.toml", "config.json") if (file := read_settings_file(directory / name))
    ]
    if len(found) > 1:
        raise ConfigError(f"{found[0].label} and {found[1].label} both exist; keep one of them")
    return found[0] if found else None


def _required_file(path: Path) -> SettingsFile:
    found = read_settings_file(path)
    if found is None:
        raise ConfigError(f"--config: the file {path} does not exist")
    return found
