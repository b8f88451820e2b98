"""Turn a call's JSON, as a model wrote it, into checked parameters.

Broken JSON is repaired only if its meaning is certain. `git_cmd` of other programs takes a whole git command;
the matching tool runs it, or the shell.
"""

import json
import re
import shlex
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.aliases import canonical_arguments
from coder_tui.tools.base import Params, Tool

MAX_ARGUMENTS = 12_000_000
_FENCE = re.compile(r"\A```[a-z]*\n(.*)\n```\Z", re.DOTALL)
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")


def parse_arguments(text: str) -> dict[str, Any]:
    """Return the call's arguments as an object; raise `ToolError` if the text is ambiguous or not JSON."""
    stripped = text.strip()
    if not stripped:
        return {}
    if len(stripped) > MAX_ARGUMENTS:
        raise ToolError(ErrorType.TOO_LARGE, f"invalid args: more than {MAX_ARGUMENTS:,} characters")
    value = _load(stripped)
    # Some models wrap the object in another string.
    if isinstance(value, str):
        value = _load(value)
    if not isinstance(value, dict):
        raise _not_json(f"expected an object, got {type(value).__name__}")
    return value


def _load(text: str) -> Any:
    problem = ""
    for candidate in _candidates(text):
        try:
            # strict=False accepts a raw newline in a string, because its meaning is clear.
            return json.loads(candidate, strict=False)
        except json.JSONDecodeError as error:
            problem = problem or f"{error.msg} at character {error.pos}"
        except ValueError:
            problem = "a number has too many digits"
        except RecursionError:
            problem = "nested too deeply"
    raise _not_json(problem)


def _candidates(text: str) -> list[str]:
    fenced = _FENCE.match(text)
    bare = fenced[1] if fenced else text
    return [bare, _without_trailing_commas(bare)]


def _without_trailing_commas(text: str) -> str:
    """Drop commas before a closing bracket, except in strings."""
    parts = re.split(r'("(?:[^"\\]|\\.)*")', text, flags=re.DOTALL)
    return "".join(
        part if index % 2 else _TRAILING_COMMA.sub(r"\1", part) for index, part in enumerate(parts)
    )


def _not_json(problem: str) -> ToolError:
    return ToolError(
        ErrorType.INVALID_TOOL_PARAMS,
        f"invalid args: not valid JSON ({problem})",
        "Send the call again with one complete JSON object as arguments.",
    )


_OWN_WORDS = "Value error, "
"""What pydantic puts before our own error messages."""


def parse_call(tool: Tool[Any], arguments: str) -> tuple[Tool[Any], Params]:
    """Parse the JSON text as this tool's parameters; the `ToolError` has a line for each wrong field."""
    fields = frozenset(tool.params.model_fields)
    try:
        given = canonical_arguments(parse_arguments(arguments), fields, tool.name)
        params: Params = tool.params.model_validate(given)
    except ValidationError as error:
        raise _invalid(tool, error) from error
    return tool, params


def with_edited_text(tool: Tool[Any], params: Params, text: str) -> Params:
    """Return the call with the text that the user edited, checked like a model's."""
    given = {**params.model_dump(exclude_unset=True), tool.editable: text}
    try:
        checked: Params = tool.params.model_validate(given)
    except ValidationError as error:
        raise _invalid(tool, error) from error
    return checked


def _invalid(tool: Tool[Any], error: ValidationError) -> ToolError:
    lines = [
        _complaint(problem["loc"], problem["msg"].removeprefix(_OWN_WORDS))
        for problem in error.errors(include_url=False, include_context=False, include_input=False)
    ]
    return ToolError(
        ErrorType.INVALID_TOOL_PARAMS,
        "invalid args: " + "\n".join(lines),
        f"{tool.name} takes: {_fields(tool) or 'nothing'}.",
    )


def _complaint(place: tuple[int | str, ...], message: str) -> str:
    """Prefix a problem with its field; a problem with the whole call names its fields itself."""
    return f"{'.'.join(map(str, place))}: {message}" if place else message


def _fields(tool: Tool[Any]) -> str:
    """List the fields as the model sees them; a foreign tool has a schema but no fields of ours."""
    schema = tool.params.model_json_schema()
    required = schema.get("required", [])
    return ", ".join(name if name in required else f"{name}?" for name in schema.get("properties", {}))


GIT_COMMAND = "git_cmd"
_KEYS = ("command", "cmd", "args", "arguments", "subcommand", "git_command")
_SHORT = frozenset({"-s", "--short", "-b", "--branch", "-sb"})
_STAGED = frozenset({"--staged", "--cached"})
_EVERYTHING = frozenset({"-A", "--all", "."})


def canonical_call(name: str, arguments: str) -> tuple[str, str]:
    """Translate a `git_cmd` call; return every other call as it is. Raises `ToolError`."""
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
    except ValueError:  # an unclosed quote: the shell will report it
        return text.split()


def _matching(words: list[str]) -> tuple[str, dict[str, object]] | None:
    """Return a tool only if it does exactly the same; any other flag is for the shell."""
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
