"""Finds the line of each key in a JSON text, which the standard parser does not tell."""

import json
import re

from coder_tui.config.settings_file import KeyPath

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+|\n')


def json_lines(text: str) -> dict[KeyPath, int]:
    """Map each key path (list places are numbers) to its line; `text` must have parsed."""
    lines: dict[KeyPath, int] = {}
    # One entry for each open bracket: the key or the place that its next value has.
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
