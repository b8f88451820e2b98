"""Arguments of other programs whose meaning, not only their name, differs from ours; only what is certain."""

import re
import shlex
from collections.abc import Mapping
from typing import Any

FIRST = ("start", "start_line", "startLine", "line_start", "from_line")
_LAST = ("end", "end_line", "endLine", "line_end", "to_line")
_NAME_PARTS = ("keyword", "query", "name", "includes")
_MAGIC = frozenset("*?[{/")
_SHELLS = frozenset({"sh", "bash", "/bin/sh", "/bin/bash", "/usr/bin/bash"})
_MOST_SECONDS = 600
_ADDRESS = re.compile(r"https?://[^\s<>\"'`)\]]+")
_OTHER_TODO = frozenset({"description", "activeForm"})

Arguments = Mapping[str, Any]


def reshaped(arguments: Arguments, tool: str) -> Arguments:
    match tool:
        case "read":
            return _range_as_page(arguments)
        case "glob":
            return _part_as_pattern(arguments)
        case "read_many" if isinstance(arguments.get("paths"), str):
            return {**arguments, "paths": [arguments["paths"]]}
        case "edit":
            return _without_talk(arguments)
        case "bash":
            return _in_milliseconds(_words_as_command(arguments))
        case "fetch" if "url" not in arguments:
            return _address_of(arguments)
        case "todowrite" if isinstance(arguments.get("todos"), list):
            todos = [_todo(todo, number) for number, todo in enumerate(arguments["todos"], start=1)]
            return {**arguments, "todos": todos}
        case _:
            return arguments


def _without(arguments: Arguments, *keys: str) -> dict[str, Any]:
    return {key: value for key, value in arguments.items() if key not in keys}


def _range_as_page(arguments: Arguments) -> Arguments:
    """`start_line` to `end_line` is so many lines from there."""
    first = next((arguments[key] for key in (*FIRST, "offset") if key in arguments), 1)
    ends = [key for key in _LAST if key in arguments]
    if "limit" in arguments or len(ends) != 1:
        return arguments
    last = arguments[ends[0]]
    if not isinstance(first, int) or not isinstance(last, int) or not 0 < first <= last:
        return arguments
    return {**_without(arguments, ends[0]), "limit": last - first + 1}


def _part_as_pattern(arguments: Arguments) -> Arguments:
    """A part of a name is a pattern with anything around it."""
    key = next((key for key in _NAME_PARTS if isinstance(arguments.get(key), str)), None)
    if key is None or "pattern" in arguments:
        return arguments
    part = arguments[key]
    pattern = part if not _MAGIC.isdisjoint(part) else f"*{part}*"
    return {**_without(arguments, key), "pattern": pattern}


def _without_talk(arguments: Arguments) -> Arguments:
    """What an edit is for changes nothing of it, and one place is what is meant anyhow."""
    kept = _without(arguments, "instruction")
    return _without(kept, "expected_replacements") if kept.get("expected_replacements") == 1 else kept


def _words_as_command(arguments: Arguments) -> Arguments:
    """A command as a list of words, often a shell with the text for it."""
    match arguments.get("command"):
        case [str(shell), "-c" | "-lc", str(text)] if shell in _SHELLS:
            return {**arguments, "command": text}
        case [str(), *_] as words if all(isinstance(word, str) for word in words):
            return {**arguments, "command": shlex.join(words)}
        case _:
            return arguments


def _in_milliseconds(arguments: Arguments) -> Arguments:
    """Some count seconds; nobody means less than a second, and no more than these seconds are given."""
    given = arguments.get("timeout")
    if isinstance(given, bool) or not isinstance(given, int) or given <= 0 or "timeout_ms" in arguments:
        return arguments
    return {**_without(arguments, "timeout"), "timeout_ms": given * 1000 if given <= _MOST_SECONDS else given}


def _address_of(arguments: Arguments) -> Arguments:
    """A request in words that names one address."""
    prompt = arguments.get("prompt")
    found = set(_ADDRESS.findall(prompt)) if isinstance(prompt, str) else set()
    return (
        {**_without(arguments, "prompt"), "url": found.pop().rstrip(".,;:!?")}
        if len(found) == 1
        else arguments
    )


def _todo(todo: object, number: int) -> object:
    """Of programs whose lists have neither numbers nor priorities."""
    if not isinstance(todo, dict) or _OTHER_TODO.isdisjoint(todo):
        return todo
    content = {"content": todo["description"]} if "description" in todo and "content" not in todo else {}
    return {"id": str(number), "priority": "medium", **_without(todo, *_OTHER_TODO), **content}
