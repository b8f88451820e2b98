"""Calls as the command line gives them: one by arguments, or a JSON line each on standard input."""

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from coder_tui.protocol.errors import UsageError

EXPECTED = 'expected one JSON object with "tool" and "args"'


@dataclass(frozen=True, slots=True)
class GivenCall:
    """`arguments` is JSON text; `problem` is set when a line could not be read."""

    tool: str
    arguments: str
    problem: str = ""


def given_calls(name: str | None, arguments: str | None, *, from_stdin: bool) -> Iterator[GivenCall]:
    if not from_stdin:
        if not name:
            raise UsageError("which tool? Give NAME and JSON, or --stdin")
        yield GivenCall(name, arguments or "{}")
        return
    if name:
        raise UsageError("--stdin takes its calls from standard input, not from NAME")
    for line in sys.stdin.buffer:
        if line.strip():
            yield _read(line.decode("utf-8", errors="surrogateescape"))


def _read(line: str) -> GivenCall:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        return GivenCall("", "", f"{EXPECTED}: {error}")
    if not isinstance(value, dict) or not isinstance(value.get("tool"), str):
        return GivenCall("", "", EXPECTED)
    return GivenCall(value["tool"], json.dumps(value.get("args", {})))
