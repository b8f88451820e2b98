"""Reads one settings file and remembers which line each key stands on."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from coder_tui.config.paths import display_path
from coder_tui.config.toml_lines import KeyPath, toml_lines
from coder_tui.protocol.errors import ConfigError

_LARGEST = 1_000_000
_POSITION = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


@dataclass(frozen=True, slots=True)
class SettingsFile:
    path: Path
    text: str
    values: Mapping[str, object]

    @property
    def label(self) -> str:
        return display_path(self.path)

    def place(self, path: KeyPath) -> str:
        """Name the file and the line of `path`, or of the closest thing around it."""
        return f"{self.label}:{self.line(path)}"

    def line(self, path: KeyPath) -> int:
        lines = _lines(self.text, is_json=_is_json(self.path))
        while path and path not in lines:
            path = path[:-1]
        return lines.get(path, 1)


def read_settings_file(path: Path) -> SettingsFile | None:
    """Read and parse; None where there is no such file. The name tells JSON from TOML."""
    data = _read(path)
    return None if data is None else parse_settings(path, data)


def parse_settings(path: Path, data: bytes) -> SettingsFile:
    """Parse what was read from `path`."""
    text = _decoded(path, data)
    try:
        values = _parse_json(path, text) if _is_json(path) else _parse_toml(path, text)
    except RecursionError as error:
        raise ConfigError(f"{display_path(path)}: nested too deeply") from error
    return SettingsFile(path, text, values)


def _read(path: Path) -> bytes | None:
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ConfigError(f"cannot read {display_path(path)}: {error.strerror or error}") from error
    return data


def _decoded(path: Path, data: bytes) -> str:
    if len(data) > _LARGEST:
        raise ConfigError(f"{display_path(path)} is larger than {_LARGEST} bytes: not a settings file")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise ConfigError(f"{display_path(path)}:{line}: not UTF-8 text") from error


def _parse_toml(path: Path, text: str) -> dict[str, object]:
    try:
        return tomllib.loads(text)
    except ValueError as error:  # also a number too long to convert, which the parser lets through as itself
        reason = str(error)
        position = _POSITION.search(reason)
        line, column = _toml_position(text, position)
        reason = reason[: position.start()] if position else reason
        raise ConfigError(
            f"{display_path(path)}:{line}:{column}: not valid TOML: {_lowered(reason)}"
        ) from error


def _toml_position(text: str, position: re.Match[str] | None) -> tuple[int, int]:
    if position is None:
        return 1, 1
    if position[1] is None:
        return text.count("\n") + 1, len(text) - (text.rfind("\n") + 1) + 1
    return int(position[1]), int(position[2])


def _parse_json(path: Path, text: str) -> dict[str, object]:
    import json  # the first paint reads TOML, if anything

    try:
        values: object = json.loads(text)
    except json.JSONDecodeError as error:
        place = f"{display_path(path)}:{error.lineno}:{error.colno}"
        raise ConfigError(f"{place}: not valid JSON: {_lowered(error.msg)}") from error
    except ValueError as error:
        raise ConfigError(f"{display_path(path)}:1:1: not valid JSON: {_lowered(str(error))}") from error
    if not isinstance(values, dict):
        raise ConfigError(f"{display_path(path)}:1: must be a JSON object")
    return values


def _is_json(path: Path) -> bool:
    return path.suffix == ".json"


def _lowered(reason: str) -> str:
    return reason[:1].lower() + reason[1:]


@lru_cache(maxsize=4)
def _lines(text: str, *, is_json: bool) -> dict[KeyPath, int]:
    if not is_json:
        return toml_lines(text)
    from coder_tui.config.json_lines import json_lines

    return json_lines(text)
