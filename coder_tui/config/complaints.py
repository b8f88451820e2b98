"""Says what is wrong with a setting so that a person can mend it: where, what, and the nearest valid key."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic_core import ErrorDetails
from rapidfuzz import fuzz, process

from coder_tui.config.settings_file import KeyPath
from coder_tui.config.sources import PREFIX, Sources, origin_of
from coder_tui.text.safe_text import safe_line

ValidKeys = Mapping[str, tuple[str, ...]]
"""Section name → its keys; `name[]` has those of each table in a list of the section, and so on inwards."""
_LIST = "[]"

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_LONGEST_VALUE = 60
_ALIKE = 60
_ALIKE_ELSEWHERE = 80

_NEEDS = {
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing_size": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "string_type": "text",
    "string_too_short": "text that is not empty",
    "tuple_type": "a list",
    "dict_type": "a table",
    "model_type": "a table",
}


def complain(errors: Sequence[ErrorDetails], sources: Sources, valid: ValidKeys) -> list[str]:
    """Turn validation errors into sentences, in the order of the file's lines."""
    found = [_complaint(error, sources, valid) for error in errors]
    return [f"{origin}: {text}" for origin, text in sorted(found, key=lambda pair: _line(pair[0]))]


def unknown_key(path: KeyPath, valid: ValidKeys) -> str:
    return f'unknown key "{dotted(path)}"; {_advice(path, valid)}'


def unreadable_variable(path: KeyPath) -> str:
    if len(path) > 1:
        return f'{dotted(path)} must be JSON here, such as ["a", "b"]'
    variable = f"{PREFIX}{dotted(path).upper()}__KEY"
    return f"{dotted(path)} must be a JSON object here; {variable} sets one key of it"


def dotted(path: KeyPath) -> str:
    """Write a key path as TOML would."""
    parts = (str(part) for part in path)
    return safe_line(
        ".".join(p if _BARE_KEY.fullmatch(p) else json.dumps(p, ensure_ascii=False) for p in parts)
    )


def _complaint(error: ErrorDetails, sources: Sources, valid: ValidKeys) -> tuple[str, str]:
    path = _without_tag(error["loc"])
    if error["type"] == "extra_forbidden":
        text = unknown_key(path, valid)
    elif error["type"] == "missing":
        return origin_of(sources, path[:-1]), f"{dotted(path)} is missing"
    else:
        text = f"{dotted(path)} must be {_need(error)}, got {_shown(error['input'])}"
    return origin_of(sources, path), text


def _without_tag(path: KeyPath) -> KeyPath:
    """Drop what the permission table's union adds to the place of an error."""
    return (*path[:2], *path[3:]) if path[0] == "permission" else path


def _need(error: ErrorDetails) -> str:
    context = error.get("ctx", {})
    match error["type"]:
        case "literal_error":
            return "one of " + str(context["expected"]).replace(" or ", ", ").replace("'", '"')
        case "greater_than":
            return f"more than {_number(context['gt'])}"
        case "greater_than_equal":
            return f"at least {_number(context['ge'])}"
        case "less_than_equal":
            return f"at most {_number(context['le'])}"
        case kind:
            return _NEEDS.get(kind, f"valid ({error['msg']})")


def _number(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return safe_line(text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…")


def _advice(path: KeyPath, valid: ValidKeys) -> str:
    sections = tuple(name for name in valid if not name.endswith(_LIST))
    depth = sum(isinstance(part, int) for part in path)
    siblings = sections if len(path) == 1 else valid.get(f"{path[0]}{_LIST * depth}", ())
    name = str(path[-1])
    if near := process.extractOne(
        name, siblings, scorer=fuzz.ratio, processor=str.lower, score_cutoff=_ALIKE
    ):
        return f'did you mean "{dotted((*path[:-1], near[0]))}"?'
    elsewhere = {f"{section}.{key}": key for section in sections for key in valid[section]}
    if found := process.extractOne(name, elsewhere, scorer=fuzz.ratio, score_cutoff=_ALIKE_ELSEWHERE):
        return f'did you mean "{found[2]}"?'
    return f"valid here: {', '.join(siblings or sections)}"


def _line(origin: str) -> int:
    line = origin.rpartition(":")[2]
    return int(line) if line.isdecimal() else 0
