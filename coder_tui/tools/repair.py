"""Reads the JSON a model wrote as arguments; mends only what is certain."""

import json
import re
from typing import Any

from coder_tui.protocol.errors import ErrorType, ToolError

MAX_ARGUMENTS = 12_000_000
_FENCE = re.compile(r"\A```[a-z]*\n(.*)\n```\Z", re.DOTALL)
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")


def parse_arguments(text: str) -> dict[str, Any]:
    """The call's arguments as an object; `ToolError` where the text could mean several things or nothing."""
    stripped = text.strip()
    if not stripped:
        return {}
    if len(stripped) > MAX_ARGUMENTS:
        raise ToolError(ErrorType.TOO_LARGE, f"invalid args: more than {MAX_ARGUMENTS:,} characters")
    value = _load(stripped)
    # Some models wrap the object once more in a string.
    if isinstance(value, str):
        value = _load(value)
    if not isinstance(value, dict):
        raise _not_json(f"expected an object, got {type(value).__name__}")
    return value


def _load(text: str) -> Any:
    problem = ""
    for candidate in _candidates(text):
        try:
            # strict=False accepts a raw newline inside a string: its meaning is not in doubt.
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
    """Drop commas before a closing bracket, outside of strings only."""
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
