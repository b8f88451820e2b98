"""`git_cmd` of other programs takes a whole git command: the matching tool runs it, or the shell."""

import json
import shlex
from collections.abc import Mapping
from typing import Any

from coder_tui.tools.repair import parse_arguments

GIT_COMMAND = "git_cmd"
_KEYS = ("command", "cmd", "args", "arguments", "subcommand", "git_command")
_SHORT = frozenset({"-s", "--short", "-b", "--branch", "-sb"})
_STAGED = frozenset({"--staged", "--cached"})
_EVERYTHING = frozenset({"-A", "--all", "."})


def canonical_call(name: str, arguments: str) -> tuple[str, str]:
    """The call as our tools know it; every other call comes back as it is. Raises `ToolError`."""
    if name.strip().lower() != GIT_COMMAND:
        return name, arguments
    words = _words(parse_arguments(arguments))
    if not words:
        return "bash", "{}"
    tool, fields = _matching(words) or ("bash", {"command": shlex.join(["git", *words])})
    return tool, json.dumps(fields)


def _words(given: Mapping[str, Any]) -> list[str]:
    words: list[str] = []
    for key in ("subcommand", *(key for key in _KEYS if key != "subcommand")):
        value = given.get(key)
        if isinstance(value, list):
            words += map(str, value)
        elif isinstance(value, str):
            words += _split(value)
    return words[1:] if words[:1] == ["git"] else words


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:  # a quote that is not closed: the shell will say so
        return text.split()


def _matching(words: list[str]) -> tuple[str, dict[str, object]] | None:
    """Only where the tool does exactly the same: a flag more, and it is a command for the shell."""
    match words:
        case ["status", *flags] if _SHORT.issuperset(flags):
            return "git_status", {"short": bool(flags)}
        case ["diff", *flags] if _STAGED.issuperset(flags):
            return "git_diff", {"staged": bool(flags)}
        case ["diff", *flags, "--", path] if _STAGED.issuperset(flags):
            return "git_diff", {"staged": bool(flags), "path": path}
        case ["log", *flags]:
            return _log(flags)
        case ["add", path] | ["add", "--", path] if path in _EVERYTHING or not path.startswith("-"):
            return "git_add", {"path": "." if path in _EVERYTHING else path}
        case ["commit", "-m" | "--message", message]:
            return "git_commit", {"message": message}
        case _:
            return None


def _log(flags: list[str]) -> tuple[str, dict[str, object]] | None:
    fields: dict[str, object] = {}
    rest = list(flags)
    while rest:
        flag = rest.pop(0)
        if flag == "-n" and rest:
            flag = f"-{rest.pop(0)}"
        number = flag.removeprefix("--max-count=").removeprefix("-n").removeprefix("-")
        if flag == "--oneline":
            fields["oneline"] = True
        elif number.isdecimal():
            fields["limit"] = int(number)
        else:
            return None
    return "git_log", fields
