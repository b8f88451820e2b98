"""Read one settings file, and find the line of each key, which the standard parsers do not report."""

import re
import tomllib
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from coder_tui.config.paths import display_path
from coder_tui.protocol.errors import ConfigError

KeyPath = tuple[str | int, ...]

_SIMPLE_ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", '"': '"', "\\": "\\"}
_UNICODE_ESCAPES = {"u": 4, "U": 8}


def toml_lines(text: str) -> dict[KeyPath, int]:
    """Map each key path (numbers are positions in lists) to its line. `text` must be valid."""
    return _Scanner(text).scan()


class _Scanner:
    """Scans a valid text, so it only needs to find where things begin and end."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._breaks = [index for index, character in enumerate(text) if character == "\n"]
        self._lines: dict[KeyPath, int] = {}
        self._counts: dict[KeyPath, int] = {}

    def scan(self) -> dict[KeyPath, int]:
        table: KeyPath = ()
        self._skip_blank()
        while self._at < len(self._text):
            if self._here() == "[":
                table = self._header()
            else:
                self._pair(table)
            self._skip_blank()
        return self._lines

    def _header(self) -> KeyPath:
        start = self._at
        is_list = self._text.startswith("[[", self._at)
        self._at += 2 if is_list else 1
        table: KeyPath = ()
        names = self._key("]")
        for name in names[:-1]:
            table = self._entered((*table, name), start)
        table = (*table, names[-1])
        if is_list:
            self._counts[table] = self._counts.get(table, -1) + 1
        self._at += 2 if is_list else 1
        return self._entered(table, start)

    def _entered(self, table: KeyPath, start: int) -> KeyPath:
        """Note a table. For a list of tables, enter its last one."""
        self._note(table, start)
        if table in self._counts:
            table = (*table, self._counts[table])
            self._note(table, start)
        return table

    def _pair(self, table: KeyPath) -> None:
        start = self._at
        path = table
        for name in self._key("="):
            path = (*path, name)
            self._note(path, start)
        self._at += 1
        self._skip_space()
        self._value(path)

    def _value(self, path: KeyPath) -> None:
        match self._here():
            case '"' | "'":
                self._string()
            case "[":
                self._list(path)
            case "{":
                self._inline_table(path)
            case _:
                self._skip_until(",]}\n#")

    def _list(self, path: KeyPath) -> None:
        self._at += 1
        self._skip_blank()
        place = 0
        while self._here() != "]":
            if self._here() == ",":
                self._at += 1
                place += 1
            else:
                self._note((*path, place), self._at)
                self._value((*path, place))
            self._skip_blank()
        self._at += 1

    def _inline_table(self, path: KeyPath) -> None:
        self._at += 1
        self._skip_blank()
        while self._here() != "}":
            if self._here() == ",":
                self._at += 1
            else:
                self._pair(path)
            self._skip_blank()
        self._at += 1

    def _key(self, end: str) -> list[str]:
        names: list[str] = []
        self._skip_space()
        while self._here() != end:
            if self._here() == ".":
                self._at += 1
            elif self._here() in "\"'":
                names.append(self._string())
            else:
                start = self._at
                self._skip_until(f" \t.{end}")
                names.append(self._text[start : self._at])
            self._skip_space()
        return names

    def _string(self) -> str:
        quote = self._here()
        mark = quote * 3 if self._text.startswith(quote * 3, self._at) else quote
        self._at += len(mark)
        parts: list[str] = []
        while not self._text.startswith(mark, self._at):
            parts.append(self._escape() if quote == '"' and self._here() == "\\" else self._here())
            self._at += 1
        self._at += len(mark)
        # Up to two quotes may come right before the three that end a long string.
        while len(mark) == 3 and self._here() == quote:
            self._at += 1
        return "".join(parts)

    def _escape(self) -> str:
        self._at += 1
        letter = self._here()
        width = _UNICODE_ESCAPES.get(letter, 0)
        if not width:
            return _SIMPLE_ESCAPES.get(letter, "")
        digits = self._text[self._at + 1 : self._at + 1 + width]
        self._at += width
        return chr(int(digits, 16))

    def _here(self) -> str:
        return self._text[self._at : self._at + 1]

    def _note(self, path: KeyPath, at: int) -> None:
        self._lines.setdefault(path, bisect_left(self._breaks, at) + 1)

    def _skip_space(self) -> None:
        while self._here() in {" ", "\t"}:
            self._at += 1

    def _skip_blank(self) -> None:
        while self._here() in {" ", "\t", "\r", "\n", "#"}:
            if self._here() == "#":
                self._skip_until("\n")
            else:
                self._at += 1

    def _skip_until(self, ends: str) -> None:
        while self._at < len(self._text) and self._text[self._at] not in ends:
            self._at += 1


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+|\n')


def json_lines(text: str) -> dict[KeyPath, int]:
    """Map each key path to its line, as `toml_lines` does. Not recursive: tables may be nested deeply."""
    import json  # the first paint only reads TOML

    lines: dict[KeyPath, int] = {}
    # One entry for each open bracket: the key or position of its next value.
    open_keys: list[str | int] = []
    last = ""
    line = 1
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token == "\n":
            line += 1
            continue
        if token == ":":
            open_keys[-1] = str(json.loads(last))
        if token not in "]}:,":
            _note_place(lines, open_keys, line)
        _follow_brackets(open_keys, token)
        if token == ":":
            lines.setdefault(tuple(open_keys), line)
        last = token
    return lines


def _note_place(lines: dict[KeyPath, int], open_keys: list[str | int], line: int) -> None:
    if open_keys and isinstance(open_keys[-1], int):
        lines.setdefault(tuple(open_keys), line)


def _follow_brackets(open_keys: list[str | int], token: str) -> None:
    match token:
        case "{":
            open_keys.append("")
        case "[":
            open_keys.append(0)
        case "}" | "]":
            open_keys.pop()
        case ",":
            place = open_keys[-1]
            if isinstance(place, int):
                open_keys[-1] = place + 1
        case _:
            pass


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
        """Return the file and line of `path`, or of the closest key around it."""
        return f"{self.label}:{self.line(path)}"

    def line(self, path: KeyPath) -> int:
        lines = _lines(self.text, is_json=_is_json(self.path))
        while path and path not in lines:
            path = path[:-1]
        return lines.get(path, 1)


def read_settings_file(path: Path) -> SettingsFile | None:
    """Read and parse a file, as JSON or TOML by its name. Returns None if it does not exist."""
    data = _read(path)
    return None if data is None else parse_settings(path, data)


def parse_settings(path: Path, data: bytes) -> SettingsFile:
    """Parse the content of `path`."""
    text = _decoded(path, data)
    try:
        values = _parse_json(path, text) if _is_json(path) else _parse_toml(path, text)
    except RecursionError as error:
        raise ConfigError(f"{display_path(path)}: tables are nested too deeply; use fewer levels") from error
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
        raise ConfigError(f"{display_path(path)}:{line}: not UTF-8 text; save the file as UTF-8") from error


def _parse_toml(path: Path, text: str) -> dict[str, object]:
    try:
        return tomllib.loads(text)
    except ValueError as error:  # also for a number that is too long to convert
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
    import json  # the first paint only reads TOML

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
    return json_lines(text) if is_json else toml_lines(text)
